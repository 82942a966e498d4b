"""The built-in data: runtimes and their locked requirements."""
