"""A dry run accepts exactly what a submit accepts, and refuses the rest in the same words.

Both are asked of a whole service: its store, its buckets and its checks are the real ones, and
only the backend is a fake. The requests are real configuration files, as they are and changed.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import count
from typing import Any

import httpx
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from footplate.cli.config_file import read_config
from footplate.cli.jobs.custom_job_draft import make_job as make_custom_job
from footplate.cli.jobs.training_job_draft import make_job as make_training_job
from footplate.cli.jobs.tuning_job_draft import make_job as make_tuning_job
from footplate.cli.main import main
from footplate.domain.quotas import Quota
from footplate.server import service as composition
from footplate.server.data_dir import DataDir
from footplate.settings import Settings
from footplate.wire.json_text import JsonObject
from tests.clients.corpus import Entry, entries, require_corpus
from tests.support.backend import FakeBackend
from tests.support.http_server import serve
from tests.support.profiles import scaled

REGION = "us-central1"
PACKAGE = "gs://stage/trainer-0.1.tar.gz"
_LOCATED = f"projects/demo/locations/{REGION}"
COLLECTIONS = {
    "aip": "projects/demo/jobs",
    "vertex-custom": f"{_LOCATED}/customJobs",
    "vertex-hp": f"{_LOCATED}/hyperparameterTuningJobs",
}
ENTRIES = tuple(entry for surface in COLLECTIONS for entry in entries(surface))
NUMBERS = count(1)


@dataclass(frozen=True)
class Rig:
    url: str
    http: httpx.Client

    def submit(self, surface: str, body: object) -> httpx.Response:
        return self.http.post(f"/v1/{COLLECTIONS[surface]}", json=body)

    def dry_run(self, surface: str, body: object) -> httpx.Response:
        return self.http.post(f"/footplate/v1/{COLLECTIONS[surface]}:validate", json=body)


@pytest.fixture(scope="module")
def rig(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    data_dir = DataDir(tmp_path_factory.mktemp("agreement") / "data")
    data_dir.make()
    quota = Quota("demo", "*", {"NVIDIA_TESLA_V100": 1, "vcpus": 1000})
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(composition, "local_backend", lambda *_: FakeBackend())
        service = composition.Service(
            # With its lease it keeps its lead, however long it waits for a core.
            Settings(data_dir.root, isolation="best-effort", quotas=(quota,), lease_s=600.0),
            data_dir,
            "http://127.0.0.1:8470",
            lambda: None,
        )
        try:
            service.start()
            with serve(service.app) as url, httpx.Client(base_url=url, trust_env=False) as http:
                http.post("/storage/v1/b?project=demo", json={"name": "stage"})
                upload = "/upload/storage/v1/b/stage/o?uploadType=media&name=trainer-0.1.tar.gz"
                http.post(upload, content=b"...").raise_for_status()
                yield Rig(url, http)
            service.control_requests.close()
        finally:
            service.close()


@cache
def request_of(entry: Entry) -> JsonObject:
    """What the command line sends for the file."""
    match entry.surface:
        case "aip":
            options = {
                "module_name": "trainer.task",
                "region": REGION,
                "runtime_version": "2.21",
                "python_version": "3.11",
            }
            config = read_config(entry.path, "ai-platform jobs submit training")
            return make_training_job("job", config, options, package_uris=[PACKAGE])
        case "vertex-custom":
            return make_custom_job("job", read_config(entry.path, "ai custom-jobs create"), {})
        case _:
            return make_tuning_job("job", read_config(entry.path, "ai hp-tuning-jobs create"), {})


def agree(rig: Rig, surface: str, body: JsonObject) -> bool:
    """Whether both accept it; they must not differ."""
    if surface == "aip" and body.get("jobId") == "job":
        body["jobId"] = f"job_{next(NUMBERS)}"
    dry, answer = rig.dry_run(surface, body), rig.submit(surface, body)
    if dry.status_code == 400:  # what isn't readable as a request gets no verdict
        assert answer.json() == dry.json()
        return False
    verdict, accepted = dry.json(), answer.status_code == 200
    assert (verdict["verdict"] == "ACCEPTED") == accepted, (verdict, answer.text)
    assert ("plan" in verdict, "queue" in verdict) == (accepted, accepted)
    if not accepted:
        assert 400 <= answer.status_code < 500
        found = [f"{each['field']}: {each['description']}" for each in verdict["violations"]]
        said = verdict.get("refusal") or "; ".join(found)
        assert answer.json()["error"]["message"] in (said, said.removeprefix("request: "))
    return accepted


def test_the_corpus_is_there() -> None:
    require_corpus()
    assert len(ENTRIES) > 40


@pytest.mark.parametrize("entry", ENTRIES, ids=str)
def test_files_as_they_are(rig: Rig, entry: Entry) -> None:
    body = copy.deepcopy(request_of(entry))

    accepted = agree(rig, entry.surface, body)

    if not entry.accepted and entry.decided_by == "service":
        assert not accepted


@pytest.mark.parametrize("entry", [each for each in ENTRIES if each.surface == "aip"], ids=str)
def test_exit_codes_of_the_command_line(rig: Rig, entry: Entry) -> None:
    words = [
        *("ai-platform", "jobs", "submit", "training", f"cli_{entry}", f"--config={entry.path}"),
        *(f"--packages={PACKAGE}", "--module-name=trainer.task", f"--region={REGION}"),
        *("--runtime-version=2.21", "--python-version=3.11"),
    ]
    runner = CliRunner(env={"FOOTPLATE_URL": rig.url, "FOOTPLATE_PROJECT": "demo"})

    dry = runner.invoke(main, [*words, "--dry-run"])
    real = runner.invoke(main, [*words, "--async"])

    assert dry.exit_code == real.exit_code, (dry.output, real.output)
    assert dry.stdout.startswith("ACCEPTED" if real.exit_code == 0 else "REJECTED")


VALUES: dict[str, tuple[object, ...]] = {
    "region": ("us-east1", "mars-north1", "europe-west4", ""),
    "runtimeVersion": ("1.15", "2.11", "9.9", ""),
    "pythonVersion": ("3.7", "2.7", "3.99"),
    "pythonModule": ("trainer.task", "trainer task", ""),
    "packageUris": ([PACKAGE], [], ["gs://stage/none.tar.gz"], ["gs://none/x.tar.gz"], ["x"]),
    "jobDir": ("gs://stage/out", "gs://none/out", PACKAGE, "/etc/passwd", "/tmp/out", "relative"),
    "imageUri": (
        "gcr.io/demo/trainer",
        "us-docker.pkg.dev/vertex-ai/training/tf-cpu.2-21.py311:latest",
        "gcr.io/cloud-ml-public/training/pytorch-cpu.1-9",
        "gcr.io/cloud-ml-algos/xgboost_dist:latest",
        "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest",
        "",
    ),
    "scaleTier": ("BASIC", "CUSTOM", "STANDARD_1", "PREMIUM_1", "BASIC_GPU", "BASIC_TPU", "SOME"),
    "masterType": ("n1-standard-8", "standard_gpu", "n1-standard-96", "none"),
    "machineType": ("n1-standard-8", "a2-highgpu-1g", "standard_gpu", "none"),
    "workerType": ("n1-standard-8", "large_model"),
    "workerCount": ("1", "3", "400", "-1"),
    "replicaCount": ("1", "2", "400", "0", "-1"),
    "count": ("1", "2", "3", "8"),
    "type": ("NVIDIA_TESLA_V100", "NVIDIA_TESLA_T4", "NVIDIA_NONE", "DOUBLE"),
    "acceleratorType": ("NVIDIA_TESLA_V100", "NVIDIA_TESLA_T4", "NVIDIA_NONE"),
    "acceleratorCount": (1, 2, 3, 8),
    "jobId": ("taken", "1", "with-dash", ""),
    "maxTrials": (1, 10, 0, 10**6),
    "maxTrialCount": (1, 10, 0, 10**6),
    "parallelTrialCount": (1, 20, 0),
    "resumePreviousJobId": ("taken", "none"),
    "labels": ({"a": "b"}, {"A": "b"}),
    "args": ([], ["--x"], "x", [""]),
}
"""Values by field: those that decide what becomes of a job, the good and the bad."""
JUNK: tuple[object, ...] = (
    None,
    "",
    0,
    -1,
    1.5,
    True,
    [],
    {},
    [[]],
    "x" * 300,
    "gs://stage/a",
    "\x00",
)


def objects(value: object) -> Iterator[dict[str, Any]]:
    """All mappings in it, itself first."""
    if isinstance(value, dict):
        yield value
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    for item in inner:
        yield from objects(item)


@st.composite
def requests(draw: st.DrawFn) -> tuple[str, JsonObject]:
    """A file's request with up to three fields set, taken away or broken."""
    entry = draw(st.sampled_from(ENTRIES))
    body = copy.deepcopy(request_of(entry))
    for _ in range(draw(st.integers(0, 3))):
        parent = draw(st.sampled_from(list(objects(body))))
        kind = draw(st.sampled_from(("known", "known", "known", "junk", "gone")))
        if kind == "known":
            present = sorted(set(parent) & set(VALUES)) or sorted(VALUES)
            key = draw(st.sampled_from(present) | st.sampled_from(sorted(VALUES)))
            parent[key] = copy.deepcopy(draw(st.sampled_from(VALUES[key])))
        elif parent:
            key = draw(st.sampled_from(sorted(parent)))
            if kind == "gone":
                del parent[key]
            else:
                parent[key] = copy.deepcopy(draw(st.sampled_from(JUNK)))
    return entry.surface, body


@pytest.mark.skipif(not ENTRIES, reason="the corpus is missing")
@settings(
    max_examples=scaled(300),
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture],
)
@given(made=requests())
def test_files_with_changes(rig: Rig, made: tuple[str, JsonObject]) -> None:
    agree(rig, *made)
