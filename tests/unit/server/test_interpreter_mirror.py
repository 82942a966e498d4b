"""Whether uv could fetch an interpreter."""

from __future__ import annotations

import json
import platform
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from uv import find_uv_bin

from footplate.replica.environment.uv import Uv
from footplate.server.job_services import MachineInterpreters, can_fetch


class Heads(BaseHTTPRequestHandler):
    def do_HEAD(self) -> None:
        self.send_response(200 if self.path == "/there.tar.gz" else 404)
        self.end_headers()

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002
        pass


@pytest.fixture
def server() -> Iterator[str]:
    with ThreadingHTTPServer(("127.0.0.1", 0), Heads) as listening:
        thread = threading.Thread(target=listening.serve_forever, args=(0.05,))
        thread.start()
        yield f"http://127.0.0.1:{listening.server_address[1]}"
        listening.shutdown()
        thread.join()


def variables(tmp_path: Path, url: str) -> dict[str, str]:
    """Those of a machine without interpreters, for which uv knows one at ``url``."""
    machine = platform.machine()
    entry = {
        "name": "cpython",
        "os": "linux",
        "libc": "gnu",
        "prerelease": "",
        "variant": None,
        "arch": {"family": machine, "variant": None},
        "major": 3,
        "minor": 10,
        "patch": 99,
        "url": url,
        "sha256": "0" * 64,
        "build": "20260101",
    }
    listed = tmp_path / "downloads.json"
    listed.write_text(json.dumps({f"cpython-3.10.99-linux-{machine}-gnu": entry}))
    nothing = str(tmp_path)
    return {
        "PATH": nothing,
        "HOME": nothing,
        "UV_PYTHON_INSTALL_DIR": nothing,
        "UV_PYTHON_DOWNLOADS_JSON_URL": str(listed),
    }


def test_a_server_that_answers(tmp_path: Path, server: str) -> None:
    uv = Uv(find_uv_bin(), variables(tmp_path, f"{server}/there.tar.gz"))
    assert can_fetch("3.10", uv)
    assert not can_fetch("3.7", uv)
    assert not can_fetch("3.10", Uv(find_uv_bin(), variables(tmp_path, f"{server}/gone.tar.gz")))
    assert not can_fetch("3.10", Uv(find_uv_bin(), variables(tmp_path, "http://127.0.0.1:1/x")))


def test_a_folder(tmp_path: Path) -> None:
    archive = tmp_path / "a b.tar.gz"
    uv = Uv(find_uv_bin(), variables(tmp_path, archive.as_uri()))
    assert not can_fetch("3.10", uv)
    archive.touch()
    assert can_fetch("3.10", uv)


@pytest.mark.parametrize(
    ("more", "fetches", "said"),
    [
        ({}, True, None),
        ({}, False, "this machine has no Python interpreter for runtimes; install Python"),
        (
            {"UV_OFFLINE": "1"},
            True,
            "this machine has no Python interpreter for runtimes, and the server can't fetch",
        ),
        (
            {"UV_PYTHON_DOWNLOADS": "never"},
            True,
            "this machine has no Python interpreter for runtimes, and",
        ),
    ],
)
def test_a_job_is_taken_whose_python_can_be_fetched(
    tmp_path: Path, more: dict[str, str], said: str | None, *, fetches: bool
) -> None:
    archive = tmp_path / "python.tar.gz"
    archive.touch()
    environ = {**variables(tmp_path, archive.as_uri()), **more}
    machine = MachineInterpreters(
        (), tmp_path / "cache", find_uv_bin(), {"3.10"}, environ, fetches=fetches
    )
    fault = machine.fault("3.10")
    assert fault is None if said is None else (fault or "").startswith(said)
