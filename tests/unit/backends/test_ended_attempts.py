"""Attempts that have ended are not started by a leader that stood still and doesn't know it."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from footplate.backends.ended_attempts import KEEP_S, EndedAttempts
from footplate.domain.errors import NotLeading
from footplate.domain.names import AttemptId
from footplate.ports.backend import Presence
from tests.support.backend_rig import WORKERS, all_are, make_request, make_restart
from tests.support.engine_world import World
from tests.support.local_backend import LocalRig, wait_until

FIRST = AttemptId("u-1")
REQUEST = make_request(FIRST)


def open_terms(root: Path, count: int) -> list[EndedAttempts]:
    found = [EndedAttempts(root) for _ in range(count)]
    for each in found:
        each.open()
    return found


def test_an_end_holds_for_earlier_terms_alone(tmp_path: Path) -> None:
    """A later one may know better: its database may have been restored."""
    first, second, third = open_terms(tmp_path, 3)
    second.note(FIRST)
    for _ in range(2):
        with pytest.raises(NotLeading, match="attempt u-1 has ended"):
            first.take_back(FIRST)
    first.take_back(AttemptId("u-2"))
    third.take_back(FIRST)
    first.check(FIRST)


def test_a_leader_may_start_what_it_has_ended_itself(tmp_path: Path) -> None:
    (only,) = open_terms(tmp_path, 1)
    only.note(FIRST)
    only.note(FIRST)
    only.take_back(FIRST)


def test_a_number_of_a_term_is_given_out_once(tmp_path: Path) -> None:
    open_terms(tmp_path, 3)
    assert [path.name for path in (tmp_path / ".terms").iterdir()] == ["3"]


def test_a_name_of_no_attempt_leaves_no_file(tmp_path: Path) -> None:
    (only,) = open_terms(tmp_path, 1)
    only.note(AttemptId("../u-1"))
    assert list((tmp_path / ".ended").iterdir()) == []


def test_ends_are_kept_for_a_day(tmp_path: Path) -> None:
    (only,) = open_terms(tmp_path, 1)
    for name in ("u-1", "u-2"):
        only.note(AttemptId(name))
    old = tmp_path / ".ended" / "u-1"
    long_ago_s = old.lstat().st_mtime - KEEP_S - 1
    os.utime(old, (long_ago_s, long_ago_s), follow_symlinks=False)
    open_terms(tmp_path, 1)
    assert [path.name for path in (tmp_path / ".ended").iterdir()] == ["u-2"]


@pytest.mark.parametrize("runs", [True, False])
def test_a_former_leader_starts_no_ended_attempt_here(
    tmp_path: Path,
    runs: bool,  # noqa: FBT001  a parameter
) -> None:
    rig = LocalRig(tmp_path)
    former, leader = rig.backend, rig.make_backend()
    try:
        former.watch(lambda _: None)
        leader.watch(lambda _: None)
        if runs:
            leader.start(REQUEST)
            wait_until(lambda: all_are(leader, REQUEST, Presence.LIVE))
            rig.finish(FIRST, WORKERS[0])
            wait_until(lambda: all_are(leader, REQUEST, Presence.GONE))
        leader.forget(FIRST)
        for request in (REQUEST, make_restart(REQUEST, WORKERS[0])):
            with pytest.raises(NotLeading):
                former.start(request)
        assert former.list() == leader.list() == ()
    finally:
        former.close()
        rig.backend = leader
        rig.close()


@pytest.mark.parametrize("runs", [True, False])
def test_a_former_leader_starts_no_ended_attempt_on_an_engine(
    tmp_path: Path,
    runs: bool,  # noqa: FBT001  a parameter
) -> None:
    world = World(tmp_path)
    former = world.backend
    former.begin_term()
    world.backend = leader = world.make_backend()
    leader.begin_term()
    if runs:
        world.start(REQUEST)
        leader.stop(FIRST)
    leader.forget(FIRST)
    for request in (REQUEST, make_restart(REQUEST, WORKERS[0])):
        with pytest.raises(NotLeading):
            former.start(request)
    assert former.list() == leader.list() == ()
    world.turn()
    assert world.engine.jobs == {}
