"""The engine that needs no compiler: NumPy adds, Python moves. Also the oracle of the other."""

from footplate_reduction.portable.engine import ENGINE

__all__ = ["ENGINE"]
