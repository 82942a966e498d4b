"""What a local run of a custom job asks of its service, and what it prints."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from click.testing import Result

from footplate.client.service import Service
from tests.support.fake_service import FakeService

RUN = ("ai", "custom-jobs", "local-run")
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
WITH = f"--executor-image-uri={IMAGE}"
NAME = "projects/local/locations/us-central1/customJobs/100"


@pytest.fixture
def code(tmp_path: Path) -> Path:
    folder = tmp_path / "code"
    (folder / "data").mkdir(parents=True)
    (folder / "training").mkdir()
    (folder / "training" / "task.py").write_text("print('hello')\n")
    (folder / "data" / "x.csv").write_text("1,2\n")
    (folder / "dep.tar.gz").write_bytes(b"dep")
    return folder


@pytest.fixture
def services(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, bool]]:
    """Which private services were started, each of which is the fake: for how many replicas,
    and whether with GPUs.
    """
    asked: list[tuple[int, bool]] = []

    @contextmanager
    def private_service(
        replicas: int, *, gpus: bool = False, seen: Path | None = None
    ) -> Iterator[Callable[[], Service]]:
        asked.append((replicas, gpus))
        yield lambda: Service(fake.url)

    module = "footplate.cli.local_runs.job_run"
    monkeypatch.setattr(f"{module}.private_service", private_service)
    return asked


class Ending(list[dict[str, object]]):
    """Lines; when they have been read, the job is over."""

    def __init__(self, fake: FakeService, state: str, error: dict[str, object]) -> None:
        super().__init__([{"cursor": 1, "replica": "workerpool0-0", "message": "hello"}])
        self._fake = fake
        self._end: dict[str, object] = {"state": state, "error": error}

    def __iter__(self) -> Iterator[dict[str, object]]:
        self._fake.jobs[NAME].update(self._end)
        return super().__iter__()


def test_code_runs_with_what_it_needs(
    invoke: Callable[..., Result],
    fake: FakeService,
    services: list[tuple[int, bool]],
    code: Path,
) -> None:
    fake.lines[NAME] = Ending(fake, "JOB_STATE_SUCCEEDED", {})
    key = code / "dep.tar.gz"
    result = invoke(
        *(*RUN, WITH, f"--local-package-path={code}", "--python-module=training.task"),
        *("--extra-dirs=data", "--requirements=pandas,tqdm>=4", "--extra-packages=dep.tar.gz"),
        *("--gpu", f"--service-account-key-file={key}", "--project=any", "--quiet"),
        *("--", "--epochs", "2", "a b"),
    )
    assert (result.exit_code, result.stdout) == (0, "hello\n")
    assert result.stderr == "Job 100 succeeded.\n"
    assert services == [(1, True)]
    (pool,) = fake.last("POST").json()["jobSpec"]["workerPoolSpecs"]
    package, extra = pool["pythonPackageSpec"].pop("packageUris")
    assert extra.endswith("/dep.tar.gz")
    assert pool == {
        "machineSpec": {
            "machineType": "n1-standard-4",
            "acceleratorType": "NVIDIA_TESLA_T4",
            "acceleratorCount": 1,
        },
        "replicaCount": "1",
        "pythonPackageSpec": {
            "executorImageUri": IMAGE,
            "pythonModule": "footplate_local_code.task",
            "args": ["--epochs", "2", "a b"],
            "env": [{"name": "GOOGLE_APPLICATION_CREDENTIALS", "value": str(key)}],
        },
    }
    content = fake.objects["footplate-local-run", package.partition("footplate-local-run/")[2]]
    with tarfile.open(fileobj=io.BytesIO(content)) as tar:
        names = [name.partition("/")[2] for name in tar.getnames()]
        setup = tar.extractfile("footplate_local_code-0.0.0/setup.py")
        assert setup is not None
        assert "['pandas', 'tqdm>=4']" in setup.read().decode()
    assert "footplate_local_code/code/training/task.py" in names
    assert "footplate_local_code/code/data/x.csv" in names


def test_a_failure_is_one_of_the_command(
    invoke: Callable[..., Result],
    fake: FakeService,
    services: list[tuple[int, bool]],
    code: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    fake.lines[NAME] = Ending(fake, "JOB_STATE_FAILED", {"code": 3, "message": "exited with 3"})
    monkeypatch.chdir(code)
    result = invoke(*RUN, WITH, "--script=training/task.py")
    assert result.exit_code == 1
    assert result.stderr == "Job 100 failed: exited with 3\n"
    assert services == [(1, False)]


@pytest.mark.parametrize(
    ("words", "code_of", "problem"),
    [
        ((), 2, "give either --script or --python-module"),
        (("--script=a.py", "--python-module=a"), 2, "give either --script or --python-module"),
        (("--script=training/task.py", "--output-image-uri=x y"), 1,
         "--output-image-uri: 'x y' is not the name of an image: it has a space"),
        (("--script=training/tsk.py",), 1,
         "--script: training/tsk.py does not exist, or is not a file"),
        (("--script=training/task.py", "--extra-dirs=../x"), 1,
         "--extra-dirs: '../x' is outside local-package-path"),
    ],
)  # fmt: skip
def test_bad_input_names_what_is_wrong_and_starts_nothing(
    words: tuple[str, ...],
    code_of: int,
    problem: str,
    invoke: Callable[..., Result],
    services: list[tuple[int, bool]],
    code: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(code)
    result = invoke(*RUN, WITH, *words)
    assert (result.exit_code, services) == (code_of, [])
    assert result.stderr.splitlines()[-1] == f"Error: {problem}"


def test_an_image_without_a_runtime_is_refused_before_anything_is_packaged(
    invoke: Callable[..., Result], services: list[tuple[int, bool]], code: Path
) -> None:
    (code / "setup.py").write_text("raise SystemExit('built')\n")
    unknown = IMAGE.replace("1-9", "1-99")
    words = (f"--local-package-path={code}", "--script=training/task.py")
    result = invoke(*RUN, f"--executor-image-uri={unknown}", *words)
    assert (result.exit_code, result.stdout, services) == (1, "", [])
    assert result.stderr.startswith(f"Error: --executor-image-uri: '{unknown}' given")
