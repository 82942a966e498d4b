"""All-reduce through reducers: its speed does not fall with the number of workers."""

__version__ = "0.1.0.dev0"
