"""Copies of buckets in a folder of a node that doesn't share the server's."""

UNSAVED = "unsaved"
"""The file beside the copies that says that some of their files aren't in the bucket."""
