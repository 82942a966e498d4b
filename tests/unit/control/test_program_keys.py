"""Keys by which programs on other machines call the API."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.program_calls import ProgramCalls
from footplate.control.program_keys import KeyedCalls, ProgramKeys
from footplate.control.program_storage import ProgramStorage
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import NotFound, PermissionDenied
from footplate.domain.jobs import Job
from tests.support.program_keys import MASTER, OVER, SECRET, store_running_job
from tests.support.store import MemoryStore


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def job(store: MemoryStore) -> Job:
    return store_running_job(store, "trainer@demo.example")


def make_calls(
    store: MemoryStore, projects: tuple[str, ...] = ("*",), *, closed: bool = False
) -> KeyedCalls:
    calls = ProgramCalls(store, projects, closed=closed)
    return KeyedCalls(ProgramKeys(store, SECRET), ProgramStorage(store, SECRET, "").check, calls)


def make_key(job: Job, secret: bytes = SECRET) -> str:
    return ProgramKeys(MemoryStore(), secret).issue(Bearer(job.attempt_id, MASTER))


def storage_key(store: MemoryStore, job: Job) -> str:
    path = ProgramStorage(store, SECRET, "").path(Bearer(job.attempt_id, MASTER))
    return path.rpartition("/")[2]


def test_the_key_of_a_program_that_may_call_lets_it(store: MemoryStore, job: Job) -> None:
    assert make_calls(store, (job.name.project,)).check(make_key(job)) == str(job.name)


@pytest.mark.parametrize(
    ("projects", "closed", "said"),
    [
        ((), False, "api_access doesn't name the project"),
        (("another",), False, "api_access doesn't name the project"),
        (("*",), True, "requires a token, and tokens are for persons"),
    ],
)
@pytest.mark.parametrize("kind", [make_key, None], ids=["key", "storage key"])
def test_others_are_refused_as_on_the_servers_machine(
    store: MemoryStore,
    job: Job,
    *,
    projects: tuple[str, ...],
    closed: bool,
    said: str,
    kind: object,
) -> None:
    key = make_key(job) if kind else storage_key(store, job)
    with pytest.raises(PermissionDenied, match=said):
        make_calls(store, projects, closed=closed).check(key)


def test_a_job_without_an_account_is_refused(store: MemoryStore, job: Job) -> None:
    spec = replace(job.spec, service_account=None)
    store.update(replace(job, version=job.version + 1, spec=spec), ())
    with pytest.raises(PermissionDenied, match="its job has no serviceAccount"):
        make_calls(store).check(make_key(job))


def test_the_key_to_buckets_is_none_to_the_api(store: MemoryStore, job: Job) -> None:
    with pytest.raises(PermissionDenied, match=r"opens only buckets and its log.*FOOTPLATE_TOKEN"):
        make_calls(store).check(storage_key(store, job))
    with pytest.raises(PermissionDenied):
        ProgramStorage(store, SECRET, "").check(make_key(job))


@pytest.mark.parametrize("change", OVER)
def test_a_key_ends_with_that_start_of_the_replica(
    store: MemoryStore, job: Job, change: dict[str, object]
) -> None:
    store.update(replace(job, version=job.version + 1, **change), ())  # type: ignore[arg-type]  # the test knows them
    with pytest.raises(PermissionDenied):
        make_calls(store).check(make_key(job))


def test_what_is_no_key_is_told_nothing(store: MemoryStore, job: Job) -> None:
    supervisors = Tokens(SECRET).issue(Bearer(job.attempt_id, MASTER))
    for given in ("", "x", supervisors, make_key(job, b"x" * 32)):
        with pytest.raises(NotFound):
            make_calls(store).check(given)


def test_no_key_speaks_for_a_supervisor(job: Job) -> None:
    with pytest.raises(PermissionDenied):
        Tokens(SECRET).check(make_key(job))
