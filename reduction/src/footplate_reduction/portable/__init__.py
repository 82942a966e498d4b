"""The engine that needs no compiler: NumPy adds. The reference for testing the native engine."""

from footplate_reduction.portable.engine import ENGINE

__all__ = ["ENGINE"]
