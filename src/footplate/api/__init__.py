"""The HTTP APIs that clients use."""
