"""The proxy: programs ask it for Google's hosts by their names, and reach this service."""
