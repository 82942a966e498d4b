"""What programs of TensorFlow, Keras and PyTorch do with a directory ``gs://...``."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri, JobName
from footplate.replica.isolation import levels
from footplate.testing.service import FOOTPLATE, running_service
from tests.e2e.frameworks.conftest import Clusters
from tests.e2e.service.conftest import BUCKET, CACHE
from tests.e2e.service.test_idioms import GANG
from tests.e2e.service.tuning_helpers import search
from tests.support import idioms
from tests.support.gcloud import find_gcloud
from tests.support.own_process import run_scripts
from tests.support.requirements import require_view
from tests.support.trainers import pack_trainer

CI = os.environ.get("CI") == "true"
TENSORS = ("tensors.py", "others_bucket.py")
PLACES = {
    "2.21": (*TENSORS, "keras_models.py"),
    "1.15": (*TENSORS, "estimators.py", "paths.py", "clients.py"),
    "pytorch": ("pytorch.py",),
    "pytorch_gang": ("pytorch.py",),
    "tools": ("tools.py",),
    "gang": (*TENSORS, "keras_models.py"),
    "trials": TENSORS,
}
PYTHONS = {"2.21": "3.11", "1.15": "3.7"}
"""Of TensorFlow's runtimes."""
LATEST = {"runtimeVersion": "2.21", "pythonVersion": PYTHONS["2.21"]}
RUN = ("tensors.py", "keras_models.py", "clients.py")
"""What is tried under ``footplate run``, which has no /gcs."""
PYTORCH = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"
WHERE = "import sys, tensorflow; print('PYTHON', sys.executable, flush=True)"


@pytest.fixture(scope="module")
def clusters(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Clusters]:
    data_dir = tmp_path_factory.mktemp("idioms") / "data"
    with running_service(data_dir, CACHE, stop_grace_s=1) as service:
        found = Clusters(service)
        with found.client() as client:
            client.storage.create_bucket("other", "theirs")
        yield found


@pytest.fixture(scope="module")
def outcomes(clusters: Clusters) -> dict[str, idioms.Outcome]:
    names: dict[str, JobName] = {
        "pytorch": submit_pytorch(clusters, "pytorch", pools=1),
        "pytorch_gang": submit_pytorch(clusters, "pytorch_gang", pools=2),
        "tools": clusters.submit(idioms.make_trainer(PLACES["tools"])),
    }
    folders = {
        "pytorch": [clusters.bucket / "pytorch" / "model" / "0"],
        "pytorch_gang": [clusters.bucket / "pytorch_gang" / "model" / rank for rank in "01"],
        "tools": [clusters.bucket / "out" / "job_1" / "0"],
    }
    for version, python in PYTHONS.items():
        trainer = idioms.make_trainer(PLACES[version])
        name = clusters.submit(trainer, runtimeVersion=version, pythonVersion=python)
        names[version], folders[version] = name, [clusters.out(name) / "0"]
    name = clusters.submit(idioms.make_trainer(PLACES["gang"]), **GANG, **LATEST)
    names["gang"], folders["gang"] = name, [clusters.out(name) / rank for rank in "01"]
    trainer = idioms.make_trainer(PLACES["trials"])
    name = clusters.submit(trainer, hyperparameters=search(trials=2, parallel=2), **LATEST)
    names["trials"] = name
    folders["trials"] = [clusters.out(name) / trial / "0" for trial in "12"]
    found = {place: idioms.wait(clusters, names[place], *folders[place]) for place in PLACES}
    isolation = "\n".join(each.message for each in clusters.events(names["1.15"], "ISOLATION"))
    if levels.HOST_VIEW.missing in isolation:
        del found["1.15"]
    return found


def submit_pytorch(clusters: Clusters, place: str, pools: int) -> JobName:
    """Its directory is called as the place is."""
    package = pack_trainer(idioms.make_trainer(PLACES[place]))
    with clusters.client() as client:
        output = GcsUri(BUCKET, place)
        return idioms.submit_package(client, "demo", output, PYTORCH, package, pools)


@pytest.mark.parametrize(("place", "case"), idioms.cases(PLACES))
def test_idiom(outcomes: dict[str, idioms.Outcome], place: str, case: str) -> None:
    if place == "tools":
        find_gcloud()
    require_view(seen=place in outcomes)
    require_python(outcomes[place].error)
    outcomes[place].check(case)


def test_nothing_else_was_asked_for(
    clusters: Clusters, outcomes: dict[str, idioms.Outcome]
) -> None:
    assert outcomes
    answer = httpx.get(f"{clusters.service.url}/footplate/v1/proxy").json()
    assert answer["refusedHosts"] == []


@pytest.fixture(scope="module")
def under_run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[idioms.Outcome]:
    """In the Python of a runtime, by the machine's paths: programs see them without isolation."""
    data_dir = tmp_path_factory.mktemp("run") / "data"
    settings = {"isolation": "best-effort", "allow_root": "true"}
    with running_service(data_dir, CACHE, stop_grace_s=1, **settings) as service:
        clusters = Clusters(service)
        name = clusters.submit(WHERE, runtimeVersion="2.21", pythonVersion="3.11")
        job = clusters.wait_for(name)
        assert job.state is State.SUCCEEDED, job.error_message
        said = (line.split(" ", 1) for line in clusters.messages(name) if "PYTHON" in line)
        ((_, python),) = said
        folder = tmp_path_factory.mktemp("cases")
        environment = service.environment(
            HOME=str(folder), TF_CPP_MIN_LOG_LEVEL="1", IDIOMS_ROOT=f"gs://{BUCKET}/run"
        )
        scripts = [idioms.FOLDER / script for script in RUN]
        results = run_scripts(scripts, environment, folder, (*FOOTPLATE, "run", "--"), python)
        found = [pair for errors in results.values() for pair in errors.items()]
        yield idioms.Outcome("", found, [clusters.bucket / "run"])
        answer = httpx.get(f"{service.url}/footplate/v1/proxy").json()
        assert answer["refusedHosts"] == []


@pytest.mark.parametrize(("place", "case"), idioms.cases({"run": RUN}))
def test_idiom_under_run(under_run: idioms.Outcome, place: str, case: str) -> None:
    under_run.check(case)


def require_python(error: str) -> None:
    """Skip a test whose job failed by ``error`` because this machine lacks its Python."""
    if not CI and re.search(r"Python \S+, which .* needs, isn't on this", error):
        pytest.skip(error)
