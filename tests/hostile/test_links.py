"""A program puts links into buckets while the service reads and writes there: none is followed."""

from __future__ import annotations

import sys
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

import pytest

from footplate.client.storage import Storage
from footplate.domain.errors import ServiceError
from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from footplate.testing.service import running_service
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.hostile import program

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="is about Linux")
SOURCE = Path(program.__file__).read_text(encoding="utf-8")
TASK = """
import os
attacker = {{"__name__": "attacker"}}
exec({source!r}, attacker)
facts = {facts!r}
attacker["swap_links"]([{bucket!r}, os.getcwd()], facts, lambda: not os.path.exists({end!r}))
"""
ROUNDS = 50


@pytest.fixture(params=["auto", "best-effort"])
def context(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Context]:
    with running_service(tmp_path / "data", CACHE, isolation=request.param) as service:
        yield Context(service)


def test_the_service_follows_no_link(context: Context) -> None:
    data = context.service.data_dir
    secret = (data / "secret").read_bytes()
    before = {path.name for path in data.iterdir() if not path.match(".*.tried")}
    end = context.bucket / "end"
    facts = {"data": str(data), "secrets": [str(data / "secret")]}
    values = {"source": SOURCE, "facts": facts, "bucket": str(context.bucket), "end": str(end)}
    name = context.submit(TASK.format(**values))
    for link in ("leak", "folder"):
        context.until((context.bucket / link).is_symlink)
    assert not (context.bucket / "hard").exists()

    with context.client() as client:
        for _ in range(ROUNDS):
            assert secret not in read_all(client.storage)
            write_all(client.storage)
    end.touch()
    context.wait_for(name, State.SUCCEEDED)
    context.until(lambda: not list(data.glob("replicas/[!.]*/*/work")))
    assert (data / "secret").read_bytes() == secret
    assert {path.name for path in data.iterdir()} >= before
    assert not (data / "planted").exists()


READ = ("leak", "folder/secret", "hard")
FOLDER = frozenset({"folder/secret", "folder/planted"})


def read_all(storage: Storage) -> bytes:
    found = []
    for key in READ:
        with suppress(ServiceError):
            found += list(storage.download(GcsUri(BUCKET, key)))
    assert {each.name for each in storage.objects(GcsUri(BUCKET, "folder/"))} <= FOLDER
    return b"".join(found)


def write_all(storage: Storage) -> None:
    """Into the service's directory, if it were for the links."""
    with suppress(ServiceError):
        storage.upload(GcsUri(BUCKET, "folder/planted"), b"planted")
    for key in ("leak", *FOLDER):
        with suppress(ServiceError):
            storage.delete(GcsUri(BUCKET, key))
