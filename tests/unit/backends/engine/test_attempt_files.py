"""The files of attempts: what is made once, and by whom."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.backends.engine.attempt import Attempt, Replica, make_ticket
from footplate.backends.engine.attempt_files import AttemptFiles
from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens, WarmBearer
from footplate.domain.errors import PermissionDenied
from footplate.domain.names import AttemptId
from footplate.ports.backend import EndCause, Ticket

ATTEMPT = AttemptId("u-1")


@pytest.fixture
def files(tmp_path: Path) -> AttemptFiles:
    """With an attempt of one replica, in one allocation."""
    files = AttemptFiles(tmp_path / "replicas")
    files.open()
    files.make(ATTEMPT, "europe-west4", [make_ticket(Ticket("master", "token"), 0, {})])
    return files


def load(files: AttemptFiles) -> tuple[Attempt, Replica]:
    attempt = files.load(ATTEMPT)
    assert attempt is not None
    return attempt, attempt.replicas["master"]


def test_an_attempt_keeps_its_project_and_its_labels(files: AttemptFiles) -> None:
    other = AttemptId("u-2")
    ticket = make_ticket(Ticket("master", "token"), 0, {})
    files.make(other, "us-east1", [ticket], 0.0, "atlas", {"footplate-slurm-qos": "high"})
    made, plain = files.load(other), files.load(ATTEMPT)
    assert made is not None
    assert plain is not None
    assert (made.project, made.labels) == ("atlas", {"footplate-slurm-qos": "high"})
    assert (plain.project, plain.labels) == ("", {})


def test_one_replica_of_a_gang_is_read_without_its_peers(files: AttemptFiles) -> None:
    gang, names = AttemptId("u-2"), ["worker-1", "worker-10", "worker-11"]
    files.make(gang, "us-east1", [make_ticket(Ticket(name, "t"), 0, {}) for name in names])
    whole, part = files.load(gang), files.load(gang, "worker-1")
    assert whole is not None
    assert part == replace(whole, replicas={"worker-1": whole.replicas["worker-1"]})


def test_the_first_job_of_an_allocation_is_its_only_one(files: AttemptFiles) -> None:
    assert files.bind(ATTEMPT, 0, "7") == "7"
    assert files.bind(ATTEMPT, 0, "8") == "7"
    assert load(files)[0].allocations[0].job == "7"


def test_the_first_launcher_of_a_replica_is_its_only_one(files: AttemptFiles) -> None:
    _, replica = load(files)
    first = {"incarnation": "a", "node": "n1", "job": "7"}
    assert files.claim(ATTEMPT, replica, first) == first
    assert files.claim(ATTEMPT, replica, {**first, "incarnation": "b"}) == first


def test_what_is_stopped_before_it_was_given_is_gone_and_never_runs(files: AttemptFiles) -> None:
    _, replica = load(files)
    files.stop(ATTEMPT, replica)
    assert files.give(ATTEMPT, replica)
    assert files.is_stopped(ATTEMPT, replica), "a launcher that comes later is to stop at once"
    attempt, replica = load(files)
    assert (replica.gone, attempt.all_gone) == ("the replica was stopped before it started", True)


def test_what_was_given_and_is_stopped_is_gone_when_its_launcher_says_so(
    files: AttemptFiles,
) -> None:
    _, replica = load(files)
    assert files.give(ATTEMPT, replica)
    assert not files.is_stopped(ATTEMPT, replica)
    files.stop(ATTEMPT, replica)
    assert load(files)[1].gone is None


@pytest.fixture
def waiting(files: AttemptFiles) -> Replica:
    """A restart of it, for the launcher of its first start."""
    files.set_gone(ATTEMPT, load(files)[1], "it was lost")
    files.add_ticket(ATTEMPT, make_ticket(Ticket("master", "again", 1), 0, {}, in_place=True))
    return load(files)[1]


def test_a_start_that_has_moved_is_given_to_its_new_launcher_alone(
    files: AttemptFiles, waiting: Replica
) -> None:
    """``waiting`` is what the old one's call has read before that."""
    assert waiting.may_move
    files.move(ATTEMPT, waiting, 1)
    assert not files.give(ATTEMPT, waiting)
    attempt, moved = load(files)
    assert (moved.allocation, moved.given, moved.may_move) == (1, False, False)
    assert attempt.allocations[1].replicas == ("master",)
    assert files.give(ATTEMPT, moved)
    assert load(files)[1].given


def test_a_start_that_was_given_does_not_move(files: AttemptFiles, waiting: Replica) -> None:
    assert files.give(ATTEMPT, waiting)
    files.move(ATTEMPT, waiting, 1)
    _, replica = load(files)
    assert (replica.allocation, replica.given) == (0, True)
    assert files.give(ATTEMPT, replica)


def test_two_servers_move_a_start_to_one_allocation(files: AttemptFiles, waiting: Replica) -> None:
    for _ in range(2):
        files.move(ATTEMPT, waiting, 1)
    assert [*load(files)[0].allocations] == [0, 1]


def test_a_start_moves_to_no_allocation_of_others(files: AttemptFiles, waiting: Replica) -> None:
    assert files.add_allocation(ATTEMPT, 1, ["worker"]) == 1
    files.move(ATTEMPT, waiting, 1)
    attempt, replica = load(files)
    assert replica.allocation == 2
    assert attempt.allocations[1].replicas == ("worker",)


@pytest.mark.parametrize("given", [False, True])
def test_a_stop_that_has_not_seen_the_move_counts(
    files: AttemptFiles,
    waiting: Replica,
    given: bool,  # noqa: FBT001
) -> None:
    files.move(ATTEMPT, waiting, 1)
    if given:
        files.give(ATTEMPT, load(files)[1])
    files.stop(ATTEMPT, waiting)
    _, replica = load(files)
    assert (replica.stopped, replica.gone is None) == (True, given)


def test_the_first_reason_of_an_end_stays(files: AttemptFiles) -> None:
    _, replica = load(files)
    files.set_gone(ATTEMPT, replica, "it was cancelled", EndCause.CANCELLED)
    files.set_gone(ATTEMPT, replica, "it ended")
    _, replica = load(files)
    assert (replica.gone, replica.cause) == ("it was cancelled", EndCause.CANCELLED)


@pytest.mark.parametrize("cause", EndCause)
def test_the_cause_of_an_end_is_kept(files: AttemptFiles, cause: EndCause) -> None:
    files.set_gone(ATTEMPT, load(files)[1], "it ended", cause)
    files.end(ATTEMPT, 0, "it ended", cause)
    attempt, replica = load(files)
    assert (replica.cause, attempt.allocations[0].cause) == (cause, cause)


@pytest.mark.parametrize(
    ("end", "cause"),
    [
        ({"cancelled": True}, EndCause.CANCELLED),
        ({"cancelled": False}, EndCause.UNKNOWN),
        ({"cancelled": True, "cause": "OF_A_LATER_SERVER"}, EndCause.CANCELLED),
        ({"cancelled": False, "cause": "OF_A_LATER_SERVER"}, EndCause.UNKNOWN),
    ],
)
def test_ends_that_other_versions_of_the_server_wrote(
    files: AttemptFiles, tmp_path: Path, end: dict[str, object], cause: EndCause
) -> None:
    for name in ("master~0.gone", "~0.ended"):
        path = tmp_path / "replicas" / ATTEMPT / name
        path.write_text(json.dumps({"reason": "it ended", **end}))
    attempt, replica = load(files)
    assert (replica.gone, replica.cause) == ("it ended", cause)
    assert (attempt.allocations[0].ended, attempt.allocations[0].cause) == ("it ended", cause)


def test_an_attempt_keeps_the_limit_of_its_job(files: AttemptFiles) -> None:
    assert load(files)[0].run_limit_s == 0.0
    files.make(AttemptId("u-2"), "europe-west4", [make_ticket(Ticket("a", "token"), 0, {})], 60.0)
    attempt = files.load(AttemptId("u-2"))
    assert attempt is not None
    assert attempt.run_limit_s == 60.0


def test_a_later_start_is_another_one(files: AttemptFiles) -> None:
    _, replica = load(files)
    files.set_gone(ATTEMPT, replica, "it was lost")
    files.add_ticket(ATTEMPT, make_ticket(Ticket("master", "token", restart=1), 0, {}))
    _, replica = load(files)
    assert (replica.restart, replica.gone, replica.given) == (1, None, False)


def test_an_attempt_that_another_server_made_stays(files: AttemptFiles) -> None:
    files.make(ATTEMPT, "us-east1", [make_ticket(Ticket("master", "other"), 0, {})])
    attempt, replica = load(files)
    assert (attempt.region, replica.ticket["token"]) == ("europe-west4", "token")


def test_what_was_half_made_or_half_removed_goes_at_the_next_start(
    files: AttemptFiles, tmp_path: Path
) -> None:
    root = tmp_path / "replicas"
    for name in (".making-1", ".trash-1"):
        (root / name).mkdir()
    files.open()
    assert [path.name for path in root.iterdir()] == [ATTEMPT]
    files.discard(ATTEMPT)
    files.discard(ATTEMPT)
    assert files.attempts() == ()
    assert files.load(ATTEMPT) is None


def test_a_token_speaks_for_one_launcher() -> None:
    tokens = LauncherTokens(b"a key")
    bearer = LauncherBearer("europe-west4", ATTEMPT, 0, "master")
    token = tokens.issue(bearer)
    assert tokens.check(token) == bearer
    warm = WarmBearer("europe-west4", "7", "a-kind")
    assert tokens.check(tokens.issue(warm)) == warm
    assert tokens.issue(warm).rpartition("/")[2] not in token
    for wrong in (token[:-1], token.replace("/0/", "/1/"), "", LauncherTokens(b"b").issue(bearer)):
        with pytest.raises(PermissionDenied):
            tokens.check(wrong)
