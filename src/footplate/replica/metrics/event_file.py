"""Reads a growing TensorFlow record file incrementally.

A record is its length (8 bytes) with a checksum, then its data with a checksum.
"""

from __future__ import annotations

from struct import unpack_from

from footplate.replica.metrics.safe_open import read_piece, stamp

TYPE_CHECKING = False  # without the module typing, which would cost memory

if TYPE_CHECKING:
    import os
    from typing import Callable, Union

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
    """Returns the masked CRC-32C of the data. It takes a tenth of a second for a MiB."""
    table, crc = _TABLE, _ALL
    for byte in data:
        crc = table[(crc ^ byte) & 255] ^ crc >> 8
    crc ^= _ALL
    return ((crc >> 15 | crc << 17) + _MASK_DELTA) & _ALL


PIECE_BYTES = 32768
LONGEST_RECORD_BYTES = 1 << 20
"""Longer ones, graphs and images, are passed over."""
_HEAD_BYTES = 12
_FRAME_BYTES = 16


class EventFile:
    """A file of events. Each record that is read from it names ``source``."""

    __slots__ = ("_file", "_stamp", "ended", "has_scalars", "offset", "path", "size", "source")

    def __init__(self, path: str, source: str) -> None:
        self.path = path
        self.source = source
        self.has_scalars = False
        """Whether a scalar was found; records that nobody wants aren't looked into."""
        self.size = 0
        """The size in bytes when all of it was read."""
        self.offset = 0
        """Up to here it has been read."""
        self.ended = False
        """What follows is corrupt."""
        self._file = (0, 0)
        self._stamp: tuple[int, int, int] | None = None

    def changed(self, status: os.stat_result) -> bool:
        """Returns whether there is something to read. A file that was replaced is read from its
        start.
        """
        file = status.st_dev, status.st_ino
        if file != self._file or status.st_size < self.offset:
            self._file, self.offset, self.ended = file, 0, False
        return not self.ended and stamp(status) != self._stamp

    def settle(self, status: os.stat_result) -> None:
        """Notes that everything that the file had at ``status`` has been read."""
        self._stamp = stamp(status)
        self.size = status.st_size

    def read(self, size: int, wants: Callable[[bytes], bool], take: Callable[[bytes], None]) -> int:
        """Reads some of the next records; returns how many bytes, 0 if no record is complete.

        ``size`` is the file's size. ``take`` gets the records for which ``wants`` returns True;
        only their data is checked.

        Raises Corrupt if the next record is damaged; the rest of the file is given up.
        """
        data = read_piece(self.path, PIECE_BYTES, self.offset)
        length = self._read_length(data, 0)
        if length is None:
            return 0
        whole = _FRAME_BYTES + length
        if length > LONGEST_RECORD_BYTES:
            return self._pass_over(whole, size)
        if whole > len(data):
            data = read_piece(self.path, whole, self.offset)
        begin, place = self.offset, 0
        while length is not None and place + _FRAME_BYTES + length <= len(data):
            body = data[place + _HEAD_BYTES : place + _HEAD_BYTES + length]
            if wants(body):
                self._check(body, data, place + _HEAD_BYTES + length)
                take(body)
            place += _FRAME_BYTES + length
            self.offset = begin + place
            length = self._read_length(data, place)
        return place

    def _pass_over(self, whole: int, size: int) -> int:
        if self.offset + whole > size:
            return 0
        self.offset += whole
        return _HEAD_BYTES

    def _read_length(self, data: bytes, place: int) -> int | None:
        """Returns the next record's length; None if its bytes aren't all there yet."""
        if len(data) - place < _HEAD_BYTES:
            return None
        self._check(data[place : place + 8], data, place + 8)
        length: int = unpack_from("<Q", data, place)[0]
        return length

    def _check(self, content: bytes, data: bytes, place: int) -> None:
        if masked_crc32c(content) != unpack_from("<I", data, place)[0]:
            self.ended = True
            raise Corrupt(f"the record at byte {self.offset} is damaged")


class Corrupt(Exception):
    """Error of a file of events with a wrong record; the message says where."""
