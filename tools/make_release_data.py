"""Makes the data directory that a release leaves behind: ``tools/make_release_data.py 1.0``.

It is made once for each release, and committed: later versions are tested with it. In it are ended
jobs (one failed, one was cancelled, one searched), one that waits for a quota, an object, and a
study of a client's own.
"""

from __future__ import annotations

import json
import subprocess
import sys
import tarfile
import tempfile
import time
from pathlib import Path

import httpx

from footplate.testing.service import FOOTPLATE, RunningService

FOLDER = Path(__file__).resolve().parents[1] / "tests" / "e2e" / "service" / "releases"
PROJECT = "kept"
TASK = """\
import sys
import time
import hypertune
rate = float(sys.argv[-1].partition("=")[2] or 0) if "rate" in sys.argv[-1] else 0.0
hypertune.HyperTune().report_hyperparameter_tuning_metric("loss", abs(rate - 0.5), 1)
print("ran with", sys.argv[1:], flush=True)
time.sleep(3600 if "--hold" in sys.argv else 0)
sys.exit(3 if "--fail" in sys.argv else 0)
"""
SEARCH = {
    "trainingInput": {
        "hyperparameters": {
            "goal": "MINIMIZE",
            "hyperparameterMetricTag": "loss",
            "maxTrials": 2,
            "params": [{"parameterName": "rate", "type": "DOUBLE", "minValue": 0, "maxValue": 1}],
        }
    }
}
STUDY = {
    "displayName": "mine",
    "studySpec": {
        "metrics": [{"metricId": "loss", "goal": "MINIMIZE"}],
        "parameters": [{"parameterId": "x", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}],
    },
}
_LIMIT_S = 900


def main(version: str) -> None:
    with tempfile.TemporaryDirectory() as folder:
        work = Path(folder)
        service = RunningService(work / "data", Path.home() / ".cache" / "footplate-release")
        service.start()
        try:
            fill(service, work)
        finally:
            service.stop()
        FOLDER.mkdir(exist_ok=True)
        pack(service.data_dir, FOLDER / f"{version}.tar.xz")


def fill(service: RunningService, work: Path) -> None:
    """Does what users do: through the commands, and for the study through the API."""
    trainer = work / "trainer"
    trainer.mkdir()
    (trainer / "__init__.py").touch()
    (trainer / "task.py").write_text(TASK)
    (work / "search.yaml").write_text(json.dumps(SEARCH))  # which is YAML, too
    (work / "greeting.txt").write_text("hello\n")

    def footplate(*words: str, project: str = PROJECT) -> None:
        environment = service.environment(FOOTPLATE_PROJECT=project)
        subprocess.run((*FOOTPLATE, *words), env=environment, cwd=work, check=True)

    def submit(name: str, *words: str) -> None:
        footplate(
            *("ai-platform", "jobs", "submit", "training", name, f"--project={PROJECT}"),
            *("--package-path=trainer", "--module-name=trainer.task"),
            *(f"--job-dir=gs://kept-bucket/{name}", *words),
        )

    footplate("storage", "buckets", "create", "gs://kept-bucket", f"--project={PROJECT}")
    footplate("storage", "cp", "greeting.txt", "gs://kept-bucket/greeting.txt")
    footplate("quotas", "set", "jobs=4", f"--project={PROJECT}")
    submit("succeeded", "--labels=team=blue")
    submit("failed", "--", "--fail")
    submit("searched", "--config=search.yaml")
    with httpx.Client(base_url=service.url) as http:
        parent = f"/v1/projects/{PROJECT}/locations/us-central1/studies"
        study = http.post(parent, json=STUDY).raise_for_status().json()["name"]
        trial = {"parameters": [{"parameterId": "x", "value": 0.25}]}
        http.post(f"/v1/{study}/trials", json=trial).raise_for_status()
        wait_for_jobs(http, 3)
        # One holds all that the project may have while the other is sent, and then nobody may.
        footplate("quotas", "set", "jobs=1", f"--project={PROJECT}")
        submit("held", "--", "--hold")
        submit("waiting")
        footplate("quotas", "set", "jobs=0", f"--project={PROJECT}")
        footplate("ai-platform", "jobs", "cancel", "held", f"--project={PROJECT}")
        wait_for_jobs(http, 4)


def wait_for_jobs(http: httpx.Client, count: int) -> None:
    """Waits until so many jobs have ended."""
    ends = ("SUCCEEDED", "FAILED", "CANCELLED")
    deadline = time.monotonic() + _LIMIT_S
    while time.monotonic() < deadline:
        jobs = http.get(f"/v1/projects/{PROJECT}/jobs").raise_for_status().json()["jobs"]
        if len([job for job in jobs if job["state"] in ends]) == count:
            return
        time.sleep(1)
    raise SystemExit(f"the jobs didn't end in {_LIMIT_S} s")


def pack(data: Path, to: Path) -> None:
    """Packs all but the environments of programs."""

    def keep(info: tarfile.TarInfo) -> tarfile.TarInfo | None:
        return None if "/environments" in info.name else info

    with tarfile.open(to, "w:xz") as archive:
        archive.add(data, "data", filter=keep)
    sys.stdout.write(f"{to}: {to.stat().st_size:,} bytes\n")


if __name__ == "__main__":
    main(sys.argv[1])
