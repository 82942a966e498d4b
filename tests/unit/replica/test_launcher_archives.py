"""Launchers of one gang fetch the same archive at once, into a scratch that they may share."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from footplate.replica.launcher import bootstrap
from tests.support.http_server import serve

PARTS = [bytes([number]) * bootstrap.CHUNK_BYTES for number in range(1, 3)]
DIGEST = hashlib.sha256(b"".join(PARTS)).hexdigest()
LIMIT_S = 60


class Meeting:
    """Each of two answers goes on when the other one has come halfway, too."""

    def __init__(self) -> None:
        self._halfway = threading.Barrier(2)

    def _content(self) -> Iterator[bytes]:
        yield PARTS[0]
        self._halfway.wait(LIMIT_S)
        yield PARTS[1]

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        await StreamingResponse(self._content())(scope, receive, send)


def test_those_with_the_same_number_of_a_process_do_not_mix(tmp_path: Path) -> None:
    """In containers most have the same."""
    with serve(Meeting()) as url, ThreadPoolExecutor(2) as pool:
        facts = {"url": url, "authority": "", "token": "token"}
        fetching = [pool.submit(bootstrap.fetch, facts, DIGEST, str(tmp_path)) for _ in range(2)]
        paths = {each.result(LIMIT_S) for each in fetching}
    assert paths == {str(tmp_path / f"{DIGEST}.pyz")}
    assert [each.name for each in tmp_path.iterdir()] == [f"{DIGEST}.pyz"]
    assert hashlib.sha256((tmp_path / f"{DIGEST}.pyz").read_bytes()).hexdigest() == DIGEST
