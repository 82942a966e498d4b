"""Launchers of one gang fetch the same archive at once, into a scratch that they may share."""

from __future__ import annotations

import hashlib
import json
import subprocess
import threading
import zipfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from importlib.util import MAGIC_NUMBER
from pathlib import Path

import pytest
from starlette.responses import StreamingResponse
from starlette.types import Receive, Scope, Send

from footplate.replica.launcher import bootstrap
from footplate.replica.supervisor_archive import build_archive
from tests.support.http_server import serve
from tests.support.interpreters import find_interpreters, version_of

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
        facts = {"url": url, "authority": "", "token": "token", "bytecode": ""}
        fetching = [pool.submit(bootstrap.fetch, facts, DIGEST, str(tmp_path)) for _ in range(2)]
        paths = {each.result(LIMIT_S) for each in fetching}
    assert paths == {str(tmp_path / f"{DIGEST}.pyz")}
    assert [each.name for each in tmp_path.iterdir()] == [f"{DIGEST}.pyz"]
    assert hashlib.sha256((tmp_path / f"{DIGEST}.pyz").read_bytes()).hexdigest() == DIGEST


FETCH = """\
import importlib.util, json, os, sys
sys.path.insert(0, sys.argv[1])
import bootstrap
path = bootstrap.fetch({"bytecode": sys.argv[4]}, sys.argv[2], sys.argv[3])
print(json.dumps([path, importlib.util.MAGIC_NUMBER.hex()]))
"""
"""Without a server: the archive is there."""


@pytest.mark.parametrize("python", find_interpreters(), ids=version_of)
def test_each_python_gets_modules_that_it_need_not_compile(tmp_path: Path, python: str) -> None:
    digest, bytecode = "digest", MAGIC_NUMBER.hex()
    given = build_archive(tmp_path).rename(tmp_path / f"{digest}.pyz")
    folder = str(Path(bootstrap.__file__).parent)
    command = [python, "-I", "-S", "-c", FETCH, folder, digest, str(tmp_path), bytecode]
    found, magic = json.loads(subprocess.run(command, capture_output=True, check=True).stdout)
    with zipfile.ZipFile(given) as before, zipfile.ZipFile(found) as made:
        assert made.namelist() == before.namelist()
        compiled = [name for name in made.namelist() if name.endswith(".pyc")]
        assert len(compiled) > 100
        assert {made.read(name)[:4].hex() for name in compiled} == {magic}
    assert (found == str(given)) == (magic == bytecode)
    done = subprocess.run([python, "-I", "-S", found], capture_output=True, text=True, check=False)
    assert done.stderr.startswith("usage: supervisor.pyz")
    again = subprocess.run(command, capture_output=True, check=True)
    assert json.loads(again.stdout) == [found, magic]
    assert len(list(tmp_path.glob("*.pyz*"))) == (1 if magic == bytecode else 2)


def test_a_damaged_archive_is_not_compiled(tmp_path: Path) -> None:
    (tmp_path / "digest.pyz").write_bytes(b"no archive")
    with pytest.raises(ValueError, match="damaged"):
        bootstrap.fetch({"bytecode": "00"}, "digest", str(tmp_path))
    assert [each.name for each in tmp_path.iterdir()] == ["digest.pyz"]
