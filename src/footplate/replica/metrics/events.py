"""Reads scalars from TensorFlow events, in either encoding.

Sources: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto.
"""

from __future__ import annotations

from struct import unpack

from footplate.replica.metrics.protobuf import Malformed, as_bytes, as_signed, read_fields
from footplate.replica.metrics.tensor_proto import read_number

_WALL_TIME, _STEP, _SUMMARY = 1, 2, 5
_VALUE = 1
_TAG, _SIMPLE_VALUE, _TENSOR, _METADATA = 1, 2, 8, 9
_PLUGIN = 1
_PLUGIN_NAME = 1
_SCALARS = b"scalars"


class Scalar:
    __slots__ = ("step", "tag", "time", "value")

    def __init__(self, tag: str, step: int, value: float, time: float) -> None:
        self.tag = tag
        self.step = step
        self.value = value
        self.time = time


def read_scalars(event: bytes) -> list[Scalar]:
    """Raises Malformed."""
    time, step = 0.0, 0
    summaries = []
    for number, value in read_fields(event):
        if number == _WALL_TIME:
            time = _unpack("<d", as_bytes(value))
        elif number == _STEP:
            step = as_signed(value)
        elif number == _SUMMARY:
            summaries.append(as_bytes(value))
    named = [_read_value(as_bytes(value)) for summary in summaries for value in _values(summary)]
    return [Scalar(tag, step, value, time) for tag, value in named if value is not None and tag]


def _values(summary: bytes) -> list[bytes]:
    return [as_bytes(value) for number, value in read_fields(summary) if number == _VALUE]


def _read_value(data: bytes) -> tuple[str, float | None]:
    """The tag, and its number; None: it is no scalar."""
    tag, plugin = b"", b""
    simple, tensor = None, None
    for number, value in read_fields(data):
        if number == _TAG:
            tag = as_bytes(value)
        elif number == _SIMPLE_VALUE:
            simple = _unpack("<f", as_bytes(value))
        elif number == _TENSOR:
            tensor = as_bytes(value)
        elif number == _METADATA:
            plugin = _read_plugin(as_bytes(value))
    if simple is None and tensor is not None and plugin in (b"", _SCALARS):
        simple = read_number(tensor, listed=plugin == _SCALARS)
    return tag.decode("utf-8", "replace"), simple


def _read_plugin(metadata: bytes) -> bytes:
    """Whose the tensor is; empty: nobody says (only the first of a tag may)."""
    for number, value in read_fields(metadata):
        if number == _PLUGIN:
            for inner, name in read_fields(as_bytes(value)):
                if inner == _PLUGIN_NAME:
                    return as_bytes(name)
    return b""


def _unpack(code: str, data: bytes) -> float:
    if len(data) != (8 if code == "<d" else 4):
        raise Malformed
    number: float = unpack(code, data)[0]
    return number
