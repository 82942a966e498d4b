"""Turns messages into HTTP requests and answers into messages, by Google's HTTP rules."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from typing import TYPE_CHECKING, Any
from urllib.parse import quote, urlencode

from google.protobuf import json_format
from google.protobuf.message import DecodeError, EncodeError

from footplate.domain.errors import Code, Internal, InvalidArgument, Violation
from footplate.wire.json_text import parse_object

if TYPE_CHECKING:
    from footplate.grpc_api.schema import Message, Method, Schema

_VARIABLE = re.compile(r"\{([a-z_.]+)=([^}]+)\}")
_MASK = "google.protobuf.FieldMask"
_SEGMENTS = {"*": "[^/]+", "**": "[^/]+(?:/[^/]+)*"}
MAX_MESSAGE_BYTES = 2000
"""The limit of an error as encoded for gRPC: clients refuse trailers of more than 8 KiB."""
MAX_DETAILS_BYTES = 3000


@dataclass(frozen=True)
class HttpRequest:
    verb: str
    path: str
    query: bytes
    body: bytes | None


@dataclass(frozen=True)
class Failure:
    """An error for gRPC. ``details`` is a serialised google.rpc.Status."""

    code: int
    message: str
    details: bytes


class Transcoder:
    def __init__(self, schema: Schema) -> None:
        self._pool = schema.pool
        self._status = schema.message("google.rpc.Status")

    def request(self, method: Method, content: bytes) -> HttpRequest:
        """Returns the HTTP request for a message.

        Raises InvalidArgument for an invalid message, or a name that can't be in the path.
        """
        try:
            message = method.request.FromString(content)
            masks = _take_masks(message)
            fields: dict[str, Any] = json_format.MessageToDict(message, descriptor_pool=self._pool)
        except (DecodeError, json_format.SerializeToJsonError, TypeError, ValueError) as error:
            name = method.request.DESCRIPTOR.name
            raise InvalidArgument(
                f"the server can't read the request as a {name}: {error}"
            ) from None
        fields |= masks
        path = _path(method, fields)
        body: bytes | None = None
        if method.body == "*":
            body, fields = json.dumps(fields).encode(), {}
        elif method.body is not None:
            body = json.dumps(fields.pop(_json_name(method.body), {})).encode()
        return HttpRequest(method.verb, path, urlencode(list(_flat(fields))).encode(), body)

    def answer(self, method: Method, content: bytes) -> bytes:
        """Returns the message for a JSON answer, without fields that Google's message lacks.
        Raises Internal.
        """
        try:
            message = self._parse(parse_object(content) if content else {}, method.answer())
            text: bytes = message.SerializeToString()
        except (InvalidArgument, json_format.ParseError, EncodeError) as error:
            raise Internal(
                f"the server can't write its answer as a {method.answer.DESCRIPTOR.name}: {error}"
            ) from None
        return text

    def failure(self, content: bytes) -> Failure:
        """Reads an answer that is an error; cuts it if it is too long for gRPC."""
        try:
            error: Any = parse_object(content)["error"]
            code, message = Code[error["status"]], str(error["message"])
        except (InvalidArgument, KeyError, TypeError):
            code, message, error = (
                Code.UNKNOWN,
                "the service failed without a readable error message",
                {},
            )
        return self.describe(code, message, error.get("details", []))

    def describe(self, code: Code, message: str, details: list[Any]) -> Failure:
        text = _cut(message)
        status = {"code": code.value, "message": text}
        bare = self._parse(status, self._status()).SerializeToString()
        try:
            full = self._parse({**status, "details": details}, self._status()).SerializeToString()
        except json_format.ParseError:
            full = bare
        return Failure(code.value, text, full if len(full) <= MAX_DETAILS_BYTES else bare)

    def _parse(self, document: Any, message: Message) -> Message:
        return json_format.ParseDict(
            document, message, ignore_unknown_fields=True, descriptor_pool=self._pool
        )


def _take_masks(message: Message) -> dict[str, str]:
    """Returns the field masks of a request in JSON, and removes them from it.

    protobuf writes no mask with names in camelCase, which Google takes over gRPC too, or with keys
    that have capitals or numbers.
    """
    masks = {}
    for field, value in message.ListFields():
        if field.message_type is not None and field.message_type.full_name == _MASK:
            masks[field.json_name] = ",".join(map(_json_name, value.paths))
            message.ClearField(field.name)
    return masks


def _path(method: Method, fields: dict[str, Any]) -> str:
    """Returns the request's path; removes the fields in it from ``fields``."""

    def fill(found: re.Match[str]) -> str:
        field, pattern = found.groups()
        value = str(_pop(fields, field.split(".")))
        if not _compile(pattern).fullmatch(value):
            rule = f"{value[:500]!r} given; allowed: {pattern}"
            raise InvalidArgument.of((Violation(field, rule),))
        return value

    return _VARIABLE.sub(fill, method.template)


@lru_cache(maxsize=256)
def _compile(pattern: str) -> re.Pattern[str]:
    return re.compile("/".join(_SEGMENTS.get(part, re.escape(part)) for part in pattern.split("/")))


def _pop(fields: dict[str, Any], path: list[str]) -> Any:
    for part in path[:-1]:
        fields = fields.get(_json_name(part), {})
    return fields.pop(_json_name(path[-1]), "")


def _json_name(field: str) -> str:
    first, *rest = field.split("_")
    return first + "".join(part.capitalize() for part in rest)


def _flat(fields: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, str]]:
    """Yields query parameters; names of fields of inner messages have dots."""
    for name, value in fields.items():
        if isinstance(value, dict):
            yield from _flat(value, f"{prefix}{name}.")
        else:
            for each in value if isinstance(value, list) else [value]:
                text = json.dumps(each) if isinstance(each, bool) else str(each)
                yield prefix + name, text


def _cut(message: str) -> str:
    """Returns as much of the message as fits; each non-ASCII byte takes three in gRPC."""
    size = 0
    for index, character in enumerate(message):
        size += len(quote(character, safe=" !\"#$&'()*+,-./:;<=>?@[\\]^_`{|}~"))
        if size > MAX_MESSAGE_BYTES:
            return f"{message[:index]}..."
    return message
