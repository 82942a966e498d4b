"""Tuning jobs of real programs, for tests: trainers that report, and what became of the trials."""

from __future__ import annotations

import json
from contextlib import closing
from typing import TYPE_CHECKING, Any

from footplate.domain.names import StudyUid
from footplate.store import open_store
from tests.support.supervisor_process import find_living

if TYPE_CHECKING:
    from footplate.domain.names import JobName
    from footplate.ports.studies import StudyWithTrials
    from footplate.wire.footplate_v1.trials import Measurement, Trial
    from tests.e2e.service.conftest import Context

REPORTER = """
import argparse, json, os, pathlib, sys, time

class HyperTune:  # as cloudml-hypertune does it
    def __init__(self):
        self.path, self.lines = os.environ["CLOUD_ML_HP_METRIC_FILE"], []
    def tell(self, tag, value, step):
        body = {"timestamp": time.time(), "trial": os.environ["CLOUD_ML_TRIAL_ID"]}
        body.update({"global_step": str(step), tag: str(float(value))})
        self.lines = [*self.lines[-99:], body]
        with open(self.path, "w") as file:
            file.writelines(json.dumps(line, sort_keys=True) + "\\n" for line in self.lines)

parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
parser.add_argument("--job-dir", type=lambda uri: pathlib.Path(uri.replace("gs://", "/gcs/")))
given = parser.parse_args()
trial = int(os.environ["CLOUD_ML_TRIAL_ID"])
"""
"""What trainers begin with: ``HyperTune``, ``given.x``, ``given.job_dir`` and ``trial``."""

SPACE = [{"parameterName": "x", "type": "DOUBLE", "minValue": 0, "maxValue": 1}]


def search(trials: int, parallel: int, **more: object) -> dict[str, Any]:
    """The hyperparameters of a request: one number ``x`` from 0 to 1, ``loss`` to be small."""
    return {
        "goal": "MINIMIZE",
        "hyperparameterMetricTag": "loss",
        "maxTrials": trials,
        "maxParallelTrials": parallel,
        "params": SPACE,
        **more,
    }


def trials(context: Context, name: JobName) -> list[Trial]:
    """In the order of their numbers."""
    with context.client() as client:
        return sorted(client.trials(name).trials, key=lambda trial: trial.number)


def curve(context: Context, name: JobName, number: int) -> list[Measurement]:
    with context.client() as client:
        return list(client.measurements(name, number))


def told(context: Context, name: JobName, kind: str) -> list[str]:
    with context.client() as client:
        return [event.message for event in client.events(name) if event.kind == kind]


def kept(context: Context, name: JobName) -> StudyWithTrials:
    """The study of a tuning job as the server keeps it."""
    with closing(open_store(database(context))) as store:
        return store.studies.load(StudyUid(store.get(name).uid))


def database(context: Context) -> str:
    return f"sqlite:///{context.service.data_dir / 'footplate.db'}"


ENDED = (".ended", ".terms")
"""What stays of attempts for a day, so that no former leader starts them."""


def leftovers(context: Context) -> list[str]:
    """Homes of replicas, those that are being removed, too; when there are none, processes."""
    homes = context.service.data_dir / "replicas"
    found = [*homes.glob("[!.]*"), *homes.glob(".*/*")]
    found = [path for path in found if path.parent.name not in ENDED]
    return [path.name for path in found] or [str(pid) for pid in find_living(str(homes))]


def starts(context: Context, name: JobName) -> dict[str, list[dict[str, Any]]]:
    """What each start of a program wrote down as a line of JSON, by the trial it said it is."""
    found: dict[str, list[dict[str, Any]]] = {}
    for line in context.messages(name):
        if line.startswith("{"):
            said = json.loads(line)
            found.setdefault(str(said["trial"]), []).append(said)
    return found
