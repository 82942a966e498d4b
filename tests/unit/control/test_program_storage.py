from __future__ import annotations

import re
from dataclasses import replace

import pytest

from footplate.control.program_storage import ProgramStorage
from footplate.control.tokens import Bearer, Tokens
from footplate.domain.errors import PermissionDenied
from footplate.domain.jobs import Job
from tests.support.program_keys import MASTER, OVER, SECRET, store_running_job
from tests.support.store import MemoryStore

URL = "http://127.0.0.1:8470"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def job(store: MemoryStore) -> Job:
    return store_running_job(store)


@pytest.fixture
def storage(store: MemoryStore) -> ProgramStorage:
    return ProgramStorage(store, SECRET, URL)


def key_of(storage: ProgramStorage, bearer: Bearer) -> str:
    variables = dict(storage.variables(bearer))
    address = variables["STORAGE_EMULATOR_HOST"]
    assert variables["CLOUD_STORAGE_EMULATOR_ENDPOINT"] == address
    before, _, key = address.rpartition("/")
    assert before == f"{URL}/programs"
    return key


def test_an_address_lets_in_as_long_as_the_replica_is_there(
    storage: ProgramStorage, job: Job
) -> None:
    storage.check(key_of(storage, Bearer(job.attempt_id, MASTER)))


def test_the_key_is_the_proxys_password_where_the_server_has_one(
    store: MemoryStore, job: Job
) -> None:
    bearer = Bearer(job.attempt_id, MASTER)
    with_proxy = ProgramStorage(store, SECRET, "http://[::1]:8470", 8472)
    address = dict(with_proxy.variables(bearer))["FOOTPLATE_GS_PROXY"]
    assert re.fullmatch(r"http://program:[^@]+@\[::1\]:8472", address)
    with_proxy.check(address.split("@")[0].removeprefix("http://program:"))
    without = ProgramStorage(store, SECRET, URL)
    assert "FOOTPLATE_GS_PROXY" not in dict(without.variables(bearer))


def test_programs_on_other_machines_are_led_to_the_relay_of_their_launcher(
    store: MemoryStore, job: Job
) -> None:
    bearer, relay = Bearer(job.attempt_id, MASTER), "http://127.0.0.1:7"
    storage = ProgramStorage(store, SECRET, URL, 8472)
    variables = dict(storage.variables(bearer, relay))
    address = variables["STORAGE_EMULATOR_HOST"]
    assert address == relay + storage.path(bearer)
    assert variables["CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"] == f"{relay}/"
    storage.check(address.rpartition("/")[2])
    proxy = variables["FOOTPLATE_GS_PROXY"]
    assert proxy.startswith("http://program:")
    assert proxy.endswith("@127.0.0.1:7"), "the launcher's port, not the proxy's own"
    without = ProgramStorage(store, SECRET, URL)
    assert "FOOTPLATE_GS_PROXY" not in dict(without.variables(bearer, relay))


def test_the_metadata_server_is_at_the_same_address(storage: ProgramStorage, job: Job) -> None:
    bearer, relay = Bearer(job.attempt_id, MASTER), "http://127.0.0.1:7"
    for variables, place in (
        (dict(storage.variables(bearer)), "127.0.0.1:8470"),
        (dict(storage.variables(bearer, relay)), "127.0.0.1:7"),
    ):
        for name in ("GCE_METADATA_HOST", "GCE_METADATA_IP", "GCE_METADATA_ROOT"):
            assert variables[name] == place + storage.path(bearer)
        assert "NO_GCE_CHECK" not in variables


def test_gcloud_finds_here_what_is_not_here_too(storage: ProgramStorage, job: Job) -> None:
    variables = dict(storage.variables(Bearer(job.attempt_id, MASTER)))
    overrides = "CLOUDSDK_API_ENDPOINT_OVERRIDES_"
    assert variables[f"{overrides}AIPLATFORM"] == f"{URL}/"
    assert variables[f"{overrides}PUBSUB"] == f"{URL}/programs/-/pubsub.googleapis.com/"


@pytest.mark.parametrize("change", OVER)
def test_it_ends_with_that_start_of_the_replica(
    storage: ProgramStorage, store: MemoryStore, job: Job, change: dict[str, object]
) -> None:
    key = key_of(storage, Bearer(job.attempt_id, MASTER))
    store.update(replace(job, version=job.version + 1, **change), ())  # type: ignore[arg-type]  # the test knows them
    with pytest.raises(PermissionDenied):
        storage.check(key)


def test_no_address_speaks_for_a_supervisor_and_no_supervisors_token_is_one(
    storage: ProgramStorage, job: Job
) -> None:
    supervisors, bearer = Tokens(SECRET), Bearer(job.attempt_id, MASTER)
    with pytest.raises(PermissionDenied):
        supervisors.check(key_of(storage, bearer))
    with pytest.raises(PermissionDenied):
        storage.check(supervisors.issue(bearer))
    with pytest.raises(PermissionDenied):
        ProgramStorage(MemoryStore(), b"x" * 32, URL).check(key_of(storage, bearer))
