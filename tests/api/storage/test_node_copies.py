"""Copies of buckets on nodes that share no folders with the server: over the storage API."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import JSONResponse
from starlette.routing import Route

from footplate.api.errors import answer_router_error, answer_service_error
from footplate.api.storage_v1 import program_routes, storage_routes
from footplate.buckets.folder_buckets import FolderBuckets
from footplate.domain.errors import ServiceError
from footplate.protocol.bucket_copies import PlannedBucket, StepResult
from footplate.replica.http_client import ServerUnavailable
from footplate.replica.node_copies import UNSAVED, storage_client
from footplate.replica.node_copies import copier as module
from footplate.replica.node_copies.copier import NodeCopier, follow
from tests.api.storage.conftest import check
from tests.support.http_server import serve


class Plan:
    """What the job names, as its server says."""

    def __init__(self) -> None:
        self.prefixes = ["train/", "out/"]
        self.read_only = False
        self.asked = 0

    def answer(self, _request: Request) -> JSONResponse:
        self.asked += 1
        bucket = {"name": "stage", "read_only": self.read_only, "prefixes": self.prefixes}
        return JSONResponse({"storage": "/programs/KEY", "buckets": [bucket]})


@pytest.fixture
def plan() -> Plan:
    return Plan()


@pytest.fixture
def server_file(tmp_path: Path, buckets: FolderBuckets, plan: Plan) -> Iterator[Path]:
    for name in ("train/x", "train/deep/y", "other"):
        buckets.write("stage", name, [name.encode()])
    routes = [
        Route("/replica/v1/bucket-copies", plan.answer),
        program_routes("/programs", check, lambda _: storage_routes(buckets)),
    ]
    handlers: Any = {ServiceError: answer_service_error, HTTPException: answer_router_error}
    path = tmp_path / "server.json"
    with serve(Starlette(routes=routes, exception_handlers=handlers)) as url:
        path.write_text(json.dumps({"url": url}))
        yield path


@pytest.fixture
def node(tmp_path: Path) -> Path:
    path = tmp_path / "copies"
    path.mkdir()
    return path


@pytest.fixture
def files(node: Path) -> Path:
    return node / "files" / "stage"


@pytest.fixture
def make(node: Path, server_file: Path) -> Callable[..., NodeCopier]:
    return lambda **more: NodeCopier(str(node), str(server_file), "token", **more)


@pytest.fixture
def copier(make: Callable[..., NodeCopier]) -> NodeCopier:
    return make()


def read(buckets: FolderBuckets, name: str) -> bytes:
    with buckets.read("stage", name) as file:
        return file.read()


def names(buckets: FolderBuckets) -> list[str]:
    return [found.name for found in buckets.list("stage").objects]


def test_what_the_job_names_is_fetched_and_what_its_program_changes_is_written_back(
    copier: NodeCopier, files: Path, buckets: FolderBuckets
) -> None:
    fetched = copier.step("fetch")
    assert fetched.done
    assert "copied 2 objects (19 bytes) of gs://stage to /gcs/stage" in fetched.notes[0]
    assert (files / "train" / "deep" / "y").read_text() == "train/deep/y"
    assert not (files / "other").exists()
    unchanged = buckets.stat("stage", "train/deep/y")

    (files / "out").mkdir()
    (files / "out" / "model.json").write_text("{}")
    (files / "out" / "empty").write_text("")
    (files / "train" / "x").unlink()
    saved = copier.step("save")
    note = "copied 2 objects (2 bytes) of /gcs/stage to gs://stage"
    assert saved == StepResult(done=True, notes=(note,))
    assert names(buckets) == ["other", "out/empty", "out/model.json", "train/deep/y"]
    assert buckets.stat("stage", "out/model.json").content_type == "application/json"
    assert buckets.stat("stage", "train/deep/y") == unchanged


def test_only_changed_files_go_again_and_what_others_wrote_is_kept(
    copier: NodeCopier, files: Path, buckets: FolderBuckets, make: Callable[..., NodeCopier]
) -> None:
    copier.step("fetch")
    (files / "new").write_text("1")
    copier.step("save")
    first = buckets.stat("stage", "new").generation
    buckets.write("stage", "train/x", [b"somebody else's"])
    (files / "train" / "x").unlink()
    again = make()
    again.step("save")
    assert buckets.stat("stage", "new").generation == first
    assert read(buckets, "train/x") == b"somebody else's"


def test_a_later_start_gets_what_is_new_and_keeps_what_the_program_wrote(
    copier: NodeCopier, files: Path, buckets: FolderBuckets
) -> None:
    copier.step("fetch")
    (files / "train" / "x").write_text("the program's")
    for name in ("train/x", "train/deep/y", "train/z"):
        buckets.write("stage", name, [b"new"])
    copier.step("fetch")
    found = {name: (files / "train" / name).read_text() for name in ("x", "deep/y", "z")}
    assert found == {"x": "the program's", "deep/y": "new", "z": "new"}


def test_nothing_is_written_to_what_is_read_only(
    copier: NodeCopier, files: Path, buckets: FolderBuckets, plan: Plan
) -> None:
    plan.read_only = True
    copier.step("fetch")
    (files / "new").write_text("1")
    assert copier.step("save") == StepResult(done=True)
    assert "new" not in names(buckets)


def test_links_save_nothing_from_outside(
    copier: NodeCopier, files: Path, buckets: FolderBuckets, tmp_path: Path
) -> None:
    copier.step("fetch")
    secret = tmp_path / "secret"
    secret.write_text("secret")
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("secret")
    (files / "link").symlink_to(secret)
    (files / "directory").symlink_to(tmp_path / "outside")
    (files / "latest").symlink_to("train/x")
    os.mkfifo(files / "pipe")
    assert copier.step("save").done
    assert names(buckets) == ["latest", "other", "train/deep/y", "train/x"]
    assert read(buckets, "latest") == b"train/x"


def test_fetching_into_a_link_writes_nothing_outside(
    copier: NodeCopier, files: Path, tmp_path: Path, buckets: FolderBuckets
) -> None:
    copier.step("fetch")
    (tmp_path / "outside").mkdir()
    (files / "out").symlink_to(tmp_path / "outside")
    buckets.write("stage", "out/x", [b"x"])
    answer = copier.step("fetch")
    assert answer.done is False
    assert "to /gcs/stage" in answer.fault
    assert list((tmp_path / "outside").iterdir()) == []


def test_large_files_go_in_pieces_and_go_on_where_they_were_cut_off(
    make: Callable[..., NodeCopier],
    files: Path,
    buckets: FolderBuckets,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(storage_client, "SMALL_BYTES", 10)
    monkeypatch.setattr(storage_client, "PIECE_BYTES", 40)
    times = iter(range(1000))
    hurried = make(monotonic=lambda: next(times) * module.STEP_S)
    make().step("fetch")
    content = bytes(range(100))
    (files / "large").write_bytes(content)
    steps = [hurried.step("save")]
    while not steps[-1].done:
        assert "large" not in names(buckets), "objects appear whole"
        steps.append(make(monotonic=lambda: next(times) * module.STEP_S).step("save"))
    assert len(steps) > 3
    assert read(buckets, "large") == content


def test_a_download_that_was_cut_off_goes_on(
    copier: NodeCopier, files: Path, node: Path, buckets: FolderBuckets
) -> None:
    content = bytes(range(200))
    generation = buckets.write("stage", "train/x", [content]).generation
    name = module._Bucket(str(node), PlannedBucket("stage", read_only=False, prefixes=()))
    part = name.part(f"train/x\0{generation}")
    with open(part, "wb") as file:
        file.write(content[:50])
    assert copier.step("fetch").done
    assert (files / "train" / "x").read_bytes() == content
    assert not list(node.glob("*.part"))


def test_no_copy_fills_the_disk(copier: NodeCopier, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "SPARED_BYTES", 1 << 60)
    answer = copier.step("fetch")
    assert "name fewer objects" in answer.fault
    assert answer.retry is False


def test_an_outage_is_waited_for_and_everything_arrives_after_it(
    copier: NodeCopier, files: Path, server_file: Path, buckets: FolderBuckets
) -> None:
    copier.step("fetch")
    (files / "new").write_text("new")
    text = server_file.read_text()
    server_file.write_text(json.dumps({"url": "http://127.0.0.1:1"}))
    with pytest.raises(ServerUnavailable):
        copier.step("save")
    server_file.write_text(text)
    assert copier.step("save").done
    assert read(buckets, "new") == b"new"


def test_what_cannot_be_saved_is_named_and_kept(
    copier: NodeCopier, files: Path, node: Path, buckets: FolderBuckets
) -> None:
    copier.step("fetch")
    (files / "new").write_text("new")
    plan = json.loads((node / "plan.json").read_text())
    (node / "plan.json").write_text(json.dumps({**plan, "storage": "/programs/OLD"}))
    answer = copier.step("save")
    assert answer.retry is False
    assert (
        "the service can't write 1 file of /gcs/stage to gs://stage: it is no key" in answer.fault
    )
    assert answer.fault.endswith(": new")
    assert (node / UNSAVED).exists()
    (node / "plan.json").write_text(json.dumps(plan))
    assert copier.step("save").done
    assert not (node / UNSAVED).exists()
    assert read(buckets, "new") == b"new"


class Ended(Exception):
    pass


def test_a_running_program_s_files_are_written_back_again_and_again(
    make: Callable[..., NodeCopier], files: Path, buckets: FolderBuckets
) -> None:
    """A file that was changed just now is left to the next look, once."""
    copier = make(now=lambda: (files / "new").stat().st_mtime + 1)
    copier.step("fetch")
    (files / "new").write_text("1")
    seen = []

    def sleep(_seconds: float) -> None:
        seen.append("new" in names(buckets))
        if len(seen) == 3:
            raise Ended

    with pytest.raises(Ended):
        follow(copier, sleep)
    assert seen == [False, False, True]


def test_nothing_is_written_where_nothing_was_planned(copier: NodeCopier) -> None:
    assert copier.step("save") == StepResult(done=True)
