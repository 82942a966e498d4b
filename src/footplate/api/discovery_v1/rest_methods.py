"""Describes routes as the methods of a discovery document. Pure.

A resource's name in the path is one parameter, as in all of Google's APIs but Cloud Storage's:
``/v1/projects/{project}/jobs/{job}:cancel`` is ``v1/{+name}:cancel``.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Protocol

from starlette.routing import Route

from footplate.api.accepted_parameters import Parameters
from footplate.wire.json_text import JsonObject

ANYTHING = "JsonObject"
"""The schema of what no message is known for."""
_ANY: JsonObject = {
    "id": ANYTHING,
    "type": "object",
    "additionalProperties": {"type": "any"},
}
_VARIABLE = re.compile(r"\{[^:{}]*(:path)?\}")
_STARS = {"*": "[^/]+", "**": ".+"}
"""What stands for a variable in a shape, and what values of it match."""
_OF_ONE = {"GET": "get", "DELETE": "delete", "PATCH": "patch", "PUT": "update"}
_OF_ALL = {"GET": "list", "POST": "create"}


@dataclass(frozen=True)
class MethodTypes:
    """The schemas of a method's request and response; each may refer to another schema.

    ``parameter`` is the name of the parameter in the path; empty for its usual name.
    """

    response: JsonObject
    request: JsonObject | None = None
    query: Mapping[str, JsonObject] = field(default_factory=dict)
    parameter: str = ""


class Types(Protocol):
    """A source of the message types of methods; ``schemas`` has the types found so far, by name."""

    @property
    def schemas(self) -> Mapping[str, JsonObject]: ...

    def find(self, verb: str, shape: str) -> MethodTypes | None:
        """Returns the types of a method, None if unknown. ``shape`` is as in ``ServedMethod``."""
        ...


@dataclass(frozen=True)
class ServedMethod:
    """A method that is served. In ``shape``, ``*`` stands for a variable:
    ``projects/*/jobs/*:cancel``.

    ``**`` stands for a variable that may contain slashes.
    """

    verb: str
    shape: str

    @property
    def _parts(self) -> list[str]:
        return self.shape.partition(":")[0].split("/")

    @property
    def of_one(self) -> bool:
        """Returns whether the method concerns one resource, not a collection."""
        return self._parts[-1] in _STARS

    @property
    def resources(self) -> tuple[str, ...]:
        return tuple(part for part in self._parts if part not in _STARS)

    @property
    def name(self) -> str:
        return self.shape.partition(":")[2] or (_OF_ONE if self.of_one else _OF_ALL)[self.verb]

    def describe(self, api: str, version: str, types: MethodTypes) -> JsonObject:
        named = self._parts if self.of_one else self._parts[:-1]
        parameter = types.parameter or ("name" if self.of_one else "parent")
        path = self.shape
        accepted = Parameters(self.verb, self.shape)
        parameters: JsonObject = {
            name: schema
            for name, schema in types.query.items()
            if name in accepted.honoured or name in accepted.without_effect
        }
        if named:
            path = f"{{+{parameter}}}" + self.shape[len("/".join(named)) :]
            pattern = "/".join(_STARS.get(part, part) for part in named)
            parameters[parameter] = {
                "type": "string",
                "location": "path",
                "required": True,
                "pattern": f"^{pattern}$",
            }
        method: JsonObject = {
            "id": ".".join((api, *self.resources, self.name)),
            "path": f"{version}/{path}",
            "flatPath": f"{version}/{self._flat_path()}",
            "httpMethod": self.verb,
            "parameters": parameters,
            "parameterOrder": [parameter] if named else [],
            "response": types.response,
        }
        return method if types.request is None else {**method, "request": types.request}

    def _flat_path(self) -> str:
        names = iter([f"{{{name}Id}}" for name in self.resources])
        return re.sub(r"\*+", lambda _: next(names), self.shape)


def served_methods(routes: Iterable[Route], version: str) -> Iterator[ServedMethod]:
    """Yields the methods below ``/version/``, without HEAD, which Starlette serves for each GET."""
    prefix = f"/{version}/"
    for route in routes:
        if route.path.startswith(prefix):
            shape = _VARIABLE.sub(
                lambda variable: "**" if variable[1] else "*", route.path.removeprefix(prefix)
            )
            for verb in sorted((route.methods or set()) - {"HEAD"}):
                yield ServedMethod(verb, shape)


@dataclass
class Resources:
    """The resources of a document, each with its methods and inner resources, by name."""

    methods: dict[str, JsonObject] = field(default_factory=dict)
    inner: dict[str, Resources] = field(default_factory=dict)

    def add(self, names: tuple[str, ...], method: str, described: JsonObject) -> None:
        """Adds a method to the resource with these nested ``names``, the outermost first."""
        if names:
            self.inner.setdefault(names[0], Resources()).add(names[1:], method, described)
        else:
            self.methods[method] = described

    def encode(self) -> JsonObject:
        encoded: JsonObject = {}
        if self.methods:
            encoded["methods"] = {**self.methods}
        if self.inner:
            encoded["resources"] = {name: inner.encode() for name, inner in self.inner.items()}
        return encoded


def describe_methods(api: str, version: str, routes: Iterable[Route], types: Types) -> JsonObject:
    """Returns the ``resources`` of a document, and its ``schemas``."""
    tree, schemas = Resources(), {ANYTHING: _ANY}
    for method in served_methods(routes, version):
        found = types.find(method.verb, method.shape) or _unknown(method.verb)
        tree.add(method.resources, method.name, method.describe(api, version, found))
    return {**tree.encode(), "schemas": {**schemas, **types.schemas}}


def _unknown(verb: str) -> MethodTypes:
    anything: JsonObject = {"$ref": ANYTHING}
    return MethodTypes(anything, anything if verb in {"POST", "PUT", "PATCH"} else None)
