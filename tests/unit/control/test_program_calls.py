"""Which programs may call the API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.program_calls import ProgramCalls
from footplate.domain.callers import Caller, CallerKind
from footplate.domain.errors import PermissionDenied
from footplate.domain.job_states import State
from footplate.domain.names import AttemptId
from tests.support.jobs import make_job
from tests.support.store import MemoryStore

JOB = replace(make_job(), state=State.RUNNING, attempt=1)
ASKING = replace(JOB, spec=replace(JOB.spec, service_account="a@b.c"))
PROGRAM = Caller(CallerKind.PROGRAM, JOB.attempt_id)


def calls(*projects: str, job: object = ASKING) -> ProgramCalls:
    store = MemoryStore()
    store.create(job, ())  # type: ignore[arg-type]  # the test gives jobs
    return ProgramCalls(store, projects)


def test_whoever_has_shown_a_token_is_believed_unless_it_is_a_program_or_gone() -> None:
    store = MemoryStore()
    store.create(ASKING, ())
    given = ProgramCalls(store, ("*",), closed=True)
    assert given.check(Caller(CallerKind.UNKNOWN, reason="it hides")) == ""
    with pytest.raises(PermissionDenied, match="requires a token, and tokens are for persons"):
        given.check(PROGRAM)
    with pytest.raises(PermissionDenied, match=r"\(closed\).* keep the connection open"):
        given.check(Caller(CallerKind.UNKNOWN, reason="closed", gone=True))


def test_users_may_call() -> None:
    assert calls().check(Caller(CallerKind.USER)) == ""


@pytest.mark.parametrize("projects", [("demo",), ("other", "demo"), ("*",)])
def test_a_program_may_call_whose_project_and_job_say_so(projects: tuple[str, ...]) -> None:
    assert calls(*projects).check(PROGRAM) == str(JOB.name)


@pytest.mark.parametrize(
    ("given", "caller", "said"),
    [
        (calls(), PROGRAM, "api_access doesn't name the project 'demo'"),
        (calls("other"), PROGRAM, "api_access doesn't name the project 'demo'"),
        (calls("demo", job=JOB), PROGRAM, "its job has no serviceAccount"),
        (
            calls("*"),
            Caller(CallerKind.PROGRAM),
            "the server can't tell whose program",
        ),
        (calls("*"), Caller(CallerKind.PROGRAM, AttemptId("x")), "can't tell whose"),
        (calls("*"), Caller(CallerKind.PROGRAM, AttemptId(f"{JOB.uid}-2")), "can't tell whose"),
        (calls("*", job=replace(ASKING, state=State.FAILED)), PROGRAM, "can't tell whose"),
        (calls("*"), Caller(CallerKind.UNKNOWN, reason="it hides"), r"\(it hides\).* token"),
    ],
)
def test_others_are_refused_with_the_way_out(
    given: ProgramCalls, caller: Caller, said: str
) -> None:
    with pytest.raises(PermissionDenied, match=said):
        given.check(caller)
