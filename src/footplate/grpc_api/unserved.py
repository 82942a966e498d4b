"""Says why a method isn't served, and what to use instead."""

from __future__ import annotations

from footplate.api.vertex_v1.unsupported_resources import REFUSED
from footplate.domain.formatting import quoted
from footplate.domain.google_products import explain_package

_SERVED = (
    "jobs, training pipelines, persistent resources, models, Vizier's studies, metadata, "
    "TensorBoards, logs, operations and locations"
)
_BY_SERVICE = {
    "ConfigServiceV2": (
        "Footplate keeps only the logs of jobs: it has no log sinks, log buckets or exclusions"
    ),
    "DatasetService": "Footplate has no managed datasets: put the files into a bucket",
    "EndpointService": "Footplate trains models and doesn't serve them: it has no endpoints",
    "MetadataService": (
        "Footplate's metadata has resources, links and lineage, but neither schemas nor purges"
    ),
    "LoggingServiceV2": "Footplate deletes a log only with its job: delete the job",
    "MetricsServiceV2": "Footplate keeps the logs of jobs, but has no log-based metrics",
    "PredictionService": "Footplate trains models and doesn't serve them: it has no predictions",
    "TensorboardService": (
        "Footplate's TensorBoards have scalars and tensors, but no blobs, sizes or usage"
    ),
}


def why_unserved(name: str) -> str:
    """Returns why a method isn't served. ``name`` is gRPC's: ``/PACKAGE.SERVICE/METHOD``."""
    service, _, method = name.strip("/").partition("/")
    resources = {collection.removesuffix("s"): text for collection, text in REFUSED.items()}
    known = [text for resource, text in resources.items() if resource.lower() in method.lower()]
    known += filter(None, [_BY_SERVICE.get(service.rpartition(".")[2])])
    other = explain_package(service.rpartition(".")[0])
    if other:
        return other
    if known:
        return f"{known[0]} ({quoted(name)})"
    return f"Footplate doesn't serve {quoted(name)} over gRPC; it serves {_SERVED}"
