"""ML metadata and TensorBoards as clients use them."""

from footplate.control.tracking.lineage import Lineage, Subgraph
from footplate.control.tracking.log_uploads import LogUploads
from footplate.control.tracking.resources import Resources
from footplate.control.tracking.time_series import TimeSeries

__all__ = ["Lineage", "LogUploads", "Resources", "Subgraph", "TimeSeries"]
