"""``output-image-uri``: an image is built of local code, and is what the job runs."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from footplate.client.service import Service
from footplate.domain.preview.parity import Parity
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.wire.footplate_v1 import verdicts
from footplate.wire.footplate_v1.package_checks import PackageChecks
from tests.cli.ai.custom_jobs.test_local_run import NAME, Ending
from tests.support.engine_api import RecordingEngine, recording_engine
from tests.support.fake_service import Answer, FakeService

CREATE = ("ai", "custom-jobs", "create", "--display-name=census")
RUN = ("ai", "custom-jobs", "local-run", "--executor-image-uri=base:1", "--script=train.py")
PLACE = "/footplate/v1/projects/demo/locations/us-central1/customJobs"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    folder.mkdir()
    (folder / "train.py").write_text("print('hello')\n")
    return folder


@pytest.fixture
def engine(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[RecordingEngine]:
    monkeypatch.setenv("DOCKER_CONFIG", str(tmp_path))
    with recording_engine(tmp_path) as engine:
        monkeypatch.setenv("FOOTPLATE_CONTAINER_ENGINE", engine.socket)
        yield engine


def pool(code: Path, image: str) -> str:
    keys = f"machine-type=n1-standard-4,executor-image-uri=base:1,local-package-path={code}"
    return f"--worker-pool-spec={keys},script=train.py,output-image-uri={image}"


def test_create_builds_pushes_and_runs_the_image(
    invoke: Callable[..., Result], fake: FakeService, engine: RecordingEngine, code: Path
) -> None:
    image = "registry.example/team/census:1"
    engine.answers["/build"] = [{"stream": "Step 1/6 : FROM base:1"}]

    result = invoke(*CREATE, pool(code, image), "--args=--epochs=3")

    assert result.exit_code == 0, result.stderr
    assert "Step 1/6 : FROM base:1" in result.stderr
    build, push = engine.posts
    assert (build.path, build.query["t"]) == ("/build", image)
    assert push.path == "/images/registry.example/team/census/push"
    [spec] = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert spec["containerSpec"] == {"imageUri": image, "args": ["--epochs=3"]}
    assert "pythonPackageSpec" not in spec
    assert (fake.objects, fake.buckets) == ({}, [])


def test_an_image_without_a_registry_stays_on_this_machine(
    invoke: Callable[..., Result], engine: RecordingEngine, code: Path
) -> None:
    assert invoke(*CREATE, pool(code, "census:dev")).exit_code == 0
    assert [asked.path for asked in engine.posts] == ["/build"]


def test_what_does_not_build_makes_no_job(
    invoke: Callable[..., Result], fake: FakeService, engine: RecordingEngine, code: Path
) -> None:
    engine.answers["/build"] = [{"error": "no space left on device"}]

    result = invoke(*CREATE, pool(code, "census:dev"))

    assert result.exit_code == 1
    assert "census:dev does not build: no space left on device" in result.stderr
    assert fake.jobs == {}


def test_without_an_engine_it_says_what_to_do(
    invoke: Callable[..., Result],
    fake: FakeService,
    code: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setenv("FOOTPLATE_CONTAINER_ENGINE", str(code / "absent.sock"))

    result = invoke(*CREATE, pool(code, "census:dev"))

    assert result.exit_code == 1
    assert "output-image-uri needs a container engine: " in result.stderr
    assert fake.jobs == {}


def test_a_dry_run_builds_nothing(
    invoke: Callable[..., Result], fake: FakeService, engine: RecordingEngine, code: Path
) -> None:
    verdict = Verdict((), (), Parity(accepted=True), queue=Outlook(starts_now=True))
    fake.refusals["POST", f"{PLACE}:validate"] = Answer(body=verdicts.Verdict.of(verdict).encode())
    fake.refusals["POST", f"{PLACE}:checkPackages"] = Answer(body=PackageChecks.of(()).encode())

    result = invoke(*CREATE, pool(code, "census:dev"), "--dry-run", "--check-packages")

    assert result.exit_code == 0, result.stderr
    assert "Would build and push census:dev" in result.stderr
    assert engine.posts == []


@pytest.fixture
def _private(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
    @contextmanager
    def private_service(
        replicas: int, *, gpus: bool = False, seen: Path | None = None
    ) -> Iterator[Callable[[], Service]]:
        del replicas, gpus, seen
        yield lambda: Service(fake.url)

    monkeypatch.setattr("footplate.cli.local_runs.job_run.private_service", private_service)


@pytest.mark.usefixtures("_private")
def test_local_run_runs_the_image_and_pushes_nothing(
    invoke: Callable[..., Result], fake: FakeService, engine: RecordingEngine, code: Path
) -> None:
    image = "registry.example/team/census:1"
    fake.lines[NAME] = Ending(fake, "JOB_STATE_SUCCEEDED", {})

    words = (f"--local-package-path={code}", f"--output-image-uri={image}")
    result = invoke(*RUN, *words, "--", "--epochs")

    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert [asked.path for asked in engine.posts] == ["/build"]
    [spec] = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    assert spec["containerSpec"] == {"imageUri": image, "args": ["--epochs"]}
