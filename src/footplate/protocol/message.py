"""The base class of messages: typed fields, and their JSON.

Messages are declared as dataclasses are. The module ``dataclasses`` itself would cost each
supervisor 1.5 MB, and ``typing`` 0.8 MB.
"""

from __future__ import annotations

import sys

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Self, dataclass_transform
else:

    def dataclass_transform():
        """Returns the decorator that tells type checkers of the constructor."""
        return lambda kind: kind


_SCALARS = {"str": (str,), "int": (int,), "float": (float, int), "bool": (bool,)}
"""By exact type: JSON's true is no number."""
_MAX_SHOWN = 200


class DecodeError(ValueError):
    """Error of JSON that isn't the expected message; the text names the field."""


@dataclass_transform()
class Message:
    """Base class of messages. A subclass declares its fields by annotations, with a default or
    without.

    An annotation is ``str``, ``int``, ``float``, ``bool``, ``object`` (any JSON), a message,
    ``tuple[X, ...]``, ``tuple[X, Y]``, ``dict[str, X]``, or ``X | None``, whose default is None. A
    union of messages is told apart by ``kind``, which their classes are declared with. ``sparse``
    messages leave out fields that have their default.
    """

    _fields: dict[str, str] = {}  # noqa: RUF012  each subclass has its own
    _kind, _sparse = "", False

    def __init_subclass__(cls, *, kind: str = "", sparse: bool = False) -> None:
        cls._fields, cls._kind, cls._sparse = cls.__annotations__, kind, sparse

    def __init__(self, *values: Any, **named: Any) -> None:
        given = dict(zip(self._fields, values), **named)  # noqa: B905  Python 3.8
        unknown = [name for name in given if name not in self._fields]
        missing = [each for each in self._fields if each not in given and not _has(self, each)]
        if unknown or missing or len(values) > len(self._fields):
            raise TypeError(f"{type(self).__name__}: missing {missing}, unknown {unknown}")
        vars(self).update(given)

    def __eq__(self, other: object) -> bool:
        return type(self) is type(other) and self.encode() == other.encode()

    def __hash__(self) -> int:
        raise TypeError(f"{type(self).__name__}: its fields may change")

    def __repr__(self) -> str:
        fields = (f"{name}={getattr(self, name)!r}" for name in self._fields)
        return f"{type(self).__name__}({', '.join(fields)})"

    def encode(self) -> dict[str, Any]:
        """Returns the message as a JSON object."""
        found = {} if not self._kind else {"kind": self._kind}
        for name in self._fields:
            value = getattr(self, name)
            if not self._sparse or not _has(self, name) or value != getattr(type(self), name):
                found[name] = _encode(value)
        return found

    @classmethod
    def decode(cls, value: object, path: str = "") -> Self:
        """Returns the message in a JSON object. Unknown fields are ignored: a newer program may
        have sent it.

        Fields that are missing or null have their default. ``path`` is the place of the object.
        Raises DecodeError.
        """
        if not isinstance(value, dict):
            raise DecodeError(f"{path or cls.__name__} is not an object: {_show(value)}")
        given, names = {}, vars(sys.modules[cls.__module__])
        for name, annotation in cls._fields.items():
            place = f"{path}.{name}" if path else name
            if value.get(name) is not None:
                given[name] = _decode(annotation, value[name], place, names)
            elif not hasattr(cls, name):
                raise DecodeError(f"{place} is missing")
        return cls(**given)


def _has(message: Message, name: str) -> bool:
    """Returns whether the field has a default, which is an attribute of the class."""
    return hasattr(type(message), name)


def _encode(value: Any) -> Any:
    if isinstance(value, Message):
        return value.encode()
    if isinstance(value, (tuple, list)):
        return [_encode(each) for each in value]
    if isinstance(value, dict):
        return {name: _encode(each) for name, each in value.items()}
    return value


def _decode(annotation: str, value: Any, path: str, names: Mapping[str, Any]) -> Any:
    """Returns ``value`` decoded by ``annotation``; ``names`` leads from names to the messages."""
    kinds = [part for part in annotation.split(" | ") if part != "None"]
    if len(kinds) > 1:
        by_kind = {names[kind]._kind: names[kind] for kind in kinds}
        found = value.get("kind") if isinstance(value, dict) else None
        if found not in by_kind:
            raise DecodeError(f"{path}.kind is {found!r}; allowed: {', '.join(by_kind)}")
        return by_kind[found].decode(value, path)
    name, _, inner = kinds[0].partition("[")
    inner = inner[:-1]
    if name == "tuple" and isinstance(value, list):
        parts = inner.split(", ")
        if inner.endswith(", ..."):
            parts = [inner[: -len(", ...")]] * len(value)
        if len(parts) == len(value):
            pairs = enumerate(zip(parts, value))  # noqa: B905  Python 3.8
            return tuple(_decode(k, each, f"{path}[{n}]", names) for n, (k, each) in pairs)
    elif name == "dict" and isinstance(value, dict):
        kind = inner.partition(", ")[2]
        return {key: _decode(kind, each, f"{path}.{key}", names) for key, each in value.items()}
    elif name == "object" or type(value) in _SCALARS.get(name, ()):
        return value
    elif name in names:
        return names[name].decode(value, path)
    raise DecodeError(f"{path} is not {kinds[0]}: {_show(value)}")


def _show(value: object) -> str:
    return repr(value)[:_MAX_SHOWN]
