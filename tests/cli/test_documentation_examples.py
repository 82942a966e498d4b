"""The commands and files that Google's pages show as examples are taken as they are written.

From "Use GPUs for training models" and "Use hyperparameter tuning" (AI Platform Training), and
"Distributed training" (Vertex AI). Names in capitals stand for the user's own there.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import yaml
from click.testing import Result

from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.preview.advice import advise
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    IntegerParameter,
    Scale,
)
from footplate.domain.submission import Location, Submission
from footplate.wire.training_v1 import submissions as training
from footplate.wire.vertex_v1.submissions import read_submission
from tests.support.catalogue import built_in
from tests.support.fake_service import FakeService

SUBMIT = ("ai-platform", "jobs", "submit", "training", "my_job")
FIXED = (
    "--package-path=PACKAGE",
    "--module-name=trainer.task",
    "--job-dir=gs://stage/out",
    "--region=us-central1",
    "--runtime-version=2.11",
    "--python-version=3.7",
)
USER_ARGS = ("--", "--user_arg_1", "value_1", "--user_arg_n", "value_n")
FOUR_T4 = {"acceleratorConfig": {"count": 4, "type": "NVIDIA_TESLA_T4"}}
ATTACHED: dict[str, Any] = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-highcpu-16",
    "masterConfig": FOUR_T4,
    "workerCount": 9,
    "workerType": "n1-highcpu-16",
    "workerConfig": FOUR_T4,
    "parameterServerCount": 3,
    "parameterServerType": "n1-highmem-8",
}
LEGACY: dict[str, Any] = {
    "scaleTier": "CUSTOM",
    "masterType": "complex_model_m_gpu",
    "workerCount": 9,
    "workerType": "complex_model_m_gpu",
    "parameterServerCount": 3,
    "parameterServerType": "large_model",
}
FLAGS = (
    "--scale-tier=custom",
    "--master-machine-type=n1-highcpu-16",
    "--master-accelerator=count=4,type=nvidia-tesla-t4",
    "--worker-count=9",
    "--worker-machine-type=n1-highcpu-16",
    "--worker-accelerator=count=4,type=nvidia-tesla-t4",
    "--parameter-server-count=3",
    "--parameter-server-machine-type=n1-highmem-8",
)
MACHINES: dict[str, Any] = {
    "scaleTier": "CUSTOM",
    "masterType": "complex_model_m",
    "workerType": "complex_model_m",
    "parameterServerType": "large_model",
    "workerCount": 9,
    "parameterServerCount": 3,
}
CELLS = ["BasicLSTMCell", "BasicRNNCell", "GRUCell", "LSTMCell", "LayerNormBasicLSTMCell"]
SEARCH: dict[str, Any] = {
    "goal": "MAXIMIZE",
    "hyperparameterMetricTag": "metric1",
    "maxTrials": 30,
    "maxParallelTrials": 1,
    "enableTrialEarlyStopping": True,
    "params": [
        {
            "parameterName": "hidden1",
            "type": "INTEGER",
            "minValue": 40,
            "maxValue": 400,
            "scaleType": "UNIT_LINEAR_SCALE",
        },
        {"parameterName": "numRnnCells", "type": "DISCRETE", "discreteValues": [1, 2, 3, 4]},
        {"parameterName": "rnnCellType", "type": "CATEGORICAL", "categoricalValues": CELLS},
    ],
}
RESUMED = {
    "enableTrialEarlyStopping": True,
    "maxTrials": 30,
    "maxParallelTrials": 1,
    "resumePreviousJobId": "earlier_job",
}
POOL = (
    "--worker-pool-spec=machine-type=n1-highmem-96,replica-count={count},"
    "accelerator-type=NVIDIA_TESLA_V100,accelerator-count=8,container-image-uri=gcr.io/me/trainer"
)


@pytest.fixture
def submit(
    invoke: Callable[..., Result], fake: FakeService, tmp_path: Path
) -> Callable[..., dict[str, Any]]:
    """The job that the service is sent."""
    fake.buckets.append("stage")
    package = tmp_path / "trainer"
    package.mkdir()
    for name in ("__init__.py", "task.py"):
        (package / name).touch()

    def run(*words: str, config: dict[str, Any] | None = None) -> dict[str, Any]:
        fake.jobs.clear()
        file = tmp_path / "config.yaml"
        given = () if config is None else (f"--config={file}",)
        file.write_text(yaml.safe_dump({"trainingInput": config}))
        fixed = [word.replace("PACKAGE", str(package)) for word in FIXED]
        result = invoke(*SUBMIT, *fixed, *given, *words)
        assert result.exit_code == 0, result.stderr
        sent: dict[str, Any] = fake.last("POST").json()
        sent["trainingInput"].pop("packageUris")
        return sent

    return run


def accepted(sent: dict[str, Any]) -> Submission:
    packages = {"packageUris": ["gs://stage/trainer-0.1.tar.gz"]}
    body = {**sent, "trainingInput": {**sent["trainingInput"], **packages}}
    made = training.read_submission(body, "demo", built_in())
    assert made.violations == ()
    return made


@pytest.mark.parametrize("machines", [ATTACHED, LEGACY], ids=["attached", "legacy"])
def test_the_two_files_with_gpus(
    submit: Callable[..., dict[str, Any]], machines: dict[str, Any]
) -> None:
    sent = submit(*USER_ARGS, config=machines)

    assert sent["trainingInput"]["args"] == list(USER_ARGS[1:])
    pools = [(role_of(pool), pool.replica_count) for pool in accepted(sent).spec.pools]
    assert pools == [
        (ClusterRole.PRIMARY, 1),
        (ClusterRole.WORKER, 9),
        (ClusterRole.PARAMETER_SERVER, 3),
    ]


def test_the_flags_mean_the_same_as_the_file(submit: Callable[..., dict[str, Any]]) -> None:
    by_file, by_flags = submit(*USER_ARGS, config=ATTACHED), submit(*FLAGS, *USER_ARGS)

    assert accepted(by_flags).spec == accepted(by_file).spec


def test_a_flag_wins_over_the_file(submit: Callable[..., dict[str, Any]]) -> None:
    sent = submit("--worker-count=2", config=ATTACHED)

    assert [pool.replica_count for pool in accepted(sent).spec.pools] == [1, 2, 3]


def test_the_file_that_tunes(submit: Callable[..., dict[str, Any]]) -> None:
    search = accepted(submit(config={**MACHINES, "hyperparameters": SEARCH})).search

    assert search is not None
    assert search.space is not None
    assert tuple(slot.parameter for slot in search.space.slots) == (
        IntegerParameter("hidden1", 40, 400, Scale.LINEAR),
        DiscreteParameter("numRnnCells", (1.0, 2.0, 3.0, 4.0)),
        CategoricalParameter("rnnCellType", tuple(CELLS)),
    )
    assert (search.tag, search.counts.trials, search.counts.parallel) == ("metric1", 30, 1)
    assert search.stopping is not None


def test_the_file_that_goes_on_from_an_earlier_job(submit: Callable[..., dict[str, Any]]) -> None:
    search = accepted(submit(config={**MACHINES, "hyperparameters": RESUMED})).search

    assert search is not None
    assert str(search.resumes).endswith("earlier_job")


def test_the_command_with_reduction_servers(
    invoke: Callable[..., Result], fake: FakeService
) -> None:
    image = "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"
    result = invoke(
        *("ai", "custom-jobs", "create", "--region=us-central1", "--display-name=reduction"),
        *(POOL.format(count=count) for count in (1, 4)),
        f"--worker-pool-spec=machine-type=n1-highcpu-16,replica-count=16,container-image-uri={image}",
    )
    assert result.exit_code == 0, result.stderr

    made = read_submission(fake.last("POST").json(), Location("demo", "us-central1"), built_in())
    assert made.violations == ()
    assert [(role_of(pool), pool.replica_count) for pool in made.spec.pools] == [
        (ClusterRole.PRIMARY, 1),
        (ClusterRole.WORKER, 4),
        (ClusterRole.REDUCER, 16),
    ]
    assert not any("would match" in said for said in advise(made.spec, built_in()))
