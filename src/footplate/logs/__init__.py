"""Storage of log lines and usage: append, read, follow."""
