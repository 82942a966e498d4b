"""All that commands print, on terminals, in pipes and as JSON, beside what is stored of it.

After a change that is meant, ``WRITE_OUTPUTS=1 pytest tests/cli/outputs`` stores what is printed;
read the difference before it is committed.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

import pytest
from click.testing import CliRunner

from footplate.catalogue import load_catalogue
from footplate.cli.main import main
from footplate.wire.catalogue import encode_catalogue
from tests.support.fake_service import TIME, Answer, FakeService

HERE = Path(__file__).parent
PLACE = "projects/demo/locations/us-central1"
WAITS = "Waits for 4 NVIDIA_TESLA_T4: job census_1 holds 4 of 4; it is the first in line"
CAUSE = "replica master-replica-0 exited with code 1: ValueError: no such column: age"
OWN = """\
replace = true
[accelerators.NVIDIA_TESLA_T4]
kind = "GPU"
memory_gb = 16
[machine_types.rack]
vcpus = 32
memory_gb = 128
accelerators.NVIDIA_TESLA_T4 = [1, 2]
[machine_types.bench]
vcpus = 4
memory_gb = 7.5
[regions.home1]
zones.a = ["NVIDIA_TESLA_T4"]
zones.b = []
[scale_tiers.BASIC]
master = { machine_type = "bench" }
"""

LISTS = {
    "training-jobs-list": "ai-platform jobs list",
    "custom-jobs-list": "ai custom-jobs list",
    "tuning-jobs-list": "ai hp-tuning-jobs list",
    "training-jobs-list-none": "ai-platform jobs list --project=empty",
    "locations-list": "ai-platform locations list",
    "machine-types": "catalogue machine-types",
    "accelerators": "catalogue accelerators",
    "regions": "catalogue regions",
    "scale-tiers": "catalogue scale-tiers",
    "buckets-list": "storage buckets list",
    "storage-ls": "storage ls gs://stage",
    "storage-ls-long": "storage ls -l -r gs://stage",
}
ONES = {
    "training-job-waits": "ai-platform jobs describe census_3",
    "training-job-failed": "ai-platform jobs describe census_2",
    "training-job-missing": "ai-platform jobs describe census_22",
    "custom-job": "ai custom-jobs describe 11",
    "tuning-job": "ai hp-tuning-jobs describe 22",
    "tuning-job-table": "ai hp-tuning-jobs describe 22 --format=table",
    "trials": "ai hp-tuning-jobs trials 22",
    "trial": "ai hp-tuning-jobs trials 22 --trial=2",
    "curves": "ai hp-tuning-jobs trials 22 --curves",
    "events": "ai-platform jobs events census_1",
    "location": "ai-platform locations describe home1",
    "status": "status",
}
DEEDS = {
    "training-job-submit": "ai-platform jobs submit training census_9 --module-name=trainer.task "
    "--packages=gs://stage/trainer.tar.gz --labels=team=vision",
    "custom-job-create": "ai custom-jobs create --display-name=census --worker-pool-spec="
    "machine-type=n1-standard-4,container-image-uri=gcr.io/a/b",
    "training-job-update": "ai-platform jobs update census_1 --update-labels=team=vision",
    "training-job-cancel": "ai-platform jobs cancel census_1",
    "training-job-cancel-ended": "ai-platform jobs stream-logs census_2",
    "custom-job-cancel": "ai custom-jobs cancel 11",
    "tuning-job-cancel": "ai hp-tuning-jobs cancel 22",
    "tuning-job-delete": "ai hp-tuning-jobs delete 22",
    "buckets-create": "storage buckets create gs://new",
    "storage-rm": "storage rm -r gs://stage/a",
    "storage-cat": "storage cat gs://stage/b.txt",
    "storage-cp": "storage cp gs://stage/b.txt gs://stage/c.txt",
    "mistyped-command": "ai-platform jobs lits",
    "mistyped-option": "ai-platform jobs list --limti=3",
    "mistyped-field": "ai-platform jobs list --format=value(jobId.dat())",
}


@pytest.fixture
def fake(tmp_path: Path) -> Iterator[FakeService]:
    own = tmp_path / "own.toml"
    own.write_text(OWN)
    with FakeService() as fake:
        _training(fake)
        _located(fake)
        fake.buckets.append("stage")
        fake.objects = {("stage", "a/x.csv"): b"1,2", ("stage", "b.txt"): b"hello\n"}
        catalogue = encode_catalogue(load_catalogue(own))
        fake.refusals["GET", "/footplate/v1/catalogue"] = Answer(body=catalogue)
        training = {"type": "TRAINING", "availableAccelerators": ["NVIDIA_TESLA_T4"]}
        place = {"locationId": "home1", "capabilities": [training]}
        place["name"] = "projects/demo/locations/home1"
        fake.refusals["GET", "/v1/projects/demo/locations"] = Answer(body={"locations": [place]})
        fake.refusals["GET", "/v1/projects/demo/locations/home1"] = Answer(body=place)
        yield fake


def _training(fake: FakeService) -> None:
    for number, state, more in (
        (1, "RUNNING", {"etag": "aGk="}),
        (2, "FAILED", {"errorMessage": CAUSE}),
        (3, "QUEUED", {"pendingExplanation": WAITS}),
    ):
        fake.jobs[f"projects/demo/jobs/census_{number}"] = {
            "jobId": f"census_{number}",
            "state": state,
            "createTime": TIME,
            "trainingInput": {"region": "us-central1", "scaleTier": "BASIC"},
            **more,
        }
    kinds = (("QUEUED", ""), ("PREPARING", "3 of 5 packages"), ("RUNNING", ""))
    fake.events["projects/demo/jobs/census_1"] = [
        {"number": number, "time": TIME, "kind": kind, "message": message}
        for number, (kind, message) in enumerate(kinds, 1)
    ]


def _located(fake: FakeService) -> None:
    custom, tuning = f"{PLACE}/customJobs/11", f"{PLACE}/hyperparameterTuningJobs/22"
    common = {"createTime": TIME, "updateTime": TIME}
    fake.jobs[custom] = {**common, "name": custom, "displayName": "census"}
    fake.jobs[custom] |= {"state": "JOB_STATE_RUNNING", "jobSpec": {"workerPoolSpecs": []}}
    fake.jobs[tuning] = {**common, "name": tuning, "displayName": "search", "studySpec": {}}
    fake.jobs[tuning] |= {"state": "JOB_STATE_SUCCEEDED", "maxTrialCount": 2}
    trials = [
        {
            "number": number,
            "state": "SUCCEEDED",
            "parameters": {"rate": rate},
            "startTime": f"2026-11-21T08:0{number}:00Z",
            "endTime": f"2026-11-21T08:0{number}:30Z",
            "machineSeconds": 30.0,
            "final": {"step": 10, "values": {"rmse": rmse}},
        }
        for number, rate, rmse in ((1, 0.1, 0.5), (2, 0.01, 0.25))
    ]
    fake.trials[tuning] = [
        {
            "name": tuning,
            "state": "SUCCEEDED",
            "metrics": [{"name": "rmse", "goal": "MINIMIZE"}],
            "parameters": ["rate"],
            "counts": {"trials": 2},
            "best": [2],
            "trials": trials,
        }
    ]
    for number in (1, 2):
        fake.measurements[tuning, number] = [
            {"step": 5, "elapsedSeconds": 5.0, "values": {"rmse": 1.0}, "time": TIME},
            {"step": 10, "elapsedSeconds": 9.0, "values": {"rmse": 0.5}, "time": TIME},
        ]


@pytest.fixture
def printed(fake: FakeService, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Printer:
    for name in [*os.environ]:
        if name.startswith(("FOOTPLATE_", "CLOUDSDK_", "GOOGLE_CLOUD", "NO_COLOR")):
            monkeypatch.delenv(name)
    monkeypatch.setenv("FOOTPLATE_URL", fake.url)
    monkeypatch.setenv("TERM", "xterm")
    return Printer(fake, monkeypatch)


class Printer:
    def __init__(self, fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> None:
        self._fake = fake
        self._monkeypatch = monkeypatch

    def __call__(self, line: str, *, columns: int = 0) -> str:
        """What a terminal of so many columns shows, or what a pipe gets."""
        with self._monkeypatch.context() as patch:
            patch.setenv("COLUMNS", str(columns or 80))
            if columns:
                patch.setattr("click.testing._NamedTextIOWrapper.isatty", lambda _: True)
            result = CliRunner().invoke(
                main, line.split(), prog_name="footplate", color=bool(columns)
            )
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        where = f"terminal of {columns} columns" if columns else "pipe"
        told = f"$ footplate {line}    # {where}\n{result.stdout}"
        if result.stderr:
            told += f"--- stderr\n{result.stderr}"
        told = told.replace(self._fake.url, "http://127.0.0.1:8470").replace("\x1b", "␛")
        return f"{told}--- exit {result.exit_code}\n"


def check(name: str, told: str) -> None:
    file = HERE / f"{name}.txt"
    if os.environ.get("WRITE_OUTPUTS"):
        file.write_text(told)
    assert told == file.read_text()


@pytest.mark.parametrize(("name", "line"), LISTS.items(), ids=LISTS)
def test_lists(name: str, line: str, printed: Printer) -> None:
    shown = [printed(line), printed(line, columns=100), printed(line, columns=50)]
    check(name, "\n".join([*shown, printed(f"{line} --format=json")]))


@pytest.mark.parametrize(("name", "line"), ONES.items(), ids=ONES)
def test_single_things(name: str, line: str, printed: Printer) -> None:
    told = [printed(line), printed(line, columns=80)]
    if "--format" not in line:
        told.append(printed(f"{line} --format=json"))
    check(name, "\n".join(told))


@pytest.mark.parametrize(("name", "line"), DEEDS.items(), ids=DEEDS)
def test_deeds(name: str, line: str, printed: Printer) -> None:
    check(name, printed(line))


def test_deeds_on_a_terminal(printed: Printer) -> None:
    lines = [DEEDS["training-job-cancel"], DEEDS["training-job-submit"], DEEDS["storage-rm"]]
    check("terminal", "\n".join(printed(line, columns=60) for line in lines))


def test_nothing_is_stored_that_no_command_prints() -> None:
    names = {*LISTS, *ONES, *DEEDS, "terminal"}
    assert {file.stem for file in HERE.glob("*.txt")} == names
