"""The reducer process: a listener, handshakes, groups, and one thread for each lane."""

from footplate_reduction.reducer.process import Reducer

__all__ = ["Reducer"]
