import errno
import os
import stat
from pathlib import Path

import pytest

from footplate.backends.local.attempt_directories import KEPT_S, AttemptDirectories
from footplate.domain.errors import FailedPrecondition, Unavailable
from footplate.domain.names import AttemptId
from footplate.ports.backend import Ticket
from footplate.replica import lost_files
from tests.support.backend_rig import WORKERS, make_request, make_restart


def write(ticket: Ticket) -> str:
    return ticket.token


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "data" / "replicas"


@pytest.fixture
def attempts(root: Path) -> AttemptDirectories:
    attempts = AttemptDirectories(root, write)
    root.mkdir(parents=True)
    return attempts


def test_a_gang_is_made_for_this_user_alone(attempts: AttemptDirectories, root: Path) -> None:
    attempts.make(make_request("u-1", WORKERS))
    homes = attempts.homes()
    assert [home.replica for home in homes] == sorted(WORKERS)
    for home in homes:
        assert home.path == root / "u-1" / home.replica
        ticket = home.path / "ticket.json"
        assert ticket.read_text() == f"u-1.{home.replica}.token"
        assert stat.S_IMODE(ticket.stat().st_mode) == 0o600
        assert stat.S_IMODE(home.path.stat().st_mode) == 0o700
        assert stat.S_IMODE(home.path.parent.stat().st_mode) == 0o700


def test_a_root_that_was_removed_is_made_again(attempts: AttemptDirectories, root: Path) -> None:
    root.rmdir()
    attempts.make(make_request("u-1", WORKERS))
    assert len(attempts.homes()) == len(WORKERS)
    assert stat.S_IMODE(root.stat().st_mode) == 0o700


def test_a_gang_is_made_once(attempts: AttemptDirectories, root: Path) -> None:
    attempts.make(make_request("u-1", WORKERS[:1]))
    (root / "u-1" / WORKERS[0] / "gone").write_text("{}")
    attempts.make(make_request("u-1", WORKERS))
    assert [home.replica for home in attempts.homes()] == [WORKERS[0]]
    assert attempts.homes()[0].gone() is not None


@pytest.mark.parametrize("number", [errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.EIO])
def test_what_fails_halfway_leaves_nothing(root: Path, number: int) -> None:
    full = [True]

    def write_until_full(ticket: Ticket) -> str:
        if full[0] and ticket.replica == WORKERS[1]:
            raise OSError(number, "No space left on device")
        return ticket.token

    attempts = AttemptDirectories(root, write_until_full)
    root.mkdir(parents=True)
    with pytest.raises(Unavailable, match="No space left on device"):
        attempts.make(make_request("u-1", WORKERS))
    assert attempts.homes() == ()
    assert [path.name for path in root.iterdir()] == [".trash"]
    full[0] = False
    attempts.make(make_request("u-1", WORKERS))
    assert len(attempts.homes()) == len(WORKERS)


def test_what_an_earlier_server_left_half_made_is_thrown_away(root: Path) -> None:
    (root / ".making" / "u-1" / WORKERS[0]).mkdir(parents=True)
    attempts = AttemptDirectories(root, write)
    attempts.open()
    attempts.close()
    assert not (root / ".making").exists()
    assert attempts.homes() == ()
    attempts.make(make_request("u-1"))
    assert len(attempts.homes()) == 1


def test_nothing_is_left_of_the_place_where_attempts_are_made(root: Path) -> None:
    attempts = AttemptDirectories(root, write)
    attempts.open()
    for name in ("u-1", "u-2"):
        attempts.make(make_request(name))
    attempts.close()
    assert not [*root.glob(".making*")]
    assert len(attempts.homes()) == 2


@pytest.mark.parametrize("name", ["", ".", "..", ".making", "a/b", "/etc", "a\0b", "x" * 300, "ü"])
def test_names_that_could_lead_elsewhere_are_refused(
    attempts: AttemptDirectories, name: str
) -> None:
    with pytest.raises(FailedPrecondition):
        attempts.make(make_request(name))
    with pytest.raises(FailedPrecondition):
        attempts.make(make_request("u-1", (name,)))
    assert attempts.homes() == ()
    assert attempts.of(AttemptId(name)) == ()


def test_a_path_that_is_too_long_is_refused_for_ever(tmp_path: Path) -> None:
    root = tmp_path
    while len(str(root)) < 3950:
        root /= "x" * 100
        root.mkdir()
    attempts = AttemptDirectories(root, write)
    with pytest.raises(FailedPrecondition, match="too long"):
        attempts.make(make_request("u-1", ("x" * 200,)))


def test_links_and_files_among_the_homes_are_no_homes(
    attempts: AttemptDirectories, root: Path
) -> None:
    attempts.make(make_request("u-1"))
    (root / "u-1" / "link").symlink_to("/")
    (root / "u-1" / "file").touch()
    (root / "elsewhere").symlink_to(root / "u-1")
    assert len(attempts.homes()) == 1


def test_what_is_discarded_is_gone_at_once(attempts: AttemptDirectories, root: Path) -> None:
    attempts.make(make_request("u-1", WORKERS))
    attempts.discard(AttemptId("u-1"))
    assert attempts.homes() == ()
    attempts.discard(AttemptId("u-1"))


def test_a_gang_that_is_made_anew_keeps_count_of_its_restarts(attempts: AttemptDirectories) -> None:
    """Somebody has removed the folder of the attempt."""
    attempts.make(make_restart(make_request("u-1", WORKERS[:2]), WORKERS[1], 2))

    assert [(home.replica, home.restart) for home in attempts.homes()] == [
        (WORKERS[0], 0),
        (WORKERS[1], 2),
    ]


def test_of_two_homes_that_a_dead_server_left_the_newest_counts(
    attempts: AttemptDirectories, root: Path
) -> None:
    attempts.make(make_request("u-1"))
    for restart in (2, 10):
        (root / "u-1" / f"{WORKERS[0]}~{restart}").mkdir()

    assert [home.restart for home in attempts.homes()] == [10]
    attempts.discard(AttemptId("u-1"))
    assert attempts.homes() == ()


def test_files_are_kept_for_an_hour(attempts: AttemptDirectories) -> None:
    assert attempts.discard_expired(0) is None
    for name, changed_s in (("old", 1000), ("new", 1060)):
        (attempts.kept / name).mkdir(parents=True)
        os.utime(attempts.kept / name, (changed_s, changed_s))
    assert attempts.discard_expired(1000 + KEPT_S - 1) == 1
    assert attempts.discard_expired(1000 + KEPT_S) == 60
    assert [path.name for path in attempts.kept.iterdir()] == ["new"]
    assert KEPT_S == lost_files.KEPT_S
