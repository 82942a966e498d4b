"""Client-side WebSocket frames (RFC 6455), without a socket.

What a client sends is masked; what it receives isn't.
"""

from __future__ import annotations

TYPE_CHECKING = False  # without the module typing, which isn't needed
if TYPE_CHECKING:
    from typing import List, Tuple

CONTINUATION = 0
TEXT = 1
BINARY = 2
CLOSE = 8
PING = 9
PONG = 10

LONGEST_MESSAGE_BYTES = 1 << 20
MASK_BYTES = 4
_DATA = (CONTINUATION, TEXT, BINARY)
_CONTROLS = (CLOSE, PING, PONG)
_LONGEST_CONTROL_BYTES = 125
_FIN = 0x80
_MASKED = 0x80
_TWO_BYTES = 126
_EIGHT_BYTES = 127


class BadFrame(Exception):
    """Error of data that doesn't follow the protocol."""


def encode(opcode: int, payload: bytes, mask: bytes) -> bytes:
    """Returns a message, or a control, as one frame; ``mask`` is four random bytes."""
    length = len(payload)
    if length < _TWO_BYTES:
        head = bytes([_FIN | opcode, _MASKED | length])
    elif length < 1 << 16:
        head = bytes([_FIN | opcode, _MASKED | _TWO_BYTES]) + length.to_bytes(2, "big")
    else:
        head = bytes([_FIN | opcode, _MASKED | _EIGHT_BYTES]) + length.to_bytes(8, "big")
    return head + mask + _apply(mask, payload)


def _apply(mask: bytes, payload: bytes) -> bytes:
    """Returns the payload with the mask applied to whole numbers: byte by byte would be a hundred
    times slower.
    """
    length = len(payload)
    repeated = (mask * (length // MASK_BYTES + 1))[:length]
    number = int.from_bytes(payload, "big") ^ int.from_bytes(repeated, "big")
    return number.to_bytes(length, "big")


class Frames:
    """The reader of messages and control frames from pieces of any size."""

    def __init__(self) -> None:
        self._buffer = bytearray()
        self._opcode = CONTINUATION
        """What the message is that isn't complete yet; CONTINUATION: there is none."""
        self._parts = bytearray()

    def feed(self, data: bytes) -> List[Tuple[int, bytes]]:
        """Returns the messages and controls that ``data`` completes, with their opcodes.

        Raises BadFrame: nothing that follows can be understood.
        """
        self._buffer += data
        found: List[Tuple[int, bytes]] = []
        while True:
            frame = self._cut_frame()
            if frame is None:
                return found
            message = self._take(*frame)
            if message is not None:
                found.append(message)

    def _cut_frame(self) -> Tuple[int, bool, bytes] | None:
        """Returns opcode, whether the frame is the last of its message, and payload; None if it
        isn't complete.
        """
        buffer = self._buffer
        if len(buffer) < 2:
            return None
        opcode, last = buffer[0] & 0x0F, bool(buffer[0] & _FIN)
        _check_head(buffer[0], buffer[1], last=last)
        length, start = buffer[1], 2
        if length >= _TWO_BYTES:
            start = 4 if length == _TWO_BYTES else 10
            if len(buffer) < start:
                return None
            length = int.from_bytes(buffer[2:start], "big")
        if length > LONGEST_MESSAGE_BYTES:
            raise BadFrame(f"a frame of {length} bytes")
        if len(buffer) < start + length:
            return None
        payload = bytes(buffer[start : start + length])
        del buffer[: start + length]
        return opcode, last, payload

    def _take(self, opcode: int, last: bool, payload: bytes) -> Tuple[int, bytes] | None:  # noqa: FBT001
        if opcode in _CONTROLS:
            return opcode, payload
        if (opcode == CONTINUATION) != bool(self._opcode):
            raise BadFrame("a message is in the middle of another, or without a beginning")
        self._opcode = self._opcode or opcode
        self._parts += payload
        if len(self._parts) > LONGEST_MESSAGE_BYTES:
            raise BadFrame("a message without end")
        if not last:
            return None
        message = self._opcode, bytes(self._parts)
        self._opcode, self._parts = CONTINUATION, bytearray()
        return message


def _check_head(first: int, second: int, *, last: bool) -> None:
    opcode = first & 0x0F
    if first & 0x70:
        raise BadFrame("the frame uses an extension that was not requested")
    if opcode not in _DATA and opcode not in _CONTROLS:
        raise BadFrame(f"opcode {opcode}")
    if second & _MASKED:
        raise BadFrame("the server sent a masked frame")
    if opcode in _CONTROLS and (second > _LONGEST_CONTROL_BYTES or not last):
        raise BadFrame("a control frame is too long, or in pieces")
