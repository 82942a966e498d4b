"""The Docker API as bytes: who answers, what is refused, and output in frames."""

from __future__ import annotations

import io
import socket
import tarfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.containers.engine_api import (
    Attachment,
    Engine,
    EngineError,
    EngineGone,
    _find_home,
    _quote,
)
from tests.unit.containers.fake_socket import answering, answering_each


@pytest.mark.parametrize(
    ("field", "name"),
    [
        (b"Server: Libpod/4.3.1 (linux)\r\n", "Podman 4.3.1"),
        (b"server: Docker/20.10.24+dfsg1 (linux)\r\n", "Docker 20.10.24+dfsg1"),
        (b"", "Docker"),
    ],
)
def test_an_engine_says_who_it_is(tmp_path: Path, field: bytes, name: str) -> None:
    answer = b"HTTP/1.1 200 OK\r\nApi-Version: 1.41\r\n" + field + b"Content-Length: 2\r\n\r\nOK"
    with answering(tmp_path / "s", answer[:30], answer[30:]) as asked:
        assert Engine(str(tmp_path / "s")).identify() == name
    assert asked[0].startswith(b"GET /_ping HTTP/1.1\r\n")


def test_what_answers_nothing_is_gone(tmp_path: Path) -> None:
    engine = Engine(str(tmp_path / "s"))
    with pytest.raises(EngineGone):
        engine.identify()
    with answering(tmp_path / "s"), pytest.raises(EngineGone):
        engine.identify()


def _answer(status: str, body: bytes) -> bytes:
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n"
    return head.encode() + body


@pytest.mark.parametrize(
    ("body", "message"),
    [
        (b'{"message": "no such image"}', "no such image"),
        (b'{"cause": "a cause", "response": 500}', "a cause"),
        (b"page not found\n", "page not found"),
        (b"", "no reason given"),
        (b"[1]", "[1]"),
    ],
)
def test_a_refusal_is_in_the_engines_words(tmp_path: Path, body: bytes, message: str) -> None:
    with (
        answering(tmp_path / "s", _answer("500 Oops", body)),
        pytest.raises(EngineError) as refused,
    ):
        Engine(str(tmp_path / "s")).start("c")
    assert (refused.value.status, str(refused.value)) == (500, message)


@pytest.mark.parametrize("answer", [_answer("200 OK", b"{"), b"SSH-2.0-OpenSSH\r\n", b"HTTP/1.1 2"])
def test_what_makes_no_sense_is_no_engine(tmp_path: Path, answer: bytes) -> None:
    with answering(tmp_path / "s", answer), pytest.raises(EngineGone):
        Engine(str(tmp_path / "s")).inspect("c")


def test_an_image_that_is_not_there_is_none(tmp_path: Path) -> None:
    with answering(tmp_path / "s", _answer("404 Not Found", b"{}")) as asked:
        assert Engine(str(tmp_path / "s")).inspect_image("host:5000/a b@sha256:0") is None
    assert asked[0].startswith(b"GET /images/host:5000/a%20b@sha256:0/json HTTP/1.1")


def test_a_path_can_not_leave_its_place() -> None:
    assert _quote("a?b#c\r\nd é") == "a%3Fb%23c%0D%0Ad%20%C3%A9"


def _frame(stream: int, data: bytes) -> bytes:
    return bytes([stream, 0, 0, 0]) + len(data).to_bytes(4, "big") + data


@pytest.fixture
def pair() -> Iterator[tuple[socket.socket, socket.socket]]:
    ours, theirs = socket.socketpair()
    with ours, theirs:
        yield ours, theirs


def _read_all(attachment: Attachment) -> list[tuple[int, bytes]]:
    pieces: list[tuple[int, bytes]] = []
    while (read := attachment.read()) is not None:
        pieces += read
    return pieces


@pytest.mark.parametrize("cut", range(0, 30, 3))
def test_frames_may_be_cut_anywhere(pair: tuple[socket.socket, socket.socket], cut: int) -> None:
    ours, theirs = pair
    sent = _frame(1, b"out\n") + _frame(2, b"err\n") + _frame(1, b"more")
    attachment = Attachment(ours, sent[:cut], multiplexed=True)
    assert attachment.has_early == bool(cut)
    theirs.sendall(sent[cut:])
    theirs.close()

    pieces = _read_all(attachment)
    assert b"".join(data for stream, data in pieces if stream == 1) == b"out\nmore"
    assert b"".join(data for stream, data in pieces if stream == 2) == b"err\n"


def test_a_frame_that_ends_too_early_is_an_engine_that_is_gone(
    pair: tuple[socket.socket, socket.socket],
) -> None:
    ours, theirs = pair
    theirs.sendall(_frame(1, b"half")[:-2])
    theirs.close()
    with pytest.raises(EngineGone):
        _read_all(Attachment(ours, b"", multiplexed=True))


def test_a_terminal_has_no_frames(pair: tuple[socket.socket, socket.socket]) -> None:
    ours, theirs = pair
    theirs.sendall(b"\x01\0\0\0\0\0\0\x05")
    theirs.close()
    assert _read_all(Attachment(ours, b"$ ", multiplexed=False)) == [
        (1, b"$ "),
        (1, b"\x01\0\0\0\0\0\0\x05"),
    ]


PASSWD = "root:x:0:0:root:/root:/bin/sh\ntrainer:x:1000:1000::/home/trainer:/bin/sh\nodd:x\n"


@pytest.mark.parametrize(
    ("user", "home"),
    [
        ("trainer", "/home/trainer"),
        ("1000", "/home/trainer"),
        ("0", "/root"),
        ("odd", ""),
        ("", ""),
    ],
)
def test_a_home_is_found_by_name_and_by_number(user: str, home: str) -> None:
    assert _find_home(_pack(PASSWD), user) == home


def _pack(passwd: str) -> bytes:
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        info = tarfile.TarInfo("passwd")
        info.size = len(passwd)
        archive.addfile(info, io.BytesIO(passwd.encode()))
    return file.getvalue()


_OK, _MISSING = "200 OK", "404 Not Found"


@pytest.mark.parametrize(
    ("user", "statuses", "has"),
    [
        ("trainer", (_OK, _OK), True),
        ("1000:100", (_OK, _OK), True),
        ("trainer", (_OK, _MISSING), False),
        ("trainer", (_MISSING,), False),
        ("stranger", (_OK,), False),
        ("nobody", (_OK,), False),
    ],
)
def test_a_user_has_a_home_that_is_a_directory_of_the_container(
    tmp_path: Path, user: str, statuses: tuple[str, ...], *, has: bool
) -> None:
    passwd = _pack(PASSWD + "nobody:x:65534:65534::/:/bin/false\n")
    answers = [[_answer(status, passwd if n == 0 else b"")] for n, status in enumerate(statuses)]
    with answering_each(tmp_path / "s", *answers) as asked:
        assert Engine(str(tmp_path / "s")).has_home("c", user) is has
    paths = [b"GET /containers/c/archive?path=/etc/passwd "]
    paths += [b"HEAD /containers/c/archive?path=/home/trainer "]
    assert all(each.startswith(path) for each, path in zip(asked, paths, strict=False))
    assert len(asked) == len(statuses)
