"""The typed client against the fake service."""

from __future__ import annotations

import socket
import ssl
from collections.abc import Iterator
from pathlib import Path

import pytest

from footplate.client.error_mapping import NoServer, UntrustedCertificate, read_failure
from footplate.client.service import Service
from footplate.domain.errors import (
    AlreadyExists,
    DataLoss,
    InvalidArgument,
    NotFound,
    UnknownError,
    Violation,
)
from footplate.domain.job_states import State
from footplate.domain.names import (
    CustomJobName,
    GcsUri,
    TrainingJobName,
    TrainingPipelineName,
    TuningJobName,
)
from tests.support.certificates import sign_own
from tests.support.fake_service import Answer, FakeService

NAME = TrainingJobName("demo", "census_1")
CUSTOM = CustomJobName("demo", "us-central1", "100")


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with FakeService() as fake:
        yield fake


@pytest.fixture
def service(fake: FakeService) -> Iterator[Service]:
    with Service(fake.url) as service:
        yield service


def test_a_training_job_through_its_life(fake: FakeService, service: Service) -> None:
    job = service.training_jobs.create("demo", {"jobId": "census_1", "labels": {"a": "b"}})
    assert (job.name, job.state, job.error_message) == (NAME, State.QUEUED, "")
    assert service.training_jobs.get(NAME) == job
    fake.jobs[str(NAME)].update(state="FAILED", errorMessage="it broke")
    assert service.job(NAME).error_message == "it broke"
    service.cancel(NAME)
    assert service.training_jobs.get(NAME).state is State.CANCELLED
    with pytest.raises(AlreadyExists, match="projects/demo/jobs/census_1 exists already"):
        service.training_jobs.create("demo", {"jobId": "census_1"})


@pytest.fixture
def certificate(tmp_path: Path) -> Path:
    return sign_own(tmp_path)


def test_certificates_of_the_environment_are_for_loopback_too(
    certificate: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Unlike its proxies."""
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(certificate, certificate.with_suffix(".key"))
    monkeypatch.setenv("https_proxy", "http://127.0.0.1:9")
    with FakeService(context) as fake:
        monkeypatch.delenv("SSL_CERT_FILE", raising=False)
        told = r"certificate of https://localhost:\d+ isn't trusted \(self-signed certificate\); if"
        with Service(fake.url) as service, pytest.raises(UntrustedCertificate, match=told):
            service.health()
        monkeypatch.setenv("SSL_CERT_FILE", str(certificate))
        with Service(fake.url) as service:
            assert service.health()


def test_a_custom_job_through_its_life(fake: FakeService, service: Service) -> None:
    job = service.custom_jobs.create("demo", "us-central1", {"displayName": "census"})
    assert (job.name, job.display_name, job.state) == (CUSTOM, "census", State.QUEUED)
    fake.jobs[str(CUSTOM)].update(
        state="JOB_STATE_PENDING", error={"code": 3, "message": "a sentence"}
    )
    job = service.custom_jobs.get(CUSTOM)
    assert (job.state, job.error_message) == (State.PREPARING, "a sentence")
    service.cancel(CUSTOM)
    assert service.job(CUSTOM).state is State.CANCELLED
    service.custom_jobs.delete(CUSTOM)
    with pytest.raises(NotFound):
        service.custom_jobs.get(CUSTOM)


@pytest.mark.parametrize("kind", [CustomJobName, TuningJobName])
def test_a_pipeline_is_read_and_ended_as_the_job_behind_it(
    fake: FakeService, service: Service, kind: type[CustomJobName | TuningJobName]
) -> None:
    place = ("demo", "us-central1")
    pipeline = TrainingPipelineName(*place, "100")
    if kind is TuningJobName:
        fake.tuning_pipelines.add(str(pipeline))
        service.tuning_jobs.create(*place, {"displayName": "behind"})
    else:
        service.custom_jobs.create(*place, {"displayName": "behind"})
    job = service.job(pipeline)
    assert (job.name, job.state) == (kind(*place, "100"), State.QUEUED)
    assert service.program(pipeline) == service.program(job.name) == job.name
    assert [each.name for each in service.jobs_beside(pipeline)] == [job.name]
    service.cancel(pipeline)
    assert service.job(pipeline).state is State.CANCELLED


def test_lists_turn_the_page(fake: FakeService, service: Service) -> None:
    for number in range(5):
        service.training_jobs.create("demo", {"jobId": f"j{number}"})
    found = service.training_jobs.list("demo", condition="state=QUEUED", page_size=2)
    assert [job.name.job_id for job in found] == ["j0", "j1", "j2", "j3", "j4"]
    query = {"filter": "state=QUEUED", "pageSize": "2", "pageToken": "4"}
    assert fake.last("GET").query == query


def test_relabel_guards_itself_with_the_etag(fake: FakeService, service: Service) -> None:
    fake.refusals["PATCH", f"/v1/{NAME}"] = Answer(body={"jobId": "census_1", "state": "RUNNING"})
    service.training_jobs.relabel(NAME, {"a": "c"}, etag="aGk=")
    request = fake.last("PATCH")
    assert request.query == {"updateMask": "labels,etag"}
    assert request.json() == {"labels": {"a": "c"}, "etag": "aGk="}


def test_objects_arrive_whole_or_not_at_all(fake: FakeService, service: Service) -> None:
    service.storage.create_bucket("demo", "stage")
    assert [bucket.name for bucket in service.storage.buckets("demo")] == ["stage"]
    uri = GcsUri("stage", "a b/c:d.txt")
    stored = service.storage.upload(uri, b"hello")
    assert (stored.uri, stored.size_bytes) == ("gs://stage/a b/c:d.txt", 5)
    assert [o.name for o in service.storage.objects(GcsUri("stage", "a"))] == ["a b/c:d.txt"]
    wrong = {"bucket": "stage", "name": "x", "size": "5", "crc32c": "AAAAAA=="}
    fake.refusals["POST", "/upload/storage/v1/b/stage/o"] = Answer(body=wrong)
    with pytest.raises(DataLoss, match="arrived damaged"):
        service.storage.upload(uri, b"hello")
    with pytest.raises(NotFound, match="nowhere"):
        service.storage.upload(GcsUri("nowhere", "x"), b"hello")


def test_lines_and_events_in_order(fake: FakeService, service: Service) -> None:
    fake.lines[str(NAME)] = [{"cursor": n, "message": f"line {n}"} for n in (1, 2, 3)]
    fake.events[str(NAME)] = [{"number": 1, "kind": "PREPARING", "message": "1 of 2"}]
    assert [line.message for line in service.logs(NAME, cursor=1)] == ["line 2", "line 3"]
    (event,) = service.events(NAME)
    assert (event.number, event.kind, event.message) == (1, "PREPARING", "1 of 2")
    assert list(service.events(NAME, after=1)) == []


def test_status_and_down(service: Service) -> None:
    service.training_jobs.create("demo", {"jobId": "census_1"})
    assert service.status().active_jobs == {"RUNNING": 1}
    assert service.down() == 1


def test_the_token_travels_as_a_bearer(fake: FakeService) -> None:
    with Service(fake.url, "s3cret") as service:
        service.health()
    assert fake.last("GET").headers["authorization"] == "Bearer s3cret"


def test_no_server_says_how_to_start_one() -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        url = f"http://127.0.0.1:{taken.getsockname()[1]}"
        with Service(url) as service, pytest.raises(NoServer, match="footplate up") as caught:
            service.health()
    assert caught.value.message.startswith(f"no Footplate server answers at {url};")


def test_a_url_that_is_none_is_refused() -> None:
    with pytest.raises(InvalidArgument, match="'localhost:80' is not a URL"):
        Service("localhost:80")


def test_violations_are_read_from_the_details() -> None:
    body = (
        b'{"error":{"code":400,"status":"INVALID_ARGUMENT","message":"bad","details":['
        b'{"@type":"x","fieldViolations":[{"field":"jobId","description":"too long"}]}]}}'
    )
    error = read_failure(400, body, "http://x")
    assert isinstance(error, InvalidArgument)
    assert error.violations == (Violation("jobId", "too long"),)


def test_an_answer_of_another_kind_of_server_is_shown() -> None:
    error = read_failure(502, b"<html>Bad gateway", "http://x")
    assert type(error) is UnknownError
    expected = (
        "the server at http://x is not a Footplate server: it answered HTTP 502 with <html>Bad "
        "gateway"
    )
    assert error.message == expected
