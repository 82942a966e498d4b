"""Local runs, in a service that lives as long as the command."""
