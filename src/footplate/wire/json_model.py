"""The base of the models of requests: proto3 JSON in, all violations at once out."""

from __future__ import annotations

from difflib import get_close_matches
from functools import cache
from typing import TYPE_CHECKING, ClassVar, Self, get_args

from pydantic import BaseModel, ConfigDict, ValidationError, model_validator
from pydantic.alias_generators import to_camel
from pydantic_core import PydanticCustomError

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from pydantic_core import ErrorDetails

MAX_VIOLATIONS = 50
"""Told at once; a request with more is told so."""


class JsonModel(BaseModel):
    """A message of the API.

    Fields are known by their lowerCamelCase and their snake_case name, null counts as not
    given, fields that only the service fills (``OUTPUT_ONLY``, in snake_case) are left out.
    Unknown fields are kept; the face decides what to make of them.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="allow", frozen=True, protected_namespaces=()
    )
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset()

    @model_validator(mode="before")
    @classmethod
    def _normalise(cls, value: object) -> object:
        if not isinstance(value, dict):
            raise ValueError(f"{describe(value)} given; allowed: an object")  # noqa: TRY004
        names, made = _names(cls), dict[str, object]()
        for key, item in value.items():
            name = names.get(key, key)
            if item is None or name in _output_only(cls):
                continue
            if name in made:
                raise PydanticCustomError("twice", "{name} is given twice", {"name": name})
            made[name] = item
        return made

    @classmethod
    def decode(cls, value: JsonObject, *, strict: bool = False) -> Self:
        """The message that ``value`` is; ``strict``: an unknown field is a violation, too.

        Raises:
            InvalidArgument: with every violation of the schema, each with its JSON path.
        """
        unknown = tuple(unknown_fields(cls, value)) if strict else ()
        try:
            made = cls.model_validate(value)
        except ValidationError as error:
            found = error.errors(include_url=False, include_context=False)
            wrong = tuple(Violation(json_path(e["loc"]), _description(e)) for e in found)
            raise _refusal((*unknown, *wrong)) from None
        refuse(unknown)
        return made

    def encode(self) -> JsonObject:
        """What was given, in canonical spelling; what wasn't given isn't there."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


def unknown_fields(
    model: type[JsonModel], value: object, path: tuple[str | int, ...] = ()
) -> Iterator[Violation]:
    """Each field in ``value`` that the message doesn't have, with the nearest ones it has."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from unknown_fields(model, item, (*path, index))
    if not isinstance(value, dict):
        return
    names, inner = _names(model), _messages(model)
    for key, item in value.items():
        name = names.get(key)
        if name is None:
            if item is not None:
                yield Violation(json_path((*path, key)), _nearest(key, model))
        elif name in inner:
            yield from unknown_fields(inner[name], item, (*path, name))


def refuse(violations: tuple[Violation, ...]) -> None:
    """Raise InvalidArgument if there are any."""
    if violations:
        raise _refusal(violations)


def _refusal(violations: tuple[Violation, ...]) -> InvalidArgument:
    if len(violations) > MAX_VIOLATIONS:
        more = Violation("request", f"{len(violations) - MAX_VIOLATIONS} more violations")
        violations = (*violations[:MAX_VIOLATIONS], more)
    return InvalidArgument.of(violations)


def json_path(location: tuple[str | int, ...]) -> str:
    """``("a", "b", 0)`` as ``a.b[0]``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{_shorten(part)}" if path else _shorten(part)
    return path


def _shorten(name: str, limit: int = 100) -> str:
    return name if len(name) <= limit else f"{name[:limit]}..."


def _nearest(name: str, model: type[JsonModel]) -> str:
    known = sorted(set(_names(model).values()))
    near = get_close_matches(to_camel(name[:100]), known, n=3, cutoff=0.6)
    if near:
        return f"unknown field; did you mean {' or '.join(near)}?"
    return f"unknown field; allowed: {', '.join(known)}"


@cache
def _names(model: type[JsonModel]) -> Mapping[str, str]:
    """Every spelling of each field's name, and the canonical one."""
    names = {name: to_camel(name) for name in (*model.OUTPUT_ONLY, *model.model_fields)}
    return names | {alias: alias for alias in names.values()}


@cache
def _messages(model: type[JsonModel]) -> Mapping[str, type[JsonModel]]:
    """The fields that hold messages of their own, or lists of them."""
    found = {to_camel(n): _message_in(f.annotation) for n, f in model.model_fields.items()}
    return {name: message for name, message in found.items() if message is not None}


def _message_in(annotation: object) -> type[JsonModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, JsonModel):
        return annotation
    inner = (_message_in(argument) for argument in get_args(annotation))
    return next((message for message in inner if message is not None), None)


@cache
def _output_only(model: type[JsonModel]) -> frozenset[str]:
    return frozenset(to_camel(name) for name in model.OUTPUT_ONLY)


_EXPECTED = {"list_type": "a list", "dict_type": "an object", "string_type": "a string"}


def _description(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ")
    if expected := _EXPECTED.get(error["type"]):
        return f"{describe(error['input'])} given; allowed: {expected}"
    return error["msg"]
