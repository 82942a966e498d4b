from __future__ import annotations

from dataclasses import replace
from itertools import count

import pytest

from footplate.control.control_requests import ControlRequestKind, ControlRequests
from footplate.control.shells import MOST_OF_A_REPLICA, Shells
from footplate.control.tokens import Bearer, ShellTokens
from footplate.domain.errors import (
    FailedPrecondition,
    NotFound,
    PermissionDenied,
    ResourceExhausted,
)
from footplate.domain.job_states import Phase, State
from footplate.domain.jobs import Job, Replica
from tests.support.clock import FakeClock
from tests.support.jobs import make_job, make_spec
from tests.support.store import MemoryStore

MASTER, WORKER = "master-replica-0", "worker-replica-0"


class Counter:
    """A desk with one job that runs."""

    def __init__(self) -> None:
        self.store, clock, numbers = MemoryStore(), FakeClock(), count()
        self.control_requests = ControlRequests(lambda: f"id{next(numbers)}", 10)
        self.tokens = ShellTokens(b"k" * 32)
        self.shells = Shells(self.store, self.control_requests, self.tokens, clock)
        spec = replace(make_spec(workers=1), web_access=True)
        replicas = (Replica(MASTER, Phase.RUNNING), Replica(WORKER, Phase.EXITED))
        job = make_job(spec=spec)
        self.job = replace(job, state=State.RUNNING, attempt=1, replicas=replicas)
        self.store.create(self.job, ())
        self.token = self.tokens.issue(self.job.uid, MASTER)
        self.asked = Bearer(self.job.attempt_id, MASTER)

    def change(self, **fields: object) -> None:
        now = self.store.get_by_uid(self.job.uid)
        self.store.update(replace(now, version=now.version + 1, **fields), ())  # type: ignore[arg-type]  # the test knows them

    def told(self) -> list[tuple[str, str, str]]:
        events = [stored.event for stored in self.store.events(self.job.uid)]
        return [(event.kind, event.message, event.replica) for event in events]


@pytest.fixture
def context() -> Counter:
    return Counter()


def test_running_replicas_of_a_job_that_wants_it_have_addresses(context: Counter) -> None:
    assert context.shells.paths(context.job) == {MASTER: f"/shell/v1/{context.token}"}
    assert context.shells.paths(replace(context.job, state=State.CANCELLING)) == {}
    unwanted = replace(context.job, spec=replace(context.job.spec, web_access=False))
    assert context.shells.paths(unwanted) == {}


def test_a_shell_is_a_control_request_of_its_replica_and_an_event_of_its_job(
    context: Counter,
) -> None:
    shell = context.shells.ask(context.token, "10.0.0.1", "a terminal")
    (control_request,), _ = context.control_requests.pending(context.asked, "")
    assert (control_request.id, control_request.kind) == (
        shell.control_request.id,
        ControlRequestKind.SHELL,
    )

    context.shells.arrive(control_request.id, context.asked)
    assert not shell.control_request.answered.result(0).error
    context.shells.begin(shell)
    context.shells.end(shell, "exit code 0")
    assert context.told() == [
        ("SHELL_OPENED", "a terminal, from 10.0.0.1", MASTER),
        ("SHELL_CLOSED", "a terminal, from 10.0.0.1: exit code 0", MASTER),
    ]


def test_one_that_never_came_to_be_is_no_event_and_can_not_come_late(context: Counter) -> None:
    shell = context.shells.ask(context.token, "10.0.0.1", "a terminal")
    context.shells.end(shell, "")
    assert context.told() == []
    with pytest.raises(NotFound, match="no caller waits"):
        context.shells.arrive(shell.control_request.id, context.asked)


def test_another_replica_can_not_open_it(context: Counter) -> None:
    shell = context.shells.ask(context.token, "10.0.0.1", "a terminal")
    with pytest.raises(NotFound):
        context.shells.arrive(shell.control_request.id, Bearer(context.job.attempt_id, WORKER))


def test_a_replica_has_only_so_many(context: Counter) -> None:
    shells = []
    for _ in range(MOST_OF_A_REPLICA):
        shells.append(context.shells.ask(context.token, "me", "a terminal"))
        context.shells.arrive(shells[-1].control_request.id, context.asked)
    with pytest.raises(ResourceExhausted, match="close one"):
        context.shells.ask(context.token, "me", "a terminal")
    context.shells.end(shells[0], "exit code 0")
    context.shells.ask(context.token, "me", "a terminal")


@pytest.mark.parametrize("text", ["", ".", "a.b.c", "é.é.é"])
def test_an_address_that_was_never_given_out_leads_nowhere(context: Counter, text: str) -> None:
    with pytest.raises(PermissionDenied):
        context.shells.find(text)
    with pytest.raises(PermissionDenied):
        context.shells.find(context.token.replace(MASTER, WORKER))


def test_where_nothing_runs_it_says_why(context: Counter) -> None:
    with pytest.raises(FailedPrecondition, match=f"{WORKER} isn't running"):
        context.shells.find(context.tokens.issue(context.job.uid, WORKER))
    context.change(state=State.SUCCEEDED)
    with pytest.raises(FailedPrecondition, match="the job is SUCCEEDED"):
        context.shells.find(context.token)


def test_a_job_that_is_gone_has_none(context: Counter) -> None:
    context.change(state=State.SUCCEEDED)
    context.store.delete(context.job.name, context.store.get(context.job.name).version)
    with pytest.raises(PermissionDenied):
        context.shells.find(context.token)


@pytest.mark.parametrize(
    ("fields", "reason"),
    [
        ({}, ""),
        ({"state": State.FAILED}, "the job has ended: FAILED"),
        ({"state": State.CANCELLING}, "the job is CANCELLING"),
        ({"replicas": (Replica(MASTER, Phase.EXITED),)}, "isn't running"),
        ({"replicas": (Replica(MASTER, Phase.RUNNING, restart=1),)}, "has started again"),
        ({"attempt": 2}, "has started again"),
    ],
)
def test_a_shell_is_over_with_the_start_of_its_replica(
    context: Counter, fields: dict[str, object], reason: str
) -> None:
    shell = context.shells.ask(context.token, "me", "a terminal")
    context.change(**fields)
    if reason:
        assert reason in context.shells.over_because(shell)
    else:
        assert context.shells.over_because(shell) == ""


def test_a_token_of_a_replica_opens_no_shell_nor_the_other_way_round() -> None:
    from footplate.control.tokens import Tokens

    key = b"k" * 32
    job: Job = make_job()
    with pytest.raises(PermissionDenied):
        ShellTokens(key).check(Tokens(key).issue(Bearer(job.attempt_id, MASTER)))
    with pytest.raises(PermissionDenied):
        Tokens(key).check(ShellTokens(key).issue(job.uid, MASTER))
