"""Loads the methods and messages of Google's API that are served over gRPC.

``schema.json`` is cut out of Google's published descriptors by ``tools/make_grpc_schema.py``. The
messages are made at run time in a pool of their own: none of Google's packages is needed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from google.protobuf import (
    any_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
from google.protobuf.descriptor_pb2 import FieldDescriptorProto, FileDescriptorProto
from google.protobuf.descriptor_pool import DescriptorPool
from google.protobuf.message_factory import GetMessageClass

from footplate.grpc_api.published import read_published

_WELL_KNOWN = (
    any_pb2,
    duration_pb2,
    empty_pb2,
    field_mask_pb2,
    struct_pb2,
    timestamp_pb2,
    wrappers_pb2,
)
_LABELS = {"repeated": FieldDescriptorProto.LABEL_REPEATED}
_OPTIONAL = "optional"

Message = Any
"""An instance of a message's class: those are made at run time, and have no types."""


@dataclass(frozen=True)
class Method:
    """A gRPC method and the equivalent HTTP request.

    ``template`` is a path such as ``/v1/{parent=projects/*/locations/*}/customJobs``. ``body``
    names the field that is sent as the body; ``*`` means all fields that aren't in the path; None
    means that the others are query parameters.
    """

    name: str
    request: type[Message]
    answer: type[Message]
    verb: str
    template: str
    body: str | None


@dataclass(frozen=True)
class Schema:
    """The methods and messages. ``methods`` are by gRPC's names: ``/PACKAGE.SERVICE/METHOD``."""

    methods: Mapping[str, Method]
    pool: Any

    def message(self, name: str) -> type[Message]:
        kind: type[Message] = GetMessageClass(self.pool.FindMessageTypeByName(name))
        return kind


def load_schema() -> Schema:
    document = read_published()
    pool = _make_pool(document["messages"], document["enums"])
    schema = Schema({}, pool)
    methods = {
        name: Method(
            name,
            schema.message(given["request"]),
            schema.message(given["answer"]),
            given["verb"],
            given["path"],
            given.get("body"),
        )
        for name, given in document["methods"].items()
    }
    return Schema(methods, pool)


def _make_pool(
    messages: Mapping[str, Mapping[str, str]], enums: Mapping[str, Mapping[str, int]]
) -> DescriptorPool:
    pool = DescriptorPool()
    for module in _WELL_KNOWN:
        pool.AddSerializedFile(module.DESCRIPTOR.serialized_pb)
    packages = sorted({_package(name) for name in (*messages, *enums)}, key=_rank)
    for number, package in enumerate(packages):
        file = _File(package)
        file.depend(*(module.DESCRIPTOR.name for module in _WELL_KNOWN))
        file.depend(*map(_file_name, packages[:number]))
        for name in sorted(messages):
            if _package(name) == package:
                file.add_message(name, messages[name])
        for name in sorted(enums):
            if _package(name) == package:
                file.add_enum(name, enums[name])
        pool.AddSerializedFile(file.proto.SerializeToString())
    return pool


class _File:
    """The descriptor of one package, to which messages and enums are added."""

    def __init__(self, package: str) -> None:
        self.proto = FileDescriptorProto(name=_file_name(package), package=package, syntax="proto3")
        self._package = package
        self._messages: dict[str, Any] = {}

    def depend(self, *names: str) -> None:
        self.proto.dependency.extend(names)

    def add_message(self, name: str, fields: Mapping[str, str]) -> None:
        message = self._message(name)
        texts = {field: text.split() for field, text in fields.items()}
        for oneof in dict.fromkeys(_oneofs(texts)):
            message.oneof_decl.add(name=oneof)
        for field, words in texts.items():
            self._add_field(message, name, field, words)

    def add_enum(self, name: str, values: Mapping[str, int]) -> None:
        parent, _, own = name.rpartition(".")
        kept = self.proto if parent == self._package else self._message(parent)
        enum = kept.enum_type.add(name=own)
        if len(set(values.values())) < len(values):
            enum.options.allow_alias = True
        for value, number in sorted(values.items(), key=lambda pair: (pair[1] != 0, pair[1])):
            enum.value.add(name=value, number=number)

    def _message(self, name: str) -> Any:
        if name not in self._messages:
            parent, _, own = name.rpartition(".")
            top = parent == self._package
            kept = self.proto.message_type if top else self._message(parent).nested_type
            self._messages[name] = kept.add(name=own)
        return self._messages[name]

    def _add_field(self, message: Any, name: str, field: str, words: list[str]) -> None:
        number, kind, *rest = words
        made = message.field.add(name=field, number=int(number))
        made.label = FieldDescriptorProto.LABEL_OPTIONAL
        if kind == "map":
            made.label = FieldDescriptorProto.LABEL_REPEATED
            entry = f"{''.join(part.capitalize() for part in field.split('_'))}Entry"
            self._add_entry(message, entry, *rest)
            made.type_name = f".{name}.{entry}"
            return
        _set_type(made, kind)
        for word in rest:
            if word in _LABELS:
                made.label = _LABELS[word]
            else:
                made.proto3_optional = word == _OPTIONAL
                oneof = f"_{field}" if word == _OPTIONAL else word
                made.oneof_index = [each.name for each in message.oneof_decl].index(oneof)

    def _add_entry(self, message: Any, entry: str, key: str, value: str) -> None:
        nested = message.nested_type.add(name=entry)
        nested.options.map_entry = True
        for number, (name, kind) in enumerate((("key", key), ("value", value)), start=1):
            part = nested.field.add(name=name, number=number)
            part.label = FieldDescriptorProto.LABEL_OPTIONAL
            _set_type(part, kind)


def _set_type(field: Any, kind: str) -> None:
    if "." in kind:
        field.type_name = f".{kind}"  # the pool finds out whether it is a message or an enum
    else:
        field.type = FieldDescriptorProto.Type.Value(f"TYPE_{kind.upper()}")


def _oneofs(fields: Mapping[str, list[str]]) -> Iterator[str]:
    """Yields the names of oneofs; those that stand for one optional field must come last."""
    words = {field: rest for field, (_, kind, *rest) in fields.items() if kind != "map"}
    others = {_OPTIONAL, *_LABELS}
    yield from (word for rest in words.values() for word in rest if word not in others)
    yield from (f"_{field}" for field, rest in words.items() if _OPTIONAL in rest)


def _package(name: str) -> str:
    """Returns the package of a message or enum: the parts before the first with a capital."""
    parts = name.split(".")
    return ".".join(parts[: next(i for i, part in enumerate(parts) if part[0].isupper())])


def _rank(package: str) -> tuple[bool, bool, str]:
    """Returns a sort key for packages: each may refer only to packages before it."""
    return package != "google.rpc", package != "google.longrunning", package


def _file_name(package: str) -> str:
    return f"{package.replace('.', '/')}.proto"
