"""Scalars in events of either encoding."""

from __future__ import annotations

import math
import struct
from contextlib import suppress

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from footplate.replica.metrics.event_file import masked_crc32c
from footplate.replica.metrics.events import read_scalars
from footplate.replica.metrics.protobuf import Malformed, read_fields, read_varint
from tests.unit.replica_metrics.event_writer import (
    DT_FLOAT,
    DT_STRING,
    HEADER,
    crc32c,
    double,
    event,
    masked,
    number,
    scalar,
    simple,
    single,
    tensor,
    text,
    varint,
)

TELLING = 3.0


def read(data: bytes) -> list[tuple[str, int, float, float]]:
    return [(s.tag, s.step, s.value, s.time) for s in read_scalars(data)]


def read_one(held: bytes, plugin: str = "scalars") -> float | None:
    found = read(event(scalar("m", held, plugin)))
    return found[0][2] if found else None


def test_the_checksum() -> None:
    assert crc32c(b"123456789") == 0xE3069283  # that of RFC 3720's polynomial
    assert struct.pack("<I", masked_crc32c(b"123456789")) == masked(b"123456789")
    assert struct.pack("<I", masked_crc32c(b"")) == masked(b"")


@given(st.binary(max_size=200))
def test_the_checksum_of_anything(data: bytes) -> None:
    assert struct.pack("<I", masked_crc32c(data)) == masked(data)


def test_values_of_the_first_encoding() -> None:
    found = read(event(simple("val acc", 0.75), simple("loss", 2.5), step=7, time=12.5))
    assert found == [("val acc", 7, 0.75, 12.5), ("loss", 7, 2.5, 12.5)]


def test_values_that_are_not_numbers() -> None:
    ((_, _, first, _),) = read(event(simple("m", math.nan)))
    ((_, _, second, _),) = read(event(simple("m", -math.inf)))
    assert math.isnan(first)
    assert second == -math.inf


@pytest.mark.parametrize(
    ("dtype", "content"),
    [
        (1, struct.pack("<f", TELLING)),
        (2, struct.pack("<d", TELLING)),
        (3, struct.pack("<i", 3)),
        (4, b"\x03"),
        (5, struct.pack("<h", 3)),
        (6, b"\x03"),
        (9, struct.pack("<q", 3)),
        (14, struct.pack("<f", TELLING)[2:]),
        (17, struct.pack("<H", 3)),
        (19, struct.pack("<e", TELLING)),
        (22, struct.pack("<I", 3)),
        (23, struct.pack("<Q", 3)),
    ],
)
def test_tensors_by_their_content(dtype: int, content: bytes) -> None:
    assert read_one(tensor(dtype, text(4, content))) == TELLING
    with pytest.raises(Malformed):
        read_one(tensor(dtype, text(4, content[:-1]) if content[:-1] else b"\xff"))


HALF = int.from_bytes(struct.pack("<e", TELLING), "little")
BRAIN = int.from_bytes(struct.pack("<f", TELLING)[2:], "little")


@pytest.mark.parametrize(
    ("dtype", "value"),
    [
        (1, single(5, TELLING)),
        (1, text(5, struct.pack("<f", TELLING))),
        (2, double(6, TELLING)),
        (2, text(6, struct.pack("<d", TELLING))),
        *((dtype, number(7, 3)) for dtype in (3, 4, 5, 6, 17)),
        (3, text(7, varint(3))),
        (9, text(10, varint(3))),
        (19, number(13, HALF)),
        (14, text(13, varint(BRAIN))),
        (22, number(16, 3)),
        (23, number(17, 3)),
    ],
)
def test_tensors_by_their_values(dtype: int, value: bytes) -> None:
    assert read_one(tensor(dtype, value)) == TELLING


def test_signs_and_sizes_of_integers() -> None:
    assert read_one(tensor(3, number(7, -3))) == -3
    assert read_one(tensor(9, number(10, -(2**63)))) == -(2.0**63)
    assert read_one(tensor(23, number(17, 2**64 - 1))) == 2.0**64
    assert read_one(tensor(10, number(11, 1))) == 1.0


def test_a_tensor_that_says_no_value_is_zero() -> None:
    assert read_one(tensor(DT_FLOAT)) == 0.0


def test_what_is_no_scalar() -> None:
    ones = text(4, struct.pack("<ff", 1, 1))
    assert read_one(tensor(DT_FLOAT, ones, sizes=(2,))) is None
    assert read_one(tensor(DT_FLOAT, text(4, b""), sizes=(0,))) is None
    assert read_one(tensor(DT_STRING, text(8, b"hello"))) is None
    assert read_one(tensor(0)) is None
    assert read_one(tensor(DT_FLOAT, single(5, 1.0)), plugin="histograms") is None
    assert read_one(number(1, DT_FLOAT) + text(2, number(3, 1)) + single(5, 1.0)) is None
    assert read(event(text(1, b"image") + text(4, b"png"))) == []
    assert read(HEADER) == []


def test_a_list_of_one_number_is_a_scalar_if_it_is_called_so() -> None:
    one = tensor(DT_FLOAT, single(5, TELLING), sizes=(1, 1))
    assert read_one(one) == TELLING
    assert read_one(one, plugin="") is None
    assert read_one(one, plugin="hparams") is None
    assert read_one(tensor(DT_FLOAT, single(5, TELLING)), plugin="") == TELLING


def test_fields_that_nobody_knows_are_passed_over() -> None:
    strange = number(99, 1) + double(98, 1.0) + single(97, 1.0) + text(96, b"x")
    assert read(strange + event(strange + simple("m", 1.0)) + strange) == [("m", 0, 1.0, 1000.0)]


@pytest.mark.parametrize(
    "data",
    [
        b"\x80",
        b"\xff" * 11,
        number(1, 5),
        text(1, b"short"),
        text(5, b"\x0a\xff"),
        text(5, number(1, 3)),
        varint(5 << 3 | 2) + varint(2**40),
        varint(5 << 3 | 3),
        double(2, 1.0),
    ],
)
def test_what_is_no_event(data: bytes) -> None:
    with pytest.raises(Malformed):
        read_scalars(data)


@given(st.integers(0, 2**64 - 1), st.binary(max_size=3))
def test_numbers_of_any_size(value: int, rest: bytes) -> None:
    assert read_varint(varint(value) + rest, 0) == (value, len(varint(value)))


@given(st.binary(max_size=300))
@example(text(5, text(1, text(8, b"\x08\x01\x12\x02\x12\x00"))))
def test_whatever_is_there_is_read_or_refused(data: bytes) -> None:
    with suppress(Malformed):
        list(read_fields(data))
    with suppress(Malformed):
        read_scalars(data)


@given(st.data())
def test_damaged_events_are_read_or_refused(data: st.DataObject) -> None:
    whole = bytearray(event(scalar("m", tensor(2, text(4, b"12345678"), sizes=(1,))), step=300))
    for _ in range(data.draw(st.integers(1, 4))):
        whole[data.draw(st.integers(0, len(whole) - 1))] = data.draw(st.integers(0, 255))
    with suppress(Malformed):
        assert len(read_scalars(bytes(whole))) <= 3
