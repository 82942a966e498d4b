"""The metadata server of programs: whose key opens it, and what its credentials are good for."""

from __future__ import annotations

import base64
import json
from dataclasses import replace

import pytest

from footplate.control.program_metadata import ISSUER, ProgramMetadata
from footplate.control.program_storage import ProgramStorage
from footplate.control.tokens import Bearer
from footplate.domain.catalogue import Region, Zone
from footplate.domain.errors import InvalidArgument, NotFound, PermissionDenied
from footplate.domain.jobs import Job
from tests.support.clock import FakeClock
from tests.support.program_keys import MASTER, OVER, SECRET, store_running_job
from tests.support.store import MemoryStore

ACCOUNT = "instance/service-accounts/default"
ZONES = (Zone("us-central1-b"), Zone("us-central1-c"))


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def job(store: MemoryStore) -> Job:
    return store_running_job(store, "trainer@demo.example")


@pytest.fixture
def storage(store: MemoryStore) -> ProgramStorage:
    return ProgramStorage(store, SECRET, "http://127.0.0.1:8470")


@pytest.fixture
def key(storage: ProgramStorage, job: Job) -> str:
    return storage.path(Bearer(job.attempt_id, MASTER)).rpartition("/")[2]


@pytest.fixture
def metadata(storage: ProgramStorage, job: Job) -> ProgramMetadata:
    regions = {job.spec.region: Region(job.spec.region, ZONES)}
    return ProgramMetadata(storage.find, regions, SECRET, FakeClock())


def test_it_describes_the_replica(metadata: ProgramMetadata, job: Job, key: str) -> None:
    assert metadata.read(key, "project/project-id") == job.name.project
    assert metadata.read(key, "instance/zone") == "projects/0/zones/us-central1-b"
    assert metadata.read(key, f"{ACCOUNT}/email") == "trainer@demo.example"
    with pytest.raises(NotFound, match="has no 'instance/gpu'"):
        metadata.read(key, "instance/gpu")


def test_a_job_without_an_account_has_a_made_up_one(
    metadata: ProgramMetadata, store: MemoryStore, job: Job, key: str
) -> None:
    spec = replace(job.spec, service_account=None)
    store.update(replace(job, spec=spec, version=job.version + 1), ())
    assert metadata.read(key, f"{ACCOUNT}/email") == "program@footplate.invalid"


def test_the_access_token_opens_the_buckets_and_is_no_other_key(
    metadata: ProgramMetadata, storage: ProgramStorage, job: Job, key: str
) -> None:
    made = metadata.make(key, f"{ACCOUNT}/token", "")
    assert made == {"access_token": key, "expires_in": 3600, "token_type": "Bearer"}
    assert storage.check(key) == job


def test_an_identity_token_says_that_it_is_not_googles(metadata: ProgramMetadata, key: str) -> None:
    made = metadata.make(key, f"{ACCOUNT}/identity", "https://example.com")
    assert isinstance(made, str)
    claims = json.loads(base64.urlsafe_b64decode(made.split(".")[1] + "=="))
    assert claims["iss"] == ISSUER
    assert claims["aud"] == "https://example.com"
    assert claims["email"] == "trainer@demo.example"
    assert claims["email_verified"] is False
    assert claims["exp"] - claims["iat"] == 3600
    assert key not in made
    with pytest.raises(InvalidArgument, match="audience"):
        metadata.make(key, f"{ACCOUNT}/identity", "")


def test_no_token_of_an_account_that_is_not_there(metadata: ProgramMetadata, key: str) -> None:
    with pytest.raises(NotFound):
        metadata.make(key, "instance/service-accounts/other@example.com/token", "")


@pytest.mark.parametrize("change", OVER)
def test_a_key_whose_replica_is_over_opens_nothing(
    metadata: ProgramMetadata, store: MemoryStore, job: Job, key: str, change: dict[str, object]
) -> None:
    store.update(replace(job, version=job.version + 1, **change), ())  # type: ignore[arg-type]
    for read in (metadata.read, lambda key, path: metadata.make(key, f"{ACCOUNT}/{path}", "x")):
        with pytest.raises(PermissionDenied):
            read(key, "token")
        with pytest.raises(PermissionDenied):
            read(f"x{key}", "token")
