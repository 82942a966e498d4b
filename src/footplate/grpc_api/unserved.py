"""Says why a method isn't served, and what to use instead."""

from __future__ import annotations

from footplate.domain.formatting import quoted

_SERVED = "jobs, training pipelines, models, Vizier's studies, operations and locations"
_BY_SERVICE = {
    "DatasetService": "Footplate has no managed datasets: put the files into a bucket",
    "EndpointService": "Footplate trains, and has no endpoints: it doesn't serve models",
    "MetadataService": "Footplate has no ML metadata over gRPC",
    "PredictionService": "Footplate trains, and has no predictions: it doesn't serve models",
    "TensorboardService": "Footplate has no managed TensorBoard over gRPC",
}


def why_unserved(name: str) -> str:
    """``name`` is what gRPC calls the method: ``/PACKAGE.SERVICE/METHOD``."""
    service = name.strip("/").partition("/")[0].rpartition(".")[2]
    known = _BY_SERVICE.get(service)
    if known is not None:
        return f"{known} ({quoted(name)})"
    return f"Footplate doesn't serve {quoted(name)} over gRPC; it serves {_SERVED}"
