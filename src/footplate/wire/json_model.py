"""The base class of request models: proto3 JSON in, all violations reported at once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from difflib import get_close_matches
from functools import cache, cached_property
from itertools import islice, takewhile
from types import MappingProxyType
from typing import TYPE_CHECKING, ClassVar, Generic, Self, TypeVar, get_args

from pydantic import BaseModel, ConfigDict, ValidationError
from pydantic.alias_generators import to_camel

from footplate.domain.errors import InvalidArgument, Violation
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from pydantic import JsonValue
    from pydantic_core import ErrorDetails


_LONGEST_NAME = 100


def json_path(location: tuple[str | int, ...]) -> str:
    """Formats a location: ``("a", "b", 0)`` as ``a.b[0]``."""
    path = ""
    for part in location:
        if isinstance(part, int):
            path += f"[{part}]"
        else:
            path += f".{_shorten(part)}" if path else _shorten(part)
    return path


def ancestors(path: str) -> Iterator[str]:
    """Yields the paths above this one, from the top."""
    return (path[:at] for at, character in enumerate(path) if character in ".[")


def _shorten(name: str) -> str:
    return name if len(name) <= _LONGEST_NAME else f"{name[:_LONGEST_NAME]}..."


MAX_VIOLATIONS = 50
"""Reported at once; a request with more is told their number."""
THE_REST = "request"
"""The field of the violation that says how many more there are."""

LONGEST_LIST = 100_000
"""Items; no job needs as many, and a million take seconds."""
_MOST_HEARD = 1000
"""Violations of rules, in one request."""

_NO_FIELDS: Mapping[str, str] = MappingProxyType({})
OWN_OUTPUT = frozenset(
    {"container_images", "end_explanation", "engine_jobs", "pending_explanation"}
)
"""What answers on jobs have beside Google's fields; a client may send an answer as a request."""

Item = TypeVar("Item")
Message = TypeVar("Message", bound="JsonModel", covariant=True)


class JsonModel(BaseModel):
    """The base class of the API's messages.

    Fields may have lowerCamelCase or snake_case names, null counts as not given, and fields that
    only the service sets (``OUTPUT_ONLY``) are ignored. Other fields of Google's message that
    aren't read here are kept unchanged (``WITHOUT_EFFECT``), or refused unless they are empty
    (``REFUSED``). All three sets have snake_case names. Items of lists are messages without
    required fields, strings or numbers.
    """

    model_config = ConfigDict(
        alias_generator=to_camel, extra="allow", frozen=True, protected_namespaces=()
    )
    OUTPUT_ONLY: ClassVar[frozenset[str]] = frozenset()
    WITHOUT_EFFECT: ClassVar[Mapping[str, str]] = _NO_FIELDS
    """With the reason."""
    REFUSED: ClassVar[Mapping[str, str]] = _NO_FIELDS
    """With the way out."""

    @classmethod
    def understand(cls, value: JsonObject, *, strict: bool = True) -> ParseResult[Self]:
        """Parses the valid parts of a message, and records all violations of the schema.

        ``strict``: unknown fields are violations, too; otherwise they are kept. Never raises.
        """
        unknown = tuple(unknown_fields(cls, value)) if strict else ()
        canonical, wrong = _Canonical().read(cls, value)
        for stand_in in _STAND_INS:
            try:
                return ParseResult(cls.model_validate(canonical), unknown, tuple(wrong.values()))
            except ValidationError as error:
                _leave_all_out(canonical, error, stand_in, wrong)
        return ParseResult(cls.model_validate(canonical), unknown, tuple(wrong.values()))

    @classmethod
    def decode(cls, value: JsonObject) -> Self:
        """Parses a valid message.

        Raises:
            InvalidArgument: has every violation of the schema, each with its JSON path.
        """
        understood = cls.understand(value)
        refuse(understood.violations)
        return understood.message

    def encode(self) -> JsonObject:
        """Returns only the fields that were given, with canonical names."""
        return self.model_dump(mode="json", by_alias=True, exclude_unset=True)


@dataclass(frozen=True)
class ParseResult(Generic[Message]):
    """A message without the values that the schema doesn't allow (``wrong``).

    Those values count as not given; a wrong item of a list is replaced, so that the items after it
    keep their numbers.
    """

    message: Message
    unknown: tuple[Violation, ...]
    """Fields that the message doesn't have, where they were looked for."""
    wrong: tuple[Violation, ...]

    @property
    def violations(self) -> tuple[Violation, ...]:
        return (*self.unknown, *self.wrong)

    def clouds(self, field: str) -> bool:
        """Returns whether a wrong value is at, above or below the field, hidden from rules."""
        return field in self._clouded.below or self._refused(field)

    def with_rules(self, found: Iterable[Violation]) -> tuple[Violation, ...]:
        """Adds the violations of rules to those of the schema, one for each field.

        Violations at or inside a wrong value are left out. A rule that compares fields must itself
        ignore fields with wrong values. If there are very many violations, some are replaced by
        their number, and not all rules are applied.
        """
        violations: dict[str, Violation] = {}
        for violation in self.violations:
            violations.setdefault(violation.field, violation)
        by_rules = iter(found)
        for violation in islice(by_rules, _MOST_HEARD):
            if not self._refused(violation.field):
                violations.setdefault(violation.field, violation)
        cut = next(by_rules, None) is not None
        return limited(tuple(violations.values()), at_least=cut)

    def _refused(self, field: str) -> bool:
        wrong = self._clouded.wrong
        return field in wrong or not wrong.isdisjoint(ancestors(field))

    @cached_property
    def _clouded(self) -> _Clouded:
        wrong = frozenset(violation.field for violation in self.wrong)
        return _Clouded(wrong, wrong.union(*map(ancestors, wrong)))


def parsed_items(
    items: Sequence[Item], field: str, clouded: Callable[[str], bool]
) -> Sequence[Item | None]:
    """Returns the items of a list, with None in place of wrong ones."""
    if not clouded(field):
        return items
    return [None if clouded(f"{field}[{i}]") else item for i, item in enumerate(items)]


@dataclass(frozen=True)
class _Clouded:
    """The paths of wrong values; ``below`` has these and everything that contains them."""

    wrong: frozenset[str]
    below: frozenset[str]


def unknown_fields(model: type[JsonModel], value: object) -> Iterator[Violation]:
    """Yields each field in ``value`` that the message lacks or refuses, with advice.

    The advice suggests similar names, but not for the later ones of very many fields, as finding
    names takes time.
    """
    for number, (path, inside) in enumerate(_unknown(model, value)):
        name = str(path[-1])
        if name in _refused(inside):
            said = f"not supported: {_refused(inside)[name]}"
        else:
            said = _nearest(name, inside) if number <= MAX_VIOLATIONS else "unknown name"
        yield Violation(json_path(path), said)


def fields_without_effect(model: type[JsonModel], value: object) -> Iterator[tuple[str, str]]:
    """Yields each field in ``value`` that has no effect, and why."""
    for path, given, inside in _fields(model, value, ()):
        name = path[-1]
        for field, reason in inside.WITHOUT_EFFECT.items():
            if given and name == to_camel(field):
                yield json_path(path), reason


def _unknown(
    model: type[JsonModel], value: object
) -> Iterator[tuple[tuple[str | int, ...], type[JsonModel]]]:
    """Yields the paths of unknown fields, each with the type of the message that contains it."""
    for path, given, inside in _fields(model, value, ()):
        key = str(path[-1])
        if key not in _names(inside) and (given or key not in _refused(inside)):
            yield path, inside


def _fields(
    model: type[JsonModel], value: object, path: tuple[str | int, ...]
) -> Iterator[tuple[tuple[str | int, ...], object, type[JsonModel]]]:
    """Yields the path and value of each field that isn't null, with the type of its message."""
    if isinstance(value, list):
        for index, item in enumerate(value):
            yield from _fields(model, item, (*path, index))
    if not isinstance(value, dict):
        return
    names, inner = _names(model), _messages(model)
    for key, item in value.items():
        name = names.get(key, key)
        if item is not None:
            yield (*path, name), item, model
        if name in inner:
            yield from _fields(inner[name], item, (*path, name))


def refuse(violations: tuple[Violation, ...]) -> None:
    """Raises InvalidArgument if there are any violations."""
    if violations:
        raise InvalidArgument.of(limited(violations))


def limited(violations: tuple[Violation, ...], *, at_least: bool = False) -> tuple[Violation, ...]:
    """Returns as many violations as a person can read, and the number of the others.

    ``at_least``: there may be more than that number.
    """
    more = len(violations) - MAX_VIOLATIONS
    if more <= 1:
        return violations
    said = f"{'at least ' if at_least else ''}{more} more violations"
    return (*violations[:MAX_VIOLATIONS], Violation(THE_REST, said))


class _Canonical:
    """Makes a copy of a message's JSON: canonical names, no nulls, no output-only fields."""

    def __init__(self) -> None:
        self._wrong: dict[str, Violation] = {}

    def read(
        self, model: type[JsonModel], value: JsonObject
    ) -> tuple[JsonObject, dict[str, Violation]]:
        """Returns the copy, and the violations found so far, by path.

        These are fields given in both spellings, and lists that are too long to check; the copy
        lacks them.
        """
        return self._message(model, value, ()), self._wrong

    def _value(
        self, model: type[JsonModel] | None, value: JsonValue, path: tuple[str | int, ...]
    ) -> JsonValue:
        if isinstance(value, list):
            return [self._value(model, item, (*path, i)) for i, item in enumerate(value)]
        if isinstance(value, dict):
            return dict(value) if model is None else self._message(model, value, path)
        return value

    def _message(
        self, model: type[JsonModel], value: JsonObject, path: tuple[str | int, ...]
    ) -> JsonObject:
        names, inner = _names(model), _messages(model)
        made: JsonObject = {}
        for key, item in value.items():
            name = names.get(key, key)
            if item is None or name in _output_only(model):
                continue
            if name in made:
                said = (
                    "this field is given in two spellings; allowed: lowerCamelCase or "
                    "snake_case, not both"
                )
                self._refuse((*path, name), said)
            elif key in names and isinstance(item, list) and len(item) > LONGEST_LIST:
                said = f"{len(item)} items given; allowed: at most {LONGEST_LIST}"
                self._refuse((*path, name), said)
            else:
                made[name] = self._value(inner.get(name), item, (*path, name))
        return made

    def _refuse(self, path: tuple[str | int, ...], said: str) -> None:
        field = json_path(path)
        self._wrong[field] = Violation(field, said)


_STAND_INS: tuple[JsonValue, ...] = ({}, "", 0)
"""One of them is an allowed item of any list that messages have."""


_MOST_ITEMS = 1000
"""Replaced one by one; a list with more wrong ones is left out, so that it doesn't take long."""


def _leave_all_out(
    root: JsonObject, error: ValidationError, stand_in: JsonValue, wrong: dict[str, Violation]
) -> None:
    """Removes the values named in an error from the message; adds them to ``wrong``."""
    gone: set[tuple[str | int, ...]] = set()
    for number, found in enumerate(error.errors(include_url=False, include_context=False)):
        location = found["loc"]
        if number >= _MOST_ITEMS:
            location = tuple(takewhile(lambda part: isinstance(part, str), location))
            if location in gone:
                continue
            gone.add(location)
        path = json_path(location)
        wrong.setdefault(path, Violation(path, _description(found)))
        _leave_out(root, location, stand_in)


def _leave_out(root: JsonObject, location: tuple[str | int, ...], stand_in: JsonValue) -> None:
    """Removes the value at the location, or its nearest existing parent."""
    parent: JsonValue = root
    for depth, part in enumerate(location):
        last = depth == len(location) - 1
        if isinstance(parent, dict) and isinstance(part, str):
            if last or not isinstance(parent.get(part), dict | list):
                parent.pop(part, None)
                return
            parent = parent[part]
        elif isinstance(parent, list) and isinstance(part, int) and part < len(parent):
            if last or not isinstance(parent[part], dict | list):
                parent[part] = stand_in
                return
            parent = parent[part]


def _nearest(name: str, model: type[JsonModel]) -> str:
    known = sorted(to_camel(field) for field in model.model_fields)
    near = get_close_matches(to_camel(name[:100]), known, n=3, cutoff=0.6)
    if near:
        return f"unknown name; did you mean {' or '.join(near)}?"
    return f"unknown name; allowed: {', '.join(known) or 'no field'}"


@cache
def _names(model: type[JsonModel]) -> Mapping[str, str]:
    """Returns the canonical name for every spelling of each field."""
    known = (*model.OUTPUT_ONLY, *model.WITHOUT_EFFECT, *model.model_fields)
    names = {name: to_camel(name) for name in known}
    return names | {alias: alias for alias in names.values()}


@cache
def _messages(model: type[JsonModel]) -> Mapping[str, type[JsonModel]]:
    """Returns the fields that hold messages, or lists of messages, with their types."""
    found = {to_camel(n): _message_in(f.annotation) for n, f in model.model_fields.items()}
    return {name: message for name, message in found.items() if message is not None}


def _message_in(annotation: object) -> type[JsonModel] | None:
    if isinstance(annotation, type) and issubclass(annotation, JsonModel):
        return annotation
    inner = (_message_in(argument) for argument in get_args(annotation))
    return next((message for message in inner if message is not None), None)


@cache
def _refused(model: type[JsonModel]) -> Mapping[str, str]:
    """Returns the refused fields, in every spelling, with advice."""
    return {**model.REFUSED, **{to_camel(name): way for name, way in model.REFUSED.items()}}


@cache
def _output_only(model: type[JsonModel]) -> frozenset[str]:
    return frozenset(to_camel(name) for name in model.OUTPUT_ONLY)


_EXPECTED = {
    "list_type": "a list",
    "dict_type": "an object",
    "model_type": "an object",
    "string_type": "a string",
}


def _description(error: ErrorDetails) -> str:
    if error["type"] == "value_error":
        return error["msg"].removeprefix("Value error, ")
    if expected := _EXPECTED.get(error["type"]):
        return f"{describe(error['input'])} given; allowed: {expected}"
    return error["msg"]
