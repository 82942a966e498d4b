"""What a job can fail with by a fault of its data."""


class DataError(Exception):
    """A file can't be used; the message names the file, and where known its row and column."""
