"""An upload that a program began while its key was valid, and ends when it is void."""

from __future__ import annotations

import socket
from collections.abc import Iterator
from importlib import import_module
from urllib.parse import urlsplit

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException

from footplate.api.errors import answer_router_error, answer_service_error
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import NotFound, PermissionDenied, ServiceError
from footplate.ports.object_storage import Draft
from tests.support.http_server import serve

SIZE = 200_000
"""So long that a thread takes the body while it arrives."""


class Keys:
    valid = True
    checks = 0

    def check(self, key: str) -> None:
        self.checks += 1
        if not self.valid:
            raise PermissionDenied("replica worker-replica-0 has started again")


@pytest.fixture
def keys() -> Keys:
    return Keys()


@pytest.fixture
def url(buckets: FolderBuckets, keys: Keys) -> Iterator[str]:
    mount = program_routes("/programs", keys.check, lambda _: storage_routes(buckets))
    handlers = {ServiceError: answer_service_error, HTTPException: answer_router_error}
    with serve(Starlette(routes=[mount], exception_handlers=handlers)) as found:
        yield found


class SlowUpload:
    """The node is cut off after the first half, and the network heals then."""

    def __init__(self, url: str, method: str, path: str, keys: Keys) -> None:
        parts = urlsplit(url)
        self._socket = socket.create_connection((parts.hostname, parts.port), 60)
        head = f"{method} /programs/KEY{path} HTTP/1.1\r\nHost: 127.0.0.1\r\n"
        self._send(f"{head}Content-Length: {SIZE}\r\nConnection: close\r\n\r\n".encode())
        while not keys.checks:  # the call is being served
            pass
        self._send(b"x" * (SIZE // 2))

    def _send(self, content: bytes) -> None:
        self._socket.sendall(content)

    def end(self) -> int:
        """Returns the status of the answer."""
        with self._socket:
            self._send(b"x" * (SIZE // 2))
            answer = b""
            while b"\r\n" not in answer:
                answer += self._socket.recv(65536)
        return int(answer.split(b" ")[1])


def check_at_end(monkeypatch: pytest.MonkeyPatch) -> None:
    """However short the upload is."""
    module = import_module("footplate.api.storage_v1.program_routes")  # a function hides its name
    monkeypatch.setattr(module, "CHECKED_S", 0.0)


MEDIA = ("POST", "/upload/storage/v1/b/stage/o?uploadType=media&name=model")


def begin_resumable(buckets: FolderBuckets) -> tuple[str, str]:
    upload_id = buckets.begin_upload(Draft("stage", "model"))
    path = f"/upload/storage/v1/b/stage/o?uploadType=resumable&upload_id={upload_id}"
    return "PUT", path


@pytest.mark.parametrize("resumable", [False, True])
def test_an_upload_whose_key_is_void_at_its_end_makes_no_object(
    url: str,
    keys: Keys,
    buckets: FolderBuckets,
    monkeypatch: pytest.MonkeyPatch,
    resumable: bool,  # noqa: FBT001
) -> None:
    check_at_end(monkeypatch)
    method, path = begin_resumable(buckets) if resumable else MEDIA
    upload = SlowUpload(url, method, path, keys)
    keys.valid = False
    assert upload.end() == 403
    with pytest.raises(NotFound):
        buckets.stat("stage", "model")


def test_an_upload_that_takes_long_is_kept_while_its_key_is_valid(
    url: str, keys: Keys, buckets: FolderBuckets, monkeypatch: pytest.MonkeyPatch
) -> None:
    check_at_end(monkeypatch)
    assert SlowUpload(url, *MEDIA, keys).end() == 200
    assert buckets.stat("stage", "model").size_bytes == SIZE
    assert keys.checks == 2


def test_a_short_upload_is_checked_once(url: str, keys: Keys, buckets: FolderBuckets) -> None:
    assert SlowUpload(url, *MEDIA, keys).end() == 200
    assert keys.checks == 1
