"""The process that adds: a door for workers and strangers, groups, and a thread for each lane."""

from footplate_reduction.reducer.process import Reducer

__all__ = ["Reducer"]
