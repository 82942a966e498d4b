"""A real service whose replicas never come: what hostile requests are sent to, and where they
must leave no trace."""

from __future__ import annotations

import json
import logging
from contextlib import contextmanager
from itertools import count
from typing import TYPE_CHECKING, Any
from urllib.parse import quote

from starlette.routing import Route

from footplate.backends.engine.launcher_tokens import LauncherBearer, LauncherTokens
from footplate.control.suggestions import tuner_loader
from footplate.control.tokens import Bearer, ShellTokens, Tokens, derive
from footplate.domain.names import TrainingJobName
from footplate.server import service as composition
from footplate.server.data_dir import DataDir
from footplate.settings import Settings
from tests.hostile import tracking_examples
from tests.hostile.caller import Call, Caller
from tests.hostile.dataset_examples import TEXTS
from tests.support.backend import FakeBackend
from tests.support.supervisor_process import wait_until
from tests.support.trees import paths_below
from tests.unit.wire.vertex_v1_bodies import body, study, tuning

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    import pytest

    from footplate.ports.backend import AttemptStart
    from footplate.wire.json_text import JsonObject
    from tests.hostile.caller import Answer

SECRET = "what no request may ever bring to light"
PROJECT, REGION, BUCKET = "demo", "us-central1", "stage"
JSON = ((b"content-type", b"application/json"),)
REPLICA = "master-replica-0"
LEASE_S = 600.0
_COMES_AND_GOES = (".", "footplate.db", "package-checks")
"""How names in the data directory begin that the service makes when it needs them: files that
replace others, the database's, the folder of checks."""
PACKAGE = f"gs://{BUCKET}/code/trainer.tar.gz"
TRAINING: dict[str, Any] = {
    "jobId": "job_1",
    "trainingInput": {
        "region": REGION,
        "runtimeVersion": "2.21",
        "pythonVersion": "3.11",
        "packageUris": [PACKAGE],
        "pythonModule": "trainer.task",
    },
}


def here(document: JsonObject) -> dict[str, Any]:
    """The document with the package that there is, and its outputs in the bucket that there is."""
    text = json.dumps(document).replace("gs://b/trainer-0.1.tar.gz", PACKAGE)
    found: dict[str, Any] = json.loads(text.replace("gs://b/", f"gs://{BUCKET}/"))
    return found


class Complaints(logging.Handler):
    """What the service's log says that it mustn't: crashes, and passes that failed."""

    def __init__(self) -> None:
        super().__init__(logging.ERROR)  # a busy machine warns of much
        self.told: list[str] = []

    def emit(self, record: logging.LogRecord) -> None:
        text = self.format(record)
        self.told.append(text)


class Rig:
    """``root`` holds the data directory, deep inside, and things beside it that aren't its own."""

    def __init__(self, service: composition.Service, backend: FakeBackend, root: Path) -> None:
        self.service = service
        self.backend = backend
        self.root = root
        self.data = root / "a" / "b" / "c" / "data"
        self.complaints = Complaints()
        self.caller = Caller(service.app)
        self.names: dict[str, str] = {}
        """Of one thing of each kind that is there, by the word for it in paths of routes."""
        self.jobs: list[str] = []
        """Full names: of a job of each kind."""
        self.numbers = count(1)
        self._asked = 0
        self.launcher_token = ""
        """Of a launcher of an engine that the service doesn't have: it is to leave."""
        self.token = ""
        """Of the first replica of the first job, as its supervisor has it."""

    def call(self, call: Call) -> Answer:
        return self.caller.call(call)

    def json(self, method: str, path: str, body: object = None, **headers: str) -> dict[str, Any]:
        """An honest request that is granted."""
        raw = b"" if body is None else json.dumps(body).encode()
        call = Call(method, *_split(path), JSON if raw else (), raw)
        for name, value in headers.items():
            call = call.with_header(name.replace("_", "-"), value)
        answer = self.call(call)
        assert answer.status == 200, (method, path, answer)
        found: dict[str, Any] = json.loads(answer.body or b"{}")
        return found

    def tasks(self) -> Iterator[tuple[Call, Answer]]:
        """What supervisors get to do that haven't asked before: of jobs as they were accepted."""
        asked, self._asked = self._asked, len(self.backend.requests)
        for start in self.backend.requests[asked : self._asked]:
            for ticket in start.tickets[:2]:
                bearer = (b"authorization", f"Bearer {ticket.token}".encode())
                call = Call("GET", "/replica/v1/task", headers=(bearer,))
                yield call, self.call(call)

    def renew(self, method: str, path: str, answer: Answer) -> None:
        """Make again what the request has ended, so that the next one finds something."""
        if answer.status not in (200, 204, 499) or method in ("GET", "HEAD"):
            return
        if method == "DELETE" and path.endswith("/studies/{study}"):
            _furnish_study(self)
        elif "/trials/{trial}" in path:
            _furnish_trial(self)
        elif "/storage/" in path:
            _furnish_objects(self)
        elif "/models" in path:
            _furnish_model(self)
        elif "/persistentResources" in path:
            _furnish_resource(self)
        elif any(each in path for each in ("/datasets", "/metadataStores", "/tensorboards")):
            if method == "DELETE":
                _furnish_tracking(self)
        elif path.endswith((":cancel", "/cancel", "Jobs/{job}", "Pipelines/{job}")):
            _furnish_jobs(self)

    def outside(self) -> dict[str, bytes]:
        """What lies beside the data directory, and what of it is the service's alone."""
        paths = paths_below(self.root, but=self.data)
        found = {str(p): p.read_bytes() if p.is_file() else b"" for p in paths}
        found["secret"] = (self.data / "secret").read_bytes()
        known = sorted(
            p.name for p in self.data.iterdir() if not p.name.startswith(_COMES_AND_GOES)
        )
        return {**found, "data": " ".join(known).encode()}

    def starts(self, uid: str) -> list[AttemptStart]:
        return [r for r in self.backend.requests if r.attempt_id.startswith(uid)]


def _split(path: str) -> tuple[str, str]:
    target, _, query = path.partition("?")
    return target, query


@contextmanager
def open_house(root: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Rig]:
    """The loops run: what was accepted is queued, admitted, started and cancelled in earnest."""
    backend = FakeBackend()
    monkeypatch.setattr(composition, "local_backend", lambda *_: backend)
    monkeypatch.setattr(composition, "is_available", lambda: False)  # calls have no connections
    tuner_loader.load()
    data_dir = DataDir(root / "a" / "b" / "c" / "data")
    data_dir.make()
    _plant(root)
    # A server that has to wait for a core keeps its lead: else it refuses calls, and its file goes.
    settings = Settings(
        data_dir.root, isolation="best-effort", max_replicas=100_000, lease_s=LEASE_S
    )
    service = composition.Service(settings, data_dir, "http://127.0.0.1:8470", lambda: None)
    rig = Rig(service, backend, root)
    logging.getLogger().addHandler(rig.complaints)
    try:
        service.start()
        wait_until(data_dir.server_file.exists, "the leader's announcement")  # changes no more
        with rig.caller:
            _furnish(rig)
            yield rig
            service.control_requests.close()
    finally:
        service.close()
        logging.getLogger().removeHandler(rig.complaints)


def _plant(root: Path) -> None:
    """Files beside the data directory, at every distance that ``..`` can go."""
    for place in (root, root / "a", root / "a" / "b", root / "a" / "b" / "c"):
        (place / "private.txt").write_text(SECRET)


def _furnish(rig: Rig) -> None:
    """One of everything that requests can name."""
    rig.names |= _NAMES
    rig.json("POST", f"/storage/v1/b?project={PROJECT}", {"name": BUCKET})
    _furnish_objects(rig)
    bucket = rig.data / "buckets" / BUCKET
    (bucket / "file-link").symlink_to(rig.root / "private.txt")
    (bucket / "near-link").symlink_to("../../../private.txt")
    (bucket / "dir-link").symlink_to(rig.root)
    (bucket / "loop-link").symlink_to("loop-link")
    rig.json("POST", f"/v1/projects/{PROJECT}/jobs", TRAINING)
    job = rig.service.jobs.get(TrainingJobName(PROJECT, "job_1"))
    wait_until(lambda: bool(rig.starts(job.uid)), "the job to be started")
    (start,) = rig.starts(job.uid)
    rig.backend.admit(start.attempt_id)
    rig.token = start.tickets[0].token
    secret = DataDir(rig.data).secret()
    launcher = LauncherBearer("europe-west4", start.attempt_id, 0, REPLICA)
    rig.launcher_token = LauncherTokens(derive(secret, "launchers")).issue(launcher)
    shells = ShellTokens(secret)
    keys = Tokens(derive(secret, "programs' storage"))
    rig.names["key"] = keys.issue(Bearer(start.attempt_id, REPLICA))
    rig.names["token"] = shells.issue(job.uid, REPLICA)
    _furnish_jobs(rig)
    _furnish_study(rig)
    _furnish_model(rig)
    _furnish_resource(rig)
    _furnish_tracking(rig)


_NAMES = {
    "project": PROJECT,
    "location": REGION,
    "region": REGION,
    "bucket": BUCKET,
    "view": "_AllLogs",
    "job": "job_1",
    "index": "0",
    "sha256": "a" * 64,
    "digest": "b" * 64,
    "id": "b" * 32,
    "operation": "delete-v1-customJobs-1-1",
    "verb": "cancel",
    **tracking_examples.NAMES,
    "number": "1",
    "persistentResource": "machines",
    "service": "ml.googleapis.com",
    "name": "1",
}


def _furnish_objects(rig: Rig) -> None:
    uploads = f"/upload/storage/v1/b/{BUCKET}/o"
    for name in ("code/trainer.tar.gz", "data/x.csv", "a b/ü.txt"):
        query = f"uploadType=media&name={quote(name, safe='')}"
        answer = rig.call(Call("POST", uploads, query, (), b"some bytes"))
        assert answer.status == 200, answer
    begun = rig.call(Call("POST", uploads, "uploadType=resumable&name=big", JSON))
    rig.names["upload"] = begun.header("x-guploader-uploadid")


def _furnish_jobs(rig: Rig) -> None:
    parent = f"projects/{PROJECT}/locations/{REGION}"
    custom = rig.json("POST", f"/v1/{parent}/customJobs", here(body()))["name"]
    search = rig.json("POST", f"/v1/{parent}/hyperparameterTuningJobs", here(tuning()))["name"]
    pipeline = rig.json("POST", f"/v1/{parent}/trainingPipelines", here(PIPELINE))["name"]
    rig.names["pipeline"] = pipeline.rpartition("/")[2]
    rig.jobs = [f"projects/{PROJECT}/jobs/job_1", custom, search]
    rig.names |= {"custom": custom.rpartition("/")[2], "tuning": search.rpartition("/")[2]}


PIPELINE: dict[str, Any] = {
    "displayName": "p",
    "trainingTaskDefinition": (
        "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
    ),
    "trainingTaskInputs": body()["jobSpec"],
}
MODEL = {"displayName": "m", "artifactUri": f"gs://{BUCKET}/data/"}


def _furnish_model(rig: Rig) -> None:
    models = f"/v1/projects/{PROJECT}/locations/{REGION}/models"
    made = rig.json("POST", f"{models}:upload", {"model": MODEL})["response"]["model"]
    rig.names["model"] = made.rpartition("/")[2]


RESOURCE: dict[str, Any] = {
    "resourcePools": [{"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}]
}


def _furnish_resource(rig: Rig) -> None:
    """One that is being deleted is there as well."""
    path = f"/v1/projects/{PROJECT}/locations/{REGION}/persistentResources"
    query, content = "persistentResourceId=machines", json.dumps(RESOURCE).encode()
    answer = rig.call(Call("POST", path, query, JSON, content))
    assert answer.status in (200, 409), answer


def _furnish_dataset(rig: Rig) -> None:
    """A dataset of texts: it takes imports."""
    path = f"/v1/projects/{PROJECT}/locations/{REGION}/datasets"
    rig.names["datasets"] = rig.json("POST", path, TEXTS)["response"]["name"].rpartition("/")[2]


def _furnish_tracking(rig: Rig) -> None:
    """One resource of each kind, those that are there already included, and a dataset."""
    _furnish_dataset(rig)
    here = f"/v1/projects/{PROJECT}/locations/{REGION}"
    store = f"{here}/metadataStores/default"
    found = rig.json("POST", f"{here}/tensorboards", {"displayName": "b"})["response"]["name"]
    rig.names["tensorboards"] = found.rpartition("/")[2]
    experiment = f"/v1/{found}/experiments/e"
    for path, fields in (
        (f"{store}/contexts?contextId=c", {}),
        (f"{store}/contexts?contextId=d", {}),
        (f"{store}/artifacts?artifactId=a", {}),
        (f"{store}/executions?executionId=e", {}),
        (f"/v1/{found}/experiments?tensorboardExperimentId=e", {}),
        (f"{experiment}/runs?tensorboardRunId=r", {"displayName": "r"}),
        (
            f"{experiment}/runs/r/timeSeries?tensorboardTimeSeriesId=s",
            {"displayName": "s", "valueType": "SCALAR"},
        ),
    ):
        answer = rig.call(Call("POST", *_split(path), JSON, json.dumps(fields).encode()))
        assert answer.status in (200, 409), (path, answer)


CONFIG: dict[str, Any] = {
    "metrics": [{"metric": "loss", "goal": "MINIMIZE"}],
    "parameters": [
        {
            "parameter": "kind",
            "type": "CATEGORICAL",
            "categoricalValueSpec": {"values": ["a", "b"]},
            "childParameterSpecs": [
                {
                    "parameter": "depth",
                    "type": "INTEGER",
                    "integerValueSpec": {"minValue": "1", "maxValue": "5"},
                    "parentCategoricalValues": {"values": ["a"]},
                }
            ],
        },
        {
            "parameter": "x",
            "type": "DOUBLE",
            "doubleValueSpec": {"minValue": 0.1, "maxValue": 1},
            "scaleType": "UNIT_LOG_SCALE",
        },
    ],
    "algorithm": "RANDOM_SEARCH",
    "automatedStoppingConfig": {"decayCurveStoppingConfig": {"useElapsedTime": True}},
}


def _furnish_study(rig: Rig) -> None:
    studies = f"/v1/projects/{PROJECT}/locations/{REGION}/studies"
    name = f"study {next(rig.numbers)}"
    made = rig.json("POST", studies, {"displayName": name, "studySpec": study()})["name"]
    rig.names["study"] = made.rpartition("/")[2]
    _furnish_trial(rig)
    rig.names["chosen"] = f"study_{next(rig.numbers)}"
    query = f"studyId={rig.names['chosen']}"
    chosen = rig.json("POST", f"{studies}?{query}", {"studyConfig": CONFIG})["name"]
    rig.json("POST", f"/v1/{chosen}/trials:suggest", {"suggestionCount": 1, "clientId": "c"})


def _furnish_trial(rig: Rig) -> None:
    parent = f"projects/{PROJECT}/locations/{REGION}/studies/{rig.names['study']}"
    who = {"suggestionCount": 1, "clientId": f"c{next(rig.numbers)}"}
    made = rig.json("POST", f"/v1/{parent}/trials:suggest", who)
    rig.names["trial"] = made["response"]["trials"][0]["id"]


def routes_of(service: composition.Service) -> list[tuple[str, str]]:
    """Every method and path that the service answers, as its own table has them."""
    app: Any = service.app
    while not hasattr(app, "routes"):
        app = app._app
    found = []
    for route in app.routes:
        if isinstance(route, Route):
            found += [(method, route.path) for method in sorted(route.methods or ())]
    return found
