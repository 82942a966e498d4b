"""What a local run asks of its service, and what it prints."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable
from pathlib import Path

import pytest
from click.shell_completion import ShellComplete
from click.testing import Result

from footplate.cli.main import main
from tests.support.fake_service import FakeService

TRAIN = ("ai-platform", "local", "train")
MODULE = "--module-name=trainer.task"
STARTER = "footplate_local_train"
PLACES = "a folder, or gs://BUCKET/PATH"

USAGE = "Usage: footplate ai-platform local train [OPTIONS] [-- ARGS...]"
TOLD = """\
  The folder given by --package-path is packaged and installed into a runtime as
  by `jobs submit training`, in a service that this command starts and ends;
  `footplate up` need not run. The program starts in the folder around the
  package, so that relative paths after the bare -- mean files there. It gets no
  GPU.
"""


def job(fake: FakeService) -> dict[str, object]:
    """The training input that was sent, without its packages."""
    (creation,) = (r for r in fake.requests if r.path == "/v1/projects/local/jobs")
    sent = creation.json()
    assert sent["jobId"] == "local_train"
    given: dict[str, object] = sent["trainingInput"]
    given.pop("packageUris")
    return given


def test_one_replica_from_code_to_end(
    invoke: Callable[..., Result],
    fake: FakeService,
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
) -> None:
    end("SUCCEEDED", ("master-replica-0", "epoch 1"), ("master-replica-0", "epoch 2"))
    place = trainer.parent / "x" / ".." / "output"
    words = (f"--package-path={trainer}", f"--job-dir={place}", "--runtime-version=1.15")
    result = invoke(*TRAIN, MODULE, *words, "--", "--epochs", "2", "--job-dir=mine")

    assert (result.exit_code, result.stdout) == (0, "epoch 1\nepoch 2\n")
    assert result.stderr == f"Packaging {trainer}\nJob local_train succeeded.\n"
    assert rooms == [1]
    assert job(fake) == {
        "scaleTier": "BASIC",
        "region": "us-central1",
        "pythonModule": f"{STARTER}.task",
        "jobDir": str(trainer.parent / "output"),
        "runtimeVersion": "1.15",
        "args": ["--epochs", "2", "--job-dir=mine"],
    }
    assert [path.name for path in trainer.parent.iterdir()] == ["trainer"]


def test_the_module_is_started_in_the_folder_around_its_package(
    invoke: Callable[..., Result],
    fake: FakeService,
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    end("SUCCEEDED")
    monkeypatch.chdir(trainer)
    assert invoke(*TRAIN, MODULE).exit_code == 0

    assert rooms == [1]
    assert [name.rpartition("/")[2] for _, name in fake.objects] == [
        "trainer-0.0.0.tar.gz",
        f"{STARTER}-0.0.0.tar.gz",
    ]
    starter = list(fake.objects.values())[1]
    with tarfile.open(fileobj=io.BytesIO(starter)) as tar:
        member = tar.extractfile(f"{STARTER}-0.0.0/{STARTER}/task.py")
        assert member is not None
        task = member.read().decode()
    assert f"os.chdir({str(trainer.parent)!r})" in task
    assert "runpy.run_module('trainer.task', run_name=\"__main__\"" in task


def test_a_cluster_with_counts_of_gcloud(
    invoke: Callable[..., Result],
    fake: FakeService,
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
) -> None:
    end("SUCCEEDED", ("master-replica-0", "one"), ("ps-replica-1", "two"))
    words = (f"--package-path={trainer}", "--distributed", "--start-port=27182")
    result = invoke(*TRAIN, MODULE, *words)

    assert result.stdout == "master-replica-0  one\nps-replica-1      two\n"
    assert rooms == [5]
    assert job(fake) == {
        "scaleTier": "CUSTOM",
        "region": "us-central1",
        "pythonModule": f"{STARTER}.task",
        "masterType": "n1-standard-4",
        "workerType": "n1-standard-4",
        "workerCount": "2",
        "parameterServerType": "n1-standard-4",
        "parameterServerCount": "2",
    }


@pytest.mark.parametrize(
    ("words", "room", "counts"),
    [
        (("--distributed", "--worker-count=1", "--parameter-server-count=0"), 2,
         {"workerCount": "1"}),
        (("--distributed", "--worker-count=0", "--evaluator-count=1"), 4,
         {"parameterServerCount": "2", "evaluatorCount": "1"}),
        (("--distributed", "--worker-count=0", "--parameter-server-count=0"), 1, {}),
        (("--worker-count=3", "--parameter-server-count=3", "--evaluator-count=3"), 1, {}),
    ],
)  # fmt: skip
def test_counts_that_are_given(
    words: tuple[str, ...],
    room: int,
    counts: dict[str, str],
    invoke: Callable[..., Result],
    fake: FakeService,
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
) -> None:
    end("SUCCEEDED")
    assert invoke(*TRAIN, MODULE, f"--package-path={trainer}", *words).exit_code == 0
    assert rooms == [room]
    assert {k: v for k, v in job(fake).items() if k.endswith("Count")} == counts
    types = {k for k in job_types(fake) if k != "masterType"}
    assert types == {name.replace("Count", "Type") for name in counts}


def job_types(fake: FakeService) -> list[str]:
    given = next(r for r in fake.requests if r.path == "/v1/projects/local/jobs").json()
    return [name for name in given["trainingInput"] if name.endswith("Type")]


def test_a_place_in_a_bucket_is_made_and_said_not_to_last(
    invoke: Callable[..., Result],
    fake: FakeService,
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
) -> None:
    end("SUCCEEDED")
    words = (f"--package-path={trainer}", "--job-dir=gs://stage/census")
    result = invoke(*TRAIN, MODULE, *words)
    assert result.stderr == (
        f"Packaging {trainer}\n"
        "Note: the files in gs://stage/census are removed after this run; to keep them, give a "
        "folder as --job-dir.\n"
        "Job local_train succeeded.\n"
    )
    assert rooms == [1]
    assert fake.buckets == ["footplate-local-train", "stage"]
    assert job(fake)["jobDir"] == "gs://stage/census"


@pytest.mark.parametrize(
    ("state", "cause", "said"),
    [
        ("FAILED", "replica master-replica-0 exited with code 3: ValueError: no",
         "failed: replica master-replica-0 exited with code 3: ValueError: no"),
        ("CANCELLED", "", "was cancelled."),
    ],
)  # fmt: skip
def test_an_end_without_success_is_one_of_the_command(
    state: str,
    cause: str,
    said: str,
    invoke: Callable[..., Result],
    rooms: list[int],
    end: Callable[..., None],
    trainer: Path,
) -> None:
    end(state, cause=cause)
    result = invoke(*TRAIN, MODULE, f"--package-path={trainer}")
    assert (result.exit_code, rooms) == (1, [1])
    assert result.stderr.splitlines()[-1] == f"Job local_train {said}"


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        ((), 2, "Missing option '--module-name'."),
        (("--module-name=trainer.tsk",), 1,
         ("--module-name: 'trainer.tsk' given, a module that trainer-0.0.0.tar.gz doesn't have; "
          "did you mean trainer.task?")),
        (("--module-name=task",), 1,
         ("--module-name: 'task' given, a module that trainer-0.0.0.tar.gz doesn't have; did you "
          "mean trainer.task?")),
        (("--module-name=trainer",), 1,
         ("--module-name: 'trainer' given, a module that trainer-0.0.0.tar.gz doesn't have; did "
          "you mean trainer.task?")),
        ((MODULE, "--package-path=/nowhere"), 1, "--package-path: /nowhere is not a folder"),
        ((MODULE, "--package-path=.."), 1,
         ("--package-path: .. is not a Python package: it has no __init__.py; give the folder "
          "with the modules, such as trainer/, not its parent folder")),
        ((MODULE, "--job-dir=s3://a/b"), 1, f"--job-dir: 's3://a/b' given; allowed: {PLACES}"),
        ((MODULE, "--job-dir=gs://"), 1,
         "--job-dir: 'gs://' given; allowed: gs://BUCKET/PATH"),
        ((MODULE, "--worker-count=-1"), 2,
         "Invalid value for '--worker-count': -1 is not in the range x>=0."),
        ((MODULE, "--start-port=0"), 2,
         "Invalid value for '--start-port': 0 is not in the range 1<=x<=65535."),
    ],
)  # fmt: skip
def test_bad_input_names_what_is_wrong_and_starts_nothing(
    words: tuple[str, ...],
    code: int,
    message: str,
    invoke: Callable[..., Result],
    rooms: list[int],
    trainer: Path,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.chdir(trainer)
    result = invoke(*TRAIN, *words)
    assert (result.exit_code, result.stdout, rooms) == (code, "", [])
    assert result.stderr.splitlines()[-1] == f"Error: {message}"


def test_a_file_is_no_job_directory(
    invoke: Callable[..., Result], rooms: list[int], trainer: Path
) -> None:
    file = trainer / "task.py"
    result = invoke(*TRAIN, MODULE, f"--package-path={trainer}", f"--job-dir={file}")
    assert (result.exit_code, rooms) == (1, [])
    assert result.stderr == f"Error: --job-dir: {file} is a file; allowed: {PLACES}\n"


def test_a_build_of_ones_own_may_lay_packages_out_otherwise(
    invoke: Callable[..., Result], rooms: list[int], end: Callable[..., None], trainer: Path
) -> None:
    """What setup.py makes of a folder is known when it is installed."""
    end("SUCCEEDED")
    (trainer.parent / "setup.py").write_text(
        "from setuptools import setup\n"
        "setup(name='mine', version='3', packages=['model'], package_dir={'model': 'trainer'})\n"
    )
    path = f"--package-path={trainer}"
    assert invoke(*TRAIN, "--module-name=model.task", path).exit_code == 0
    refused = invoke(*TRAIN, "--module-name=trainer.tsk", path)
    assert refused.stderr.splitlines()[-1].endswith("did you mean trainer.task?")
    assert rooms == [1]


def test_help_says_what_it_does_and_what_gcloud_has_not(invoke: Callable[..., Result]) -> None:
    text = invoke(*TRAIN, "--help").stdout
    assert text.splitlines()[0] == USAGE
    assert TOLD in text
    assert " ".join(text.split()).count("gcloud has no such option") == 2


def test_tab_completes_it() -> None:
    completion = ShellComplete(main, {}, "footplate", "_FOOTPLATE_COMPLETE")

    def offered(*words: str, begun: str) -> list[str]:
        return [item.value for item in completion.get_completions(list(words), begun)]

    assert offered("ai-platform", "local", begun="") == ["train"]
    assert offered(*TRAIN, begun="--w") == ["--worker-count"]


def test_a_runtime_that_is_not_there_is_refused_before_anything_is_packaged(
    invoke: Callable[..., Result], rooms: list[int], trainer: Path
) -> None:
    result = invoke(*TRAIN, MODULE, f"--package-path={trainer}", "--runtime-version=1.2")
    assert (result.exit_code, rooms) == (1, [])
    assert result.stderr.startswith("Error: --runtime-version: '1.2' given")
    assert len(result.stderr.splitlines()) == 1
