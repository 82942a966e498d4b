"""All-reduce through reduction servers. Its speed does not fall with the number of workers."""

from footplate_reduction.client import Client, connect
from footplate_reduction.errors import ReductionError
from footplate_reduction.frames import Op, WireType
from footplate_reduction.limits import Limits

__version__ = "0.1.0.dev0"

__all__ = ["Client", "Limits", "Op", "ReductionError", "WireType", "__version__", "connect"]
