"""Asks the kernel who owns the other end of a TCP connection on this machine (``sock_diag``)."""

from __future__ import annotations

import errno
import os
import socket
import struct
from dataclasses import dataclass
from ipaddress import ip_address
from typing import NamedTuple

_NETLINK_SOCK_DIAG = 4
_SOCK_DIAG_BY_FAMILY = 20
_NLM_F_REQUEST = 1
_NLMSG_ERROR = 2
_HEADER = struct.Struct("=IHHII")
"""nlmsghdr: length, type, flags, sequence, port."""
_REQUEST = struct.Struct("=BBBxI")
"""inet_diag_req_v2 up to its inet_diag_sockid: family, protocol, extensions, states."""
_PORTS = struct.Struct("!HH")
_ADDRESS_BYTES = 16
_NO_COOKIE = struct.pack("=III", 0, 0xFFFFFFFF, 0xFFFFFFFF)
"""The end of an inet_diag_sockid: any interface, any cookie."""
_ANSWER_HEAD_BYTES = 4
_SOCKID_BYTES = 48
_COOKIE = struct.Struct("=Q")
_ANSWER_TAIL = struct.Struct("=IIIII")
"""inet_diag_msg behind its inet_diag_sockid: expires, two queues, uid, inode."""
_ERROR = struct.Struct("=i")
_ALL_STATES = 0xFFFFFFFF
_MAX_ANSWER_BYTES = 8192


class Endpoint(NamedTuple):
    host: str
    port: int


@dataclass(frozen=True)
class SocketOwner:
    """The owner of a socket. ``inode`` 0: no process has the socket any more, and ``uid`` is
    invalid.

    ``cookie`` is never given to another socket before the machine restarts.
    """

    uid: int
    inode: int
    cookie: int


def find_owner(end: Endpoint, other: Endpoint) -> SocketOwner | None:
    """Returns the owner of the socket bound to ``end`` and connected to ``other``, or None.

    Raises OSError if this system can't tell.
    """
    family = getattr(socket, "AF_NETLINK", None)
    if family is None:
        raise OSError(errno.EAFNOSUPPORT, os.strerror(errno.EAFNOSUPPORT))
    with socket.socket(family, socket.SOCK_DGRAM, _NETLINK_SOCK_DIAG) as channel:
        channel.send(encode_request(end, other))
        # The kernel answers a request for one socket within `send`, so there is nothing to wait
        # for.
        return parse_answer(channel.recv(_MAX_ANSWER_BYTES, socket.MSG_DONTWAIT))


def is_available() -> bool:
    """Returns whether the kernel reports the owners of connections; tries it with one.

    Raises OSError if this can't be determined now.
    """
    try:
        with (
            socket.create_server(("127.0.0.1", 0)) as listener,
            socket.create_connection(listener.getsockname()[:2]) as client,
        ):
            owner = find_owner(Endpoint(*client.getsockname()), Endpoint(*client.getpeername()))
            return owner is not None and owner.inode == os.fstat(client.fileno()).st_ino
    except OSError as error:
        if error.errno in (errno.EMFILE, errno.ENFILE, errno.ENOMEM, errno.ENOBUFS):
            raise
        return False


def encode_request(end: Endpoint, other: Endpoint) -> bytes:
    """Returns the request for one socket. Raises ValueError if a host isn't an address."""
    version = ip_address(end.host).version
    family = socket.AF_INET if version == 4 else socket.AF_INET6
    body = (
        _REQUEST.pack(family, socket.IPPROTO_TCP, 0, _ALL_STATES)
        + _PORTS.pack(end.port, other.port)
        + ip_address(end.host).packed.ljust(_ADDRESS_BYTES, b"\0")
        + ip_address(other.host).packed.ljust(_ADDRESS_BYTES, b"\0")
        + _NO_COOKIE
    )
    size = _HEADER.size + len(body)
    return _HEADER.pack(size, _SOCK_DIAG_BY_FAMILY, _NLM_F_REQUEST, 0, 0) + body


def parse_answer(answer: bytes) -> SocketOwner | None:
    """Returns the owner; None if there is no such socket. Raises OSError if the kernel refused."""
    if len(answer) < _HEADER.size:
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
    _, kind, _, _, _ = _HEADER.unpack_from(answer)
    body = answer[_HEADER.size :]
    if kind == _NLMSG_ERROR and len(body) >= _ERROR.size:
        number = -_ERROR.unpack_from(body)[0]
        if number == errno.ENOENT:
            return None
        raise OSError(number, os.strerror(number))
    tail = _ANSWER_HEAD_BYTES + _SOCKID_BYTES
    if kind != _SOCK_DIAG_BY_FAMILY or len(body) < tail + _ANSWER_TAIL.size:
        raise OSError(errno.EBADMSG, os.strerror(errno.EBADMSG))
    _, _, _, uid, inode = _ANSWER_TAIL.unpack_from(body, tail)
    (cookie,) = _COOKIE.unpack_from(body, tail - _COOKIE.size)
    return SocketOwner(uid, inode, cookie)
