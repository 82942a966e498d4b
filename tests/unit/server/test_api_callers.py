"""Who calls: decided from what is known of processes and replicas."""

from __future__ import annotations

import json
import os
import pwd
import socket
from pathlib import Path

import pytest

from footplate.domain.callers import Caller, CallerKind
from footplate.domain.names import AttemptId
from footplate.server.api_callers import (
    USER,
    ApiCallers,
    ProcessFacts,
    ReplicaRecord,
    describe_callers,
    find_by_uid,
    find_holder,
    is_program_user,
    judge,
    judge_unseen,
    read_facts,
    read_records,
)
from footplate.server.socket_owner import is_available

JOB, OTHER = AttemptId("job-1"), AttemptId("other-1")
MARK, STRANGE = "ab" * 16, "cd" * 16
NAMESPACE = "pid:[1]"
SERVER = ProcessFacts((50, 10, 1), frozenset(), NAMESPACE)
RECORDS = (
    ReplicaRecord(OTHER, frozenset({300}), 2001, "ef" * 16),
    ReplicaRecord(JOB, frozenset({100, 101}), 2002, MARK),
)
OF_JOB = Caller(CallerKind.PROGRAM, JOB)
NO_ID = 4_000_000_000
"""Of no user of any machine of the tests."""

needs_kernel = pytest.mark.skipif(not is_available(), reason="this kernel has no sock_diag")


def process(*lineage: int, marks: tuple[str, ...] = (), namespace: str = NAMESPACE) -> ProcessFacts:
    return ProcessFacts(lineage, frozenset(marks), namespace)


@needs_kernel
def test_who_calls_from_another_machine_is_a_user(tmp_path: Path) -> None:
    callers = ApiCallers(tmp_path, None, remote=True)
    there = ("203.0.113.9", 5000), ("203.0.113.1", 8474)
    assert callers.find(*there) == USER
    assert callers.find(("127.0.0.1", 1), ("127.0.0.1", 2)).gone
    assert ApiCallers(tmp_path, None).find(*there).kind is CallerKind.UNKNOWN


@pytest.mark.parametrize(
    ("given", "caller"),
    [
        (process(700, 10, 1), USER),
        (process(700, 101, 100, 50, 10, 1), OF_JOB),
        (process(700, 100, 1, namespace="pid:[2]"), OF_JOB),
        (process(700, 1, marks=(MARK,)), OF_JOB),
        (process(700, 1, marks=(MARK[:16],)), OF_JOB),
        (process(700, 1, marks=(STRANGE,)), Caller(CallerKind.PROGRAM)),
        (process(700, 100, 1, marks=("ef" * 16,)), OF_JOB),
    ],
)
def test_a_program_is_known_by_what_is_above_it_or_its_mark(
    given: ProcessFacts, caller: Caller
) -> None:
    assert judge(given, SERVER, RECORDS) == caller


@pytest.mark.parametrize("namespace", ["pid:[2]", ""])
def test_a_process_in_another_namespace_is_unknown(namespace: str) -> None:
    assert judge(process(700, 1, namespace=namespace), SERVER, ()).kind is CallerKind.UNKNOWN


def test_a_server_within_a_program_has_users_that_bear_its_mark() -> None:
    within = ProcessFacts((50, 1), frozenset({STRANGE, STRANGE[:16]}), NAMESPACE)
    assert judge(process(60, 50, 1, marks=(STRANGE,)), within, RECORDS) == USER
    assert judge(process(60, 50, 1, marks=(STRANGE, MARK)), within, RECORDS) == OF_JOB


def test_a_program_is_known_by_an_id_of_its_own() -> None:
    assert find_by_uid(2002, RECORDS) == OF_JOB
    assert find_by_uid(2003, RECORDS) is None
    assert find_by_uid(2002, (*RECORDS, ReplicaRecord(OTHER, uid=2002))) is None


@pytest.mark.parametrize(
    ("uid", "users", "whether"),
    [
        (0, None, False),
        (1999, [2000, 3000], False),
        (2000, [2000, 3000], True),
        (3000, [2000, 3000], True),
        (3001, [2000, 3000], False),
        (65534, [65534, 65534, "nobody"], True),
        (65533, [65534, 65534, "nobody"], False),
    ],
)
def test_ids_of_programs(uid: int, users: list[int | str] | None, whether: bool) -> None:  # noqa: FBT001 - a case
    assert is_program_user(uid, users) is whether


@pytest.mark.parametrize(
    ("uid", "engine_owner", "named", "kind"),
    [
        (NO_ID, None, True, CallerKind.USER),
        (NO_ID, os.geteuid(), True, CallerKind.USER),
        (NO_ID, os.geteuid() + 1, True, CallerKind.UNKNOWN),
        (NO_ID, None, False, CallerKind.UNKNOWN),
        (os.geteuid(), None, True, CallerKind.UNKNOWN),
        (65534, None, True, CallerKind.UNKNOWN),
    ],
)
def test_only_users_with_names_are_believed_unseen(
    uid: int,
    engine_owner: int | None,
    named: bool,  # noqa: FBT001 - a case
    kind: CallerKind,
) -> None:
    records = [] if engine_owner is None else [ReplicaRecord(JOB, engine="/run/engine.sock")]
    caller = judge_unseen(uid, records, lambda _: named, lambda _: engine_owner)
    assert caller.kind is kind


def test_records_are_read_from_the_directories_of_replicas(tmp_path: Path) -> None:
    home = tmp_path / "job-1" / "master"
    home.mkdir(parents=True)
    (tmp_path / ".trash" / "gone").mkdir(parents=True)
    own = {"containment_mode": "container", "mark": MARK, "engine": "/run/e.sock"}
    (home / "isolation.json").write_text(json.dumps({**own, "init": os.getpid(), "start": 1}))
    (home / "user.json").write_text(json.dumps({"user": [2002, 2000, [], "footplate"]}))
    (home / "pid").write_text(f"{os.getpid()}\n")
    (home / "lock").touch()
    (tmp_path / "job-2" / "master").mkdir(parents=True)
    (tmp_path / "job-2" / "master" / "isolation.json").write_text("[")
    found = {record.attempt_id: record for record in read_records(tmp_path)}
    # Nobody holds the lock, and the process of that number began at another time.
    assert found == {
        JOB: ReplicaRecord(JOB, frozenset(), 2002, MARK, "/run/e.sock"),
        AttemptId("job-2"): ReplicaRecord(AttemptId("job-2")),
    }


def test_the_holder_of_a_socket_is_found(tmp_path: Path) -> None:
    for pid, link in (("7", "socket:[5]"), ("9", "pipe:[5]")):
        (tmp_path / pid / "fd").mkdir(parents=True)
        (tmp_path / pid / "fd" / "3").symlink_to(link)
    (tmp_path / "self").mkdir()
    assert find_holder(5, os.geteuid(), tmp_path) == 7
    assert find_holder(5, NO_ID, tmp_path) == 7
    assert find_holder(6, os.geteuid(), tmp_path) is None


@needs_kernel
def test_this_process_is_a_user(tmp_path: Path) -> None:
    callers = ApiCallers(tmp_path, None)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        for _ in range(2):
            assert callers.find(client.getsockname(), client.getpeername()) == USER
        ends = client.getsockname(), client.getpeername()
        client.close()
        assert callers.find(*ends).kind is CallerKind.UNKNOWN


@needs_kernel
def test_who_calls_is_the_user_whose_process_it_is(tmp_path: Path) -> None:
    callers = ApiCallers(tmp_path, None)
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        ends = client.getsockname(), client.getpeername()
        assert callers.name_user(*ends) == pwd.getpwuid(os.geteuid()).pw_name
        client.close()
        assert callers.name_user(*ends) == ""


@needs_kernel
def test_who_calls_from_another_machine_is_known_by_its_address(tmp_path: Path) -> None:
    there = ("203.0.113.9", 5000), ("203.0.113.1", 8474)
    assert ApiCallers(tmp_path, None, remote=True).name_user(*there) == "203.0.113.9"
    assert ApiCallers(tmp_path, None).name_user(*there) == ""


@needs_kernel
def test_this_process_is_a_program_below_a_supervisor(tmp_path: Path) -> None:
    """It is its own supervisor's child here: the first process that the record names."""
    home = tmp_path / "job-1" / "master"
    home.mkdir(parents=True)
    mark = {"containment_mode": "subreaper", "mark": MARK, "pid": os.getpid()}
    start = _start_time(os.getpid())
    (home / "isolation.json").write_text(json.dumps({**mark, "pid_start": start}))
    with (
        socket.create_server(("127.0.0.1", 0)) as listener,
        socket.create_connection(listener.getsockname()) as client,
    ):
        ends = client.getsockname(), client.getpeername()
        assert ApiCallers(tmp_path, None).find(*ends) == OF_JOB


@needs_kernel
def test_facts_of_this_process() -> None:
    facts = read_facts(os.getpid())
    assert facts.lineage[:2] == (os.getpid(), os.getppid())
    assert facts.namespace == str(Path("/proc/self/ns/pid").readlink())


def test_where_the_kernel_says_nothing_a_note_does() -> None:
    assert describe_callers("a token") == ()
    assert len(describe_callers(None)) == (0 if is_available() else 1)


def _start_time(pid: int) -> int:
    with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
        return int(file.read().rpartition(")")[2].split()[19])
