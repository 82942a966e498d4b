"""Formats messages as the schemas of discovery documents."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from types import MappingProxyType
from typing import Annotated, Any, get_args, get_origin

from pydantic.alias_generators import to_camel

from footplate.api.discovery_v1.rest_methods import MethodTypes
from footplate.wire import scalars
from footplate.wire.json_model import JsonModel
from footplate.wire.json_text import JsonObject
from footplate.wire.proto_enum import ProtoEnum

_ANY: JsonObject = {"type": "any"}
_ANY_OBJECT: JsonObject = {"type": "object", "additionalProperties": _ANY}
_TEXT: JsonObject = {"type": "string"}
_WHOLE: JsonObject = {"type": "integer", "format": "int32"}
_LONG: JsonObject = {"type": "string", "format": "int64"}
_DOUBLE: JsonObject = {"type": "number", "format": "double"}
_FLAG: JsonObject = {"type": "boolean"}
_DURATION: JsonObject = {"type": "string", "format": "google-duration"}
_TIME: JsonObject = {"type": "string", "format": "google-datetime"}
_PROTO: Mapping[str, JsonObject] = MappingProxyType(
    {
        "bool": _FLAG,
        "bytes": {"type": "string", "format": "byte"},
        "double": _DOUBLE,
        "float": {"type": "number", "format": "float"},
        "int32": _WHOLE,
        "int64": _LONG,
        "string": _TEXT,
        "uint32": {"type": "integer", "format": "uint32"},
        "uint64": {"type": "string", "format": "uint64"},
        "google.protobuf.Any": _ANY_OBJECT,
        "google.protobuf.BoolValue": _FLAG,
        "google.protobuf.DoubleValue": _DOUBLE,
        "google.protobuf.Duration": _DURATION,
        "google.protobuf.Empty": {"type": "object"},
        "google.protobuf.FieldMask": {"type": "string", "format": "google-fieldmask"},
        "google.protobuf.FloatValue": {"type": "number", "format": "float"},
        "google.protobuf.Int32Value": _WHOLE,
        "google.protobuf.Int64Value": _LONG,
        "google.protobuf.ListValue": {"type": "array", "items": _ANY},
        "google.protobuf.StringValue": _TEXT,
        "google.protobuf.Struct": _ANY_OBJECT,
        "google.protobuf.Timestamp": _TIME,
        "google.protobuf.Value": _ANY,
    }
)
_MODELLED: tuple[tuple[object, JsonObject], ...] = (
    (scalars.Text, _TEXT),
    (scalars.Flag, _FLAG),
    (scalars.Int32, _WHOLE),
    (scalars.Int64, _LONG),
    (scalars.Double, _DOUBLE),
    (scalars.Duration, _DURATION),
    (scalars.Timestamp, _TIME),
)
_PARAMETER = re.compile(r"\{(?P<name>[^={}]+)=(?P<pattern>[^{}]+)\}")


@dataclass(frozen=True)
class ModelledMethod:
    """The models of a method's request and response; ``query`` has the types of its parameters."""

    response: type[JsonModel]
    request: type[JsonModel] | None = None
    query: Mapping[str, Any] = field(default_factory=dict)
    parameter: str = ""


def query_parameter(schema: JsonObject) -> JsonObject:
    """Returns the description of a query parameter whose values match ``schema``."""
    if schema.get("type") == "array":
        items = schema["items"]
        schema = {**(items if isinstance(items, dict) else _TEXT), "repeated": True}
    return {**schema, "location": "query"}


class ModelTypes:
    """The schemas of messages that this service has models of.

    ``methods`` has the models of each method, by its verb and the shape of its path. Names of
    schemas begin with ``prefix``.
    """

    def __init__(self, prefix: str, methods: Mapping[tuple[str, str], ModelledMethod]) -> None:
        self._prefix = prefix
        self._methods = methods
        self.schemas: dict[str, JsonObject] = {}

    def find(self, verb: str, shape: str) -> MethodTypes | None:
        method = self._methods.get((verb, shape))
        if method is None:
            return None
        query = {name: query_parameter(self._format(kind)) for name, kind in method.query.items()}
        request = None if method.request is None else self._format(method.request)
        return MethodTypes(self._format(method.response), request, query, method.parameter)

    def _format(self, annotation: Any) -> JsonObject:
        for kind, schema in _MODELLED:
            if annotation == kind:
                return schema
        origin, arguments = get_origin(annotation), get_args(annotation)
        if isinstance(annotation, type) and issubclass(annotation, JsonModel):
            return self._refer(annotation)
        if isinstance(annotation, type) and issubclass(annotation, ProtoEnum):
            return {"type": "string", "enum": list(annotation.__members__)}
        if origin is Annotated:
            return _TEXT
        if origin is list:
            return {"type": "array", "items": self._format(arguments[0])}
        if origin is dict:
            return {"type": "object", "additionalProperties": self._format(arguments[1])}
        inner = [each for each in arguments if each is not type(None)]
        return self._format(inner[0]) if len(inner) == 1 else _ANY

    def _refer(self, model: type[JsonModel]) -> JsonObject:
        name = f"{self._prefix}{model.__name__}"
        if name not in self.schemas:
            self.schemas[name] = {}  # a message may contain itself
            fields = model.model_fields.items()
            properties: JsonObject = {
                to_camel(each): self._format(info.annotation) for each, info in fields
            }
            self.schemas[name] = {"id": name, "type": "object", "properties": properties}
        return {"$ref": name}


class PublishedTypes:
    """The schemas of messages that Google publishes, read from ``schema``.

    ``packages`` are the API's packages, in the order in which methods are looked up.
    """

    def __init__(self, schema: Mapping[str, Any], packages: Iterable[str]) -> None:
        self._messages: Mapping[str, Mapping[str, str]] = schema["messages"]
        self._enums: Mapping[str, Mapping[str, int]] = schema["enums"]
        self._methods = [
            _Rule.read(rule)
            for package in packages
            for name, rule in schema["methods"].items()
            if name.startswith(f"/{package}.")
        ]
        self.schemas: dict[str, JsonObject] = {}

    def find(self, verb: str, shape: str) -> MethodTypes | None:
        rule = next((each for each in self._methods if each.fits(verb, shape)), None)
        if rule is None:
            return None
        fields = {**self._messages[rule.request]}
        fields.pop(rule.field, None)
        request: JsonObject | None = None
        if rule.body == "*":
            request, fields = self._refer(rule.request, fields), {}
        elif rule.body is not None:
            request = self._format(fields.pop(rule.body))
        query = {
            to_camel(name): query_parameter(schema)
            for name, schema in ((name, self._format(text)) for name, text in fields.items())
            if "$ref" not in schema
        }
        response = self._kind(rule.answer)
        return MethodTypes(response, request, query, to_camel(rule.field.rpartition(".")[2]))

    def _format(self, text: str) -> JsonObject:
        """Returns the schema of a field. ``text`` is as published: number, type, repetition."""
        _, kind, *rest = text.split()
        if kind == "map":
            return {"type": "object", "additionalProperties": self._kind(rest[1])}
        one = self._kind(kind)
        return {"type": "array", "items": one} if "repeated" in rest else one

    def _kind(self, name: str) -> JsonObject:
        if name in _PROTO:
            return _PROTO[name]
        if name in self._enums:
            return {"type": "string", "enum": list(self._enums[name])}
        return self._refer(name, self._messages[name])

    def _refer(self, message: str, fields: Mapping[str, str]) -> JsonObject:
        name = "".join(f"{part[0].upper()}{part[1:]}" for part in message.split("."))
        if name not in self.schemas:
            self.schemas[name] = {}  # a message may contain itself
            properties: JsonObject = {
                to_camel(each): self._format(text) for each, text in fields.items()
            }
            self.schemas[name] = {"id": name, "type": "object", "properties": properties}
        return {"$ref": name}


@dataclass(frozen=True)
class _Rule:
    """The HTTP rule of a method. ``field`` is the request's field that stands in the path."""

    verb: str
    shape: re.Pattern[str]
    field: str
    request: str
    answer: str
    body: str | None

    @classmethod
    def read(cls, rule: Mapping[str, str]) -> _Rule:
        path = rule["path"].split("/", 2)[2]
        parameter = _PARAMETER.search(path)
        shape = _PARAMETER.sub(lambda found: found["pattern"], path)
        pattern = re.escape(shape).replace(r"\*\*", ".+")
        return cls(
            rule["verb"],
            re.compile(pattern),
            "" if parameter is None else parameter["name"],
            rule["request"],
            rule["answer"],
            rule.get("body"),
        )

    def fits(self, verb: str, shape: str) -> bool:
        return verb == self.verb and self.shape.fullmatch(shape) is not None
