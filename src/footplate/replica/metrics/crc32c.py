"""CRC-32C, masked as in TensorFlow's record files."""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Union

    Bytes = Union[bytes, memoryview]

_POLYNOMIAL = 0x82F63B78
_MASK_DELTA = 0xA282EAD8
_ALL = 0xFFFFFFFF


def _entry(byte: int) -> int:
    for _ in range(8):
        byte = byte >> 1 ^ (_POLYNOMIAL if byte & 1 else 0)
    return byte


_TABLE = tuple(_entry(byte) for byte in range(256))


def masked_crc32c(data: Bytes) -> int:
    """Takes a tenth of a second for a MiB."""
    table, crc = _TABLE, _ALL
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= _ALL
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL
