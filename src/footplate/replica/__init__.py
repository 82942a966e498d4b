"""The supervisor of a replica. Uses only the standard library, Python 3.8 and later."""
