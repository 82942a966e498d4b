"""A run here and now, in a service that lives as long as the command."""
