"""The errors of a job's data."""


class DataError(Exception):
    """A file can't be used; the message names the file, and where known its row and column."""
