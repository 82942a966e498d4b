"""The supervisor's own frames, against the library ``websockets`` as the oracle."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from websockets.frames import Frame, Opcode
from websockets.protocol import OPEN
from websockets.server import ServerProtocol

from footplate.replica.shell.websocket_frames import (
    BINARY,
    CLOSE,
    LONGEST_MESSAGE_BYTES,
    PING,
    PONG,
    TEXT,
    BadFrame,
    Frames,
    encode,
)

payloads = st.binary(max_size=300)
controls = st.tuples(st.sampled_from([PING, PONG]), st.binary(max_size=125))


@st.composite
def messages(draw: st.DrawFn) -> tuple[bytes, list[tuple[int, bytes]]]:
    """What a server sends, fragments and controls between them, and what it means."""
    sent, meant = b"", []
    for _ in range(draw(st.integers(0, 4))):
        opcode, parts = draw(st.sampled_from([TEXT, BINARY])), draw(st.lists(payloads, min_size=1))
        for index, part in enumerate(parts):
            last = index == len(parts) - 1
            kind = Opcode.CONT if index else Opcode(opcode)
            sent += Frame(kind, part, fin=last).serialize(mask=False)
            if last:
                meant.append((opcode, b"".join(parts)))
            for control, data in draw(st.lists(controls, max_size=1)):
                sent += Frame(Opcode(control), data).serialize(mask=False)
                meant.append((control, data))
    return sent, meant


@given(messages(), st.integers(1, 1000))
def test_messages_are_read_whatever_pieces_they_come_in(
    example: tuple[bytes, list[tuple[int, bytes]]], size: int
) -> None:
    sent, meant = example
    frames = Frames()
    found = []
    for start in range(0, len(sent), size):
        found += frames.feed(sent[start : start + size])
    assert found == meant


def understand(data: bytes) -> tuple[int, bytes, bool]:
    server = ServerProtocol(state=OPEN, max_size=None)
    server.receive_data(data)
    (event,) = server.events_received()
    assert isinstance(event, Frame)
    return event.opcode, bytes(event.data), event.fin


@given(st.sampled_from([TEXT, BINARY]), payloads, st.binary(min_size=4, max_size=4))
def test_a_server_understands_what_is_sent(opcode: int, payload: bytes, mask: bytes) -> None:
    assert understand(encode(opcode, payload, mask)) == (opcode, payload, True)


@pytest.mark.parametrize("length", [0, 125, 126, 127, 65535, 65536, 200_001])
def test_lengths_of_all_kinds_are_understood_on_both_sides(length: int) -> None:
    payload = bytes(index % 251 for index in range(length))
    assert understand(encode(BINARY, payload, b"mask")) == (BINARY, payload, True)
    sent = Frame(Opcode.BINARY, payload).serialize(mask=False)
    assert Frames().feed(sent) == [(BINARY, payload)]


def test_a_goodbye_is_understood() -> None:
    goodbye = (1000).to_bytes(2, "big")
    assert understand(encode(CLOSE, goodbye, b"mask")) == (CLOSE, goodbye, True)


@pytest.mark.parametrize(
    "data",
    [
        b"\x83\x00",  # an opcode that nobody knows
        b"\xc2\x00",  # an extension
        b"\x82\x80\x00\x00\x00\x00",  # masked
        b"\x80\x00",  # the rest of nothing
        b"\x02\x00\x82\x00",  # a message in the middle of another
        b"\x09\x00",  # a control in pieces
        b"\x89\x7e\x00\x7e",  # a control that is too long
        b"\x82\x7f" + (LONGEST_MESSAGE_BYTES + 1).to_bytes(8, "big"),
    ],
)
def test_what_is_against_the_protocol_is_refused(data: bytes) -> None:
    with pytest.raises(BadFrame):
        Frames().feed(data)


def test_a_message_in_endless_pieces_is_refused() -> None:
    frames = Frames()
    piece = Frame(Opcode.CONT, bytes(LONGEST_MESSAGE_BYTES // 2), fin=False).serialize(mask=False)
    frames.feed(Frame(Opcode.BINARY, b"", fin=False).serialize(mask=False) + piece + piece)
    with pytest.raises(BadFrame, match="without end"):
        frames.feed(Frame(Opcode.CONT, b"x", fin=False).serialize(mask=False))
