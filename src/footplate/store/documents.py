"""JSON documents in columns: the domain's frozen dataclasses, as they are.

A document has the fields of its dataclass by name, and its version under ``v``. Empty fields are
left out where empty is their default. Times are microseconds since 1970. Of dataclasses that stand
in one place ``kind`` says which it is. A field that is added later needs a default.

Documents are pure ASCII: so they hold what PostgreSQL refuses in a text (NUL) and what UTF-8 can't
say (half a surrogate pair), both of which programs do print. Numbers that are not finite are
written as Python's JSON module does.

The reader is a small one of its own: pydantic, which reads what clients send, would make floats of
integers where a field is a float (``16`` becomes ``16.0`` in a trial's arguments), replace texts
that UTF-8 can't say, and take 0.1 s to prepare, which the first job would wait for.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields, is_dataclass
from datetime import datetime
from enum import Enum
from functools import cache
from types import NoneType, UnionType
from typing import Any, TypeVar, Union, get_args, get_origin, get_type_hints

from footplate.domain.jobs import ContainerProgram, MachineSpec, PythonProgram, Replica
from footplate.domain.model_registry import Export, ModelVersion
from footplate.domain.persistent_resources import ResourcePool, ResourceState
from footplate.domain.pipelines import Pipeline
from footplate.domain.studies.metrics import Measurement, Metric
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
)
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    StoppingSpec,
)
from footplate.domain.studies.study import Study, StudyConfig, StudyLimits
from footplate.domain.studies.trials import Trial
from footplate.domain.timestamps import from_micros, to_micros
from footplate.domain.tracking.log_uploads import FilePosition
from footplate.domain.tuning.search import Search

VERSION = 2

T = TypeVar("T")
_SCALARS = (str, int, float, bool)
_UNIONS = (Union, UnionType)
_Decoder = Callable[[Any], Any]
"""Any, because what JSON holds is checked by them."""
Pairs = tuple[tuple[str, str], ...]


@dataclass(frozen=True)
class Labels:
    """The fields of a job that users may change."""

    labels: Pairs
    note: str = ""


@dataclass(frozen=True)
class Replicas:
    """The replicas of a job; ``images`` are the container images that they run."""

    replicas: tuple[Replica, ...]
    images: Pairs = ()


@dataclass(frozen=True)
class EarlierStudies:
    studies: tuple[Study, ...]


@dataclass(frozen=True)
class StudyBody:
    """The fields of a study that have no column of their own."""

    seed: int
    made: int
    ended: int
    why_inactive: str


@dataclass(frozen=True)
class ModelBody:
    """The fields of a model that have no column of their own."""

    update_time: datetime
    next_number: int
    versions: tuple[ModelVersion, ...]
    exports: tuple[Export, ...]


@dataclass(frozen=True)
class ResourceBody:
    """The fields of a persistent resource that have no column of their own."""

    uid: str
    display_name: str
    request: str
    update_time: datetime
    pools: tuple[ResourcePool, ...]
    state: ResourceState
    labels: Pairs = ()
    start_time: datetime | None = None
    provisioned: tuple[ResourcePool, ...] = ()


@dataclass(frozen=True)
class UploadBody:
    """The fields of a log upload that have no column of their own."""

    experiment: str
    directory: str
    positions: Mapping[str, FilePosition]
    trial: str = ""


_KINDS: dict[type, str] = {
    PythonProgram: "python",
    ContainerProgram: "container",
    DoubleParameter: "double",
    IntegerParameter: "integer",
    DiscreteParameter: "discrete",
    CategoricalParameter: "categorical",
    HalvingSpec: "halving",
    MedianSpec: "median",
    DecayCurveSpec: "decay curve",
    ConvexSpec: "convex",
}
"""The names of dataclasses that stand in one place with others."""

_NAMES = {
    "Export": Export,
    "FilePosition": FilePosition,
    "ModelVersion": ModelVersion,
    "datetime": datetime,
    "MachineSpec": MachineSpec,
    "Mapping": Mapping,
    "Measurement": Measurement,
    "Metric": Metric,
    "Parameter": Parameter,
    "Pipeline": Pipeline,
    "Point": Point,
    "ResourcePool": ResourcePool,
    "ResourceState": ResourceState,
    "Search": Search,
    "SearchSpace": SearchSpace,
    "StoppingSpec": StoppingSpec,
    "StudyConfig": StudyConfig,
    "StudyLimits": StudyLimits,
    "Trial": Trial,
}
"""What annotations name that modules import for type checkers only."""


def write(value: object) -> str:
    """Encodes a dataclass as a document."""
    return _encode({"v": VERSION, **_fields(value)})


def read(kind: type[T], text: str) -> T:
    """Decodes a document that ``write`` made into a value of the dataclass ``kind``.

    Raises ValueError, TypeError, KeyError or OverflowError: the text isn't such a document, or is
    of an unknown version.
    """
    shape: Any = kind
    decode: Callable[[object], T] = _decoder(shape)
    return decode(load(text))


def write_object(document: Mapping[str, object]) -> str:
    """Encodes an object of JSON values as a document."""
    return _encode({"v": VERSION, **document})


def load(text: str) -> dict[str, Any]:
    """Returns the content of a document. Raises ValueError, as ``read`` does."""
    document = json.loads(text)
    if not isinstance(document, dict) or document.get("v") != VERSION:
        raise ValueError(f"not a document of version {VERSION}: {text[:80]}")
    return document


def _fields(value: object) -> dict[str, object]:
    kind: Any = type(value)
    document: dict[str, object] = {"kind": _KINDS[kind]} if kind in _KINDS else {}
    for name, left_out in _written_fields(kind):
        found = getattr(value, name)
        if found or type(found) is not left_out:
            document[name] = found
    return document


@cache
def _written_fields(kind: type) -> tuple[tuple[str, type], ...]:
    """Returns the names of the fields, each with the type whose empty value is left out.

    For a float no value is left out, as there are two zeros.
    """
    found = [(each.name, each.default) for each in fields(kind)]
    return tuple(
        (name, object if default or isinstance(default, float) else type(default))
        for name, default in found
    )


def _plain(value: object) -> object:
    """Converts a value of a type that JSON lacks."""
    if isinstance(value, datetime):
        return to_micros(value)
    if isinstance(value, Enum):
        return value.value
    if isinstance(value, frozenset):
        return sorted(str(_plain(each)) for each in value)
    if isinstance(value, Mapping):
        return dict(value)
    return _fields(value)


_encode = json.JSONEncoder(separators=(",", ":"), default=_plain).encode
"""Made once: that takes as long as to encode a small document."""


@cache
def _decoder(kind: Any) -> _Decoder:
    """Returns a function that converts JSON to a value of this type."""
    origin, parts = get_origin(kind), get_args(kind)
    if isinstance(kind, type) and is_dataclass(kind):
        return _DataclassDecoder(kind)
    if origin in _UNIONS:
        return _union(parts)
    if origin is tuple:
        return _tuple(parts)
    if origin is frozenset:
        part = _decoder(parts[0])
        return lambda found: frozenset(map(part, _checked(found, list)))
    if origin is Mapping:
        part = _decoder(parts[1])
        return lambda found: {k: part(v) for k, v in _checked(found, dict).items()}
    if kind is datetime:
        return from_micros
    if issubclass(kind, Enum):
        return lambda found: kind(found)
    allowed = (float, int) if kind is float else (kind,)
    return lambda found: _checked(found, *allowed)


class _DataclassDecoder:
    """Decodes a dataclass; inspects its fields at first use, as they may be of the same class."""

    def __init__(self, kind: type[Any]) -> None:
        self._kind = kind
        self._fields: tuple[tuple[str, type, _Decoder], ...] = ()

    def __call__(self, found: object) -> object:
        document = _checked(found, dict)
        given = {}
        for name, scalar, decode in self._fields or self._prepare():
            if name in document:
                value = document[name]
                given[name] = value if type(value) is scalar else decode(value)
        return self._kind(**given)

    def _prepare(self) -> tuple[tuple[str, type, _Decoder], ...]:
        """Inspects the fields: name, type if it needs no decoding, and decoder of each."""
        hints = get_type_hints(self._kind, localns=_NAMES)
        kinds = [(each.name, hints[each.name]) for each in fields(self._kind)]
        self._fields = tuple((name, _scalar(kind), _decoder(kind)) for name, kind in kinds)
        return self._fields


def _scalar(kind: Any) -> type:
    parts = get_args(kind) if get_origin(kind) in _UNIONS else (kind,)
    return next((part for part in parts if part in _SCALARS), object)


def _tuple(parts: tuple[Any, ...]) -> _Decoder:
    if parts[-1] is Ellipsis:
        part = _decoder(parts[0])
        return lambda found: tuple(map(part, _checked(found, list)))
    decoders = tuple(map(_decoder, parts))

    def decode(found: Any) -> object:
        pairs = zip(decoders, _checked(found, list), strict=True)
        return tuple(decoder(each) for decoder, each in pairs)

    return decode


def _union(parts: tuple[Any, ...]) -> _Decoder:
    """Returns a decoder for a union of scalars, or of None with one type or dataclasses."""
    kinds = [part for part in parts if part is not NoneType]
    if all(kind in _SCALARS for kind in kinds):
        allowed = (*parts, int) if float in parts else parts
        return lambda found: _checked(found, *allowed)
    decoders = {_KINDS.get(kind): _decoder(kind) for kind in kinds}
    single = decoders.popitem()[1] if len(kinds) == 1 else None

    def decode(found: Any) -> object:
        if found is None and NoneType in parts:
            return None
        return single(found) if single is not None else decoders[found["kind"]](found)

    return decode


def _checked(found: Any, *kinds: type) -> Any:
    if type(found) not in kinds:
        raise ValueError(f"{found!a:.80} is no {' or '.join(kind.__name__ for kind in kinds)}")
    return found
