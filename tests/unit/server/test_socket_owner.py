"""Whose a connection is, as the kernel says it."""

from __future__ import annotations

import errno
import os
import socket
import struct
import sys

import pytest

from footplate.server.socket_owner import (
    Endpoint,
    SocketOwner,
    encode_request,
    find_owner,
    is_available,
    parse_answer,
)

CLIENT, SERVER = Endpoint("127.0.0.1", 40000), Endpoint("127.0.0.1", 8470)


def answer(kind: int, body: bytes) -> bytes:
    return struct.pack("=IHHII", 16 + len(body), kind, 0, 0, 0) + body


def test_a_request_names_both_ends() -> None:
    request = encode_request(CLIENT, SERVER)
    assert len(request) == 72
    assert struct.unpack_from("=IHH", request) == (72, 20, 1)
    assert struct.unpack_from("=BBB", request, 16) == (socket.AF_INET, socket.IPPROTO_TCP, 0)
    assert struct.unpack_from("!HH4s", request, 24) == (40000, 8470, bytes([127, 0, 0, 1]))
    assert request[44:48] == bytes([127, 0, 0, 1])
    assert request[-8:] == b"\xff" * 8


def test_a_request_may_be_of_version_6() -> None:
    request = encode_request(Endpoint("::1", 1), Endpoint("::1", 2))
    assert request[16] == socket.AF_INET6
    assert request[28:44] == bytes(15) + b"\1"


def test_a_host_is_an_address() -> None:
    with pytest.raises(ValueError, match="localhost"):
        encode_request(Endpoint("localhost", 1), SERVER)


def test_an_answer_has_the_user_the_inode_and_the_cookie() -> None:
    body = bytes(4) + bytes(40) + struct.pack("=Q", 7 << 32 | 5)
    body += struct.pack("=IIIII", 0, 0, 0, 1000, 4711)
    assert parse_answer(answer(20, body)) == SocketOwner(1000, 4711, 7 << 32 | 5)


def test_no_such_socket() -> None:
    assert parse_answer(answer(2, struct.pack("=i", -errno.ENOENT))) is None


@pytest.mark.parametrize(
    "given",
    [
        b"",
        b"\0" * 15,
        answer(20, bytes(71)),
        answer(3, bytes(100)),
        answer(2, b""),
        answer(2, struct.pack("=i", -errno.EPERM)),
    ],
)
def test_what_is_no_answer_is_an_error(given: bytes) -> None:
    with pytest.raises(OSError, match=r".+"):
        parse_answer(given)


@pytest.mark.skipif(not is_available(), reason="this kernel has no sock_diag")
def test_the_kernel_says_whose_a_connection_is() -> None:
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
        listener.accept()[0] as accepted,
    ):
        ends = Endpoint(*client.getsockname()), Endpoint(*client.getpeername())
        owner = find_owner(*ends)
        assert owner is not None
        assert owner.inode == os.fstat(client.fileno()).st_ino
        assert owner.uid == os.geteuid()
        other = find_owner(*reversed(ends))
        assert other is not None
        assert other.inode == os.fstat(accepted.fileno()).st_ino
        assert other.cookie != owner.cookie
        client.close()
        closed = find_owner(*ends)
        assert closed is None or not closed.inode


@pytest.mark.skipif(sys.platform == "linux", reason="is about systems without netlink")
def test_other_systems_say_nothing() -> None:
    assert not is_available()
