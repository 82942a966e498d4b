"""Reads scalars from TensorFlow events, in either encoding.

Sources: tensorflow/core/util/event.proto, tensorflow/core/framework/summary.proto.
"""

from __future__ import annotations

from struct import calcsize, pack, unpack, unpack_from

from footplate.replica.metrics.protobuf import (
    Malformed,
    as_bytes,
    as_signed,
    read_fields,
    read_varint,
)

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    from footplate.replica.metrics.protobuf import Value


_DTYPE, _SHAPE, _CONTENT = 1, 2, 4
_DIMENSION, _UNKNOWN_RANK = 2, 3
_SIZE = 1
_HALF, _BFLOAT16 = 19, 14
_TYPES = {
    1: ("<f", 5),
    2: ("<d", 6),
    3: ("<i", 7),
    4: ("<B", 7),
    5: ("<h", 7),
    6: ("<b", 7),
    9: ("<q", 10),
    10: ("<?", 11),
    _BFLOAT16: ("<H", 13),
    17: ("<H", 7),
    _HALF: ("<H", 13),
    22: ("<I", 16),
    23: ("<Q", 17),
}
"""The form of a number in ``tensor_content``, or else its field, by dtype."""
_FLOATING = (1, 2)
_UNSIGNED_64 = 23


def read_number(data: bytes, *, listed: bool) -> float | None:
    """Returns the one number in ``data``, or None. With ``listed``, a list of one number counts
    too.

    Raises Malformed.
    """
    dtype, sizes = 0, []
    values: dict[int, Value] = {}
    for number, value in read_fields(data):
        if number == _DTYPE:
            dtype = as_signed(value)
        elif number == _SHAPE:
            sizes = _read_sizes(as_bytes(value))
        else:
            values[number] = value
    if dtype not in _TYPES or any(size != 1 for size in sizes) or (sizes and not listed):
        return None
    return _read_number(dtype, values)


def _read_sizes(shape: bytes) -> list[int]:
    sizes = []
    for number, value in read_fields(shape):
        if number == _DIMENSION:
            sizes += [as_signed(size) for n, size in read_fields(as_bytes(value)) if n == _SIZE]
        elif number == _UNKNOWN_RANK and value:
            sizes.append(-1)
    return sizes


def _read_number(dtype: int, values: dict[int, Value]) -> float:
    code, field = _TYPES[dtype]
    content = as_bytes(values.get(_CONTENT, b""))
    if content:
        return _from_bits(dtype, _unpack_numbers(code, content))
    value = values.get(field, b"")
    if value == b"":
        return 0.0  # as TensorFlow reads it
    if dtype in _FLOATING:
        return float(_unpack_numbers(code, as_bytes(value)))
    number = read_varint(value, 0)[0] if isinstance(value, bytes) else value
    return _from_bits(dtype, number if dtype == _UNSIGNED_64 else as_signed(number))


def _unpack_numbers(code: str, data: bytes) -> float:
    if len(data) < calcsize(code):
        raise Malformed
    number: float = unpack_from(code, data)[0]
    return number


def _from_bits(dtype: int, number: float) -> float:
    """Returns the number; one of a 16-bit type is decoded from its bits."""
    if dtype not in (_HALF, _BFLOAT16):
        return float(number)
    bits = int(number) & 0xFFFF
    if dtype == _HALF:
        return _unpack_numbers("<e", pack("<H", bits))
    return _unpack_numbers("<f", pack("<I", bits << 16))


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
    """Returns the scalars in an event. Raises Malformed."""
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
    """Returns the tag of a value, and its number; None if it isn't a scalar."""
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
    """Returns the plugin that the tensor belongs to; b'' if unnamed (only the first value of a tag
    may name it).
    """
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
