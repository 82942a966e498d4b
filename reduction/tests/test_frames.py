from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate_reduction.frames import HEADER_BYTES, FrameType, Header, Op, WireType

words = st.integers(0, (1 << 32) - 1)
headers = st.builds(
    Header,
    st.sampled_from(list(FrameType)),
    st.sampled_from(list(WireType)),
    st.sampled_from(list(Op)),
    words,
    words,
    st.integers(0, (1 << 64) - 1),
    words,
    words,
)


@given(headers)
def test_what_is_packed_is_unpacked(header: Header) -> None:
    packed = header.pack()
    assert len(packed) == HEADER_BYTES == 32
    assert Header.unpack(packed) == header


def test_the_bytes_are_those_of_the_protocol() -> None:
    header = Header(FrameType.DATA, WireType.BFLOAT16, Op.AVERAGE, 0x01020304, 5, 6, 7, 8)
    packed = header.pack()
    assert packed[:8] == b"FPR1\x04\x02\x01\x00"
    assert packed[8:16] == b"\x04\x03\x02\x01\x05\x00\x00\x00"
    assert packed[16:] == b"\x06\0\0\0\0\0\0\0\x07\0\0\0\x08\0\0\0"


@given(st.binary(min_size=32, max_size=32))
def test_other_bytes_are_a_value_error_or_a_header_of_the_same_bytes(packed: bytes) -> None:
    try:
        header = Header.unpack(packed)
    except ValueError:
        return
    assert header.pack() == packed


@pytest.mark.parametrize("at", [0, 1, 2, 3, 4, 5, 6, 7])
def test_one_wrong_byte_of_what_is_fixed_is_no_frame(at: int) -> None:
    packed = bytearray(Header(FrameType.BYE).pack())
    packed[at] = 0xFF
    with pytest.raises(ValueError, match=r"not a frame|not a valid"):
        Header.unpack(packed)
