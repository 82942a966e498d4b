"""A typed client of the service's HTTP API."""
