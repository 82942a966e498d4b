"""While an engine takes its time to answer, launchers are listened to all the same."""

from __future__ import annotations

import errno
import os
import threading
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from footplate.backends.engine.engine import EngineJob
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request
from tests.support.fake_engine import FakeEngine, make_backend
from tests.support.local_backend import wait_until

REGION = "europe-west4"


class HangingEngine(FakeEngine):
    """Each list waits while ``answers`` isn't set."""

    def __init__(self) -> None:
        super().__init__()
        self.answers = threading.Event()
        self.answers.set()
        self.hangs = threading.Event()

    def list(self, prefix: str) -> tuple[EngineJob, ...]:
        if not self.answers.is_set():
            self.hangs.set()
        self.answers.wait()
        return super().list(prefix)


class Desk:
    def __init__(self, root: Path) -> None:
        self.engine = HangingEngine()
        self.backend, self.calls = make_backend(REGION, root, self.engine)

    def call(self) -> None:
        for launcher in self.engine.launchers:
            launcher.call(self.calls, 0.0)


@pytest.fixture
def desk(tmp_path: Path) -> Iterator[Desk]:
    desk = Desk(tmp_path / "replicas")
    yield desk
    desk.engine.answers.set()
    desk.backend.close()


def test_an_engine_is_told_whose_job_it_gets(desk: Desk) -> None:
    labels = {"footplate-slurm-qos": "high"}
    desk.backend.start(replace(make_request("u-1"), project="atlas", labels=labels))
    wait_until(lambda: bool(desk.engine.requests))
    [asked] = desk.engine.requests
    assert (asked.project, asked.labels) == ("atlas", labels)


def test_a_folder_that_can_not_be_read_for_a_while_ends_nothing(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    request, listing = make_request("u-1"), os.listdir
    failed: list[Any] = []
    desk.backend.start(request)
    wait_until(lambda: bool(desk.engine.jobs))

    def fail(path: Any) -> list[str]:
        if str(path).endswith("/u-1"):
            failed.append(path)
            raise OSError(errno.EMFILE, "Too many open files")
        return listing(path)

    with monkeypatch.context() as patch:
        patch.setattr("os.listdir", fail)
        wait_until(lambda: len(failed) > 1)
        assert all_are(desk.backend, request, Presence.WAITING)
    desk.engine.begin_job("1", 0.0)
    desk.call()
    desk.call()
    wait_until(lambda: all_are(desk.backend, request, Presence.LIVE))
    desk.backend.start(make_request("u-2"))
    wait_until(lambda: len(desk.engine.jobs) == 2)


def test_a_gang_is_stopped_while_the_engine_does_not_answer(desk: Desk) -> None:
    request, told = make_request("u-1", WORKERS[:2]), threading.Event()
    desk.backend.start(request)
    wait_until(lambda: bool(desk.engine.jobs))
    desk.engine.begin_job("1", 0.0)
    desk.call()
    desk.call()
    wait_until(lambda: all_are(desk.backend, request, Presence.LIVE))
    desk.engine.answers.clear()
    assert desk.engine.hangs.wait(60)
    desk.backend.watch(lambda _: told.set())
    desk.backend.stop(request.attempt_id)
    for _ in range(2):  # what is wanted, and what has become of it
        desk.call()
    assert all_are(desk.backend, request, Presence.GONE)
    assert told.is_set()
    assert not desk.engine.answers.is_set()
