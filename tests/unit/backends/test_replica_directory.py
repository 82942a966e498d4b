import json
import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.backends.local import untrusted_files
from footplate.backends.local.replica_directory import (
    MOST_REASON_CHARACTERS,
    Home,
    SupervisorStatus,
)
from footplate.domain.names import AttemptId
from tests.support.profiles import scaled


@pytest.fixture
def home(tmp_path: Path) -> Home:
    path = tmp_path / "u-1" / "master-replica-0"
    path.mkdir(parents=True)
    return Home(AttemptId("u-1"), "master-replica-0", path)


@pytest.fixture
def held(home: Home) -> Iterator[None]:
    """Somebody has the supervisor's lock."""
    lock = untrusted_files.take_lock(home.lock)
    assert lock is not None
    yield
    os.close(lock)


def test_a_new_home_is_unspawned(home: Home) -> None:
    assert home.standing() is SupervisorStatus.UNSPAWNED


def test_looking_leaves_no_trace(home: Home) -> None:
    home.standing()
    assert list(home.path.iterdir()) == []


def test_a_held_spawn_lock_means_that_a_supervisor_is_starting(home: Home) -> None:
    lock = untrusted_files.take_lock(home.spawn)
    assert home.standing() is SupervisorStatus.STARTING
    home.lock.touch()
    assert home.standing() is SupervisorStatus.STARTING
    assert lock is not None
    os.close(lock)
    assert home.standing() is SupervisorStatus.LOST


def test_a_pid_and_a_held_lock_are_a_live_supervisor(home: Home, held: None) -> None:
    (home.path / "pid").write_text("123\n")
    assert home.standing() is SupervisorStatus.LIVE


def test_a_pid_and_a_free_lock_are_a_lost_supervisor(home: Home) -> None:
    (home.path / "pid").write_text("123\n")
    assert home.standing() is SupervisorStatus.LOST
    home.lock.touch()
    assert home.standing() is SupervisorStatus.LOST


def test_gone_is_believed_when_nobody_has_the_lock(home: Home) -> None:
    (home.path / "pid").write_text("123\n")
    (home.path / "gone").write_text('{"reason": "it ended"}')
    assert home.standing() is SupervisorStatus.GONE


def test_gone_is_not_believed_while_a_supervisor_is_there(home: Home, held: None) -> None:
    (home.path / "pid").write_text("123\n")
    (home.path / "gone").write_text('{"reason": "it ended"}')
    assert home.standing() is SupervisorStatus.LIVE


def test_what_never_started_can_be_gone(home: Home) -> None:
    home.write_gone("the replica was stopped before it started")
    assert home.standing() is SupervisorStatus.GONE
    assert home.gone() == "the replica was stopped before it started"


def test_gone_is_not_written_beside_a_supervisor(home: Home, held: None) -> None:
    with pytest.raises(BlockingIOError):
        home.write_gone("no")
    assert home.gone() is None


@pytest.mark.parametrize(
    "content",
    ["", "{", "[]", "null", '"x"', "{}", '{"reason": 3}', '{"reason": ""}', "[" * 60_000, "\0"],
)
def test_whatever_is_in_gone_there_is_a_reason(home: Home, content: str) -> None:
    (home.path / "gone").write_text(content)
    assert home.gone() == "it ended"


@settings(suppress_health_check=[HealthCheck.function_scoped_fixture], max_examples=scaled(50))
@given(content=st.binary(max_size=40) | st.text().map(lambda t: json.dumps({"reason": t}).encode()))
def test_any_bytes_in_gone_are_a_bounded_reason(home: Home, content: bytes) -> None:
    (home.path / "gone").write_bytes(content)
    reason = home.gone()
    assert reason
    assert len(reason) <= MOST_REASON_CHARACTERS


def test_a_long_reason_is_cut(home: Home) -> None:
    (home.path / "gone").write_text(json.dumps({"reason": "x" * 5000}))
    assert home.gone() == "x" * MOST_REASON_CHARACTERS


def test_a_gone_that_is_no_file_is_not_believed(home: Home, tmp_path: Path) -> None:
    (tmp_path / "planted").write_text('{"reason": "secret"}')
    (home.path / "gone").symlink_to(tmp_path / "planted")
    assert home.gone() is None


@pytest.mark.parametrize(
    ("content", "pid"),
    [
        ("123\n", 123),
        ("", None),
        ("1", None),
        ("0", None),
        ("-5", None),
        ("12 34", None),
        ("99999999999999999999", None),
        ("²", None),
        ("x", None),
    ],
)
def test_only_what_can_be_a_pid_is_one(home: Home, content: str, pid: int | None) -> None:
    (home.path / "pid").write_text(content)
    assert home.pid() == pid


def test_a_stop_stays(home: Home) -> None:
    assert not home.to_stop
    home.mark_stop()
    home.mark_stop()
    assert home.to_stop


def test_the_last_words_are_the_last_line_of_the_log(home: Home) -> None:
    assert home.last_words() == ""
    home.log.write_bytes(b"Traceback\n  File\nImportError: \xff\n\n")
    assert home.last_words() == "ImportError: \ufffd"
