"""JSON documents of study configurations."""

from __future__ import annotations

from dataclasses import asdict
from typing import TYPE_CHECKING

from footplate.domain.studies.limits import StudyLimits
from footplate.domain.studies.metrics import Goal, Metric, Selection
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    StoppingSpec,
)
from footplate.domain.studies.study import Algorithm, Noise, StudyConfig
from footplate.store.studies.spaces import space_document, space_of
from footplate.store.timestamps import from_micros_or_none, to_micros_or_none

if TYPE_CHECKING:
    from footplate.store.json_column import Json

_STOPPING: dict[str, type[StoppingSpec]] = {
    "halving": HalvingSpec,
    "median": MedianSpec,
    "decay curve": DecayCurveSpec,
    "convex": ConvexSpec,
}
_KINDS = {kind: name for name, kind in _STOPPING.items()}


def config_document(config: StudyConfig) -> Json:
    return {
        "space": space_document(config.space),
        "metrics": [[metric.name, metric.goal.value] for metric in config.metrics],
        "algorithm": config.algorithm.value,
        "noise": config.noise.value,
        "selection": config.selection.value,
        "stopping": _stopping_document(config.stopping),
        "limits": _limits_document(config.limits),
    }


def config_of(document: Json) -> StudyConfig:
    """Raises ValueError, KeyError or TypeError for what is no document of a configuration."""
    return StudyConfig(
        space=space_of(document["space"]),
        metrics=tuple(Metric(name, Goal(goal)) for name, goal in document["metrics"]),
        algorithm=Algorithm(document["algorithm"]),
        noise=Noise(document["noise"]),
        selection=Selection(document["selection"]),
        stopping=_stopping(document["stopping"]),
        limits=_limits(document["limits"]),
    )


def _stopping_document(spec: StoppingSpec | None) -> Json | None:
    """By the names of its fields, all of them plain; one that is added later has a default."""
    return None if spec is None else {"kind": _KINDS[type(spec)], **vars(spec)}


def _stopping(document: Json | None) -> StoppingSpec | None:
    if document is None:
        return None
    fields = dict(document)
    return _STOPPING[fields.pop("kind")](**fields)


def _limits_document(limits: StudyLimits | None) -> Json | None:
    """As of a stopping spec; times are those of ``times``."""
    if limits is None:
        return None
    ends = (to_micros_or_none(limits.min_end), to_micros_or_none(limits.max_end))
    return {**asdict(limits), "min_end": ends[0], "max_end": ends[1]}


def _limits(document: Json | None) -> StudyLimits | None:
    if document is None:
        return None
    ends = {name: from_micros_or_none(document[name]) for name in ("min_end", "max_end")}
    return StudyLimits(**{**document, **ends})
