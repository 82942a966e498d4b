"""JSON documents of search spaces."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace

if TYPE_CHECKING:
    from footplate.domain.studies.parameters import CountableParameter, Parameter
    from footplate.store.json_column import Json


def space_document(space: SearchSpace) -> list[Json]:
    return [_parameter_document(parameter) for parameter in space.parameters]


def space_of(document: list[Json]) -> SearchSpace:
    """Raises ValueError, KeyError or TypeError for what is no document of a space."""
    return SearchSpace(tuple(_parameter(parameter) for parameter in document))


def _parameter_document(parameter: Parameter) -> Json:
    """``default`` and ``branches`` only where there are any."""
    document = {"name": parameter.name, **_values_document(parameter)}
    if parameter.default is not None:
        document["default"] = parameter.default
    if parameter.branches:
        document["branches"] = [
            [b.values, _parameter_document(b.parameter)] for b in parameter.branches
        ]
    return document


def _values_document(parameter: Parameter) -> Json:
    match parameter:
        case DoubleParameter():
            return {"kind": "double", **_range_document(parameter)}
        case IntegerParameter():
            return {"kind": "integer", **_range_document(parameter)}
        case DiscreteParameter():
            scale = parameter.scale.value
            return {"kind": "discrete", "values": parameter.values, "scale": scale}
        case CategoricalParameter():
            return {"kind": "categorical", "values": parameter.values}
        case _:
            assert_never(parameter)


def _range_document(parameter: DoubleParameter | IntegerParameter) -> Json:
    return {"range": [parameter.low, parameter.high], "scale": parameter.scale.value}


def _parameter(document: Json) -> Parameter:
    if document["kind"] != "double":
        return _countable(document)
    low, high = document["range"]
    scale = Scale(document["scale"])
    return DoubleParameter(document["name"], low, high, scale, document.get("default"))


def _countable(document: Json) -> CountableParameter:
    name, default = document["name"], document.get("default")
    branches = tuple(
        Branch(tuple(values), _parameter(below)) for values, below in document.get("branches", ())
    )
    match document["kind"]:
        case "integer":
            low, high = document["range"]
            return IntegerParameter(name, low, high, Scale(document["scale"]), default, branches)
        case "discrete":
            values, scale = tuple(document["values"]), Scale(document["scale"])
            return DiscreteParameter(name, values, scale, default, branches)
        case "categorical":
            return CategoricalParameter(name, tuple(document["values"]), default, branches)
        case kind:
            raise ValueError(f"a parameter of kind {kind!a}")
