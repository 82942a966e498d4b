"""Built-in algorithms in ml v1: what is made of a request, and what is refused at submit."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.domain.algorithms import of_pool
from footplate.domain.job_states import State
from footplate.domain.jobs import PythonProgram
from footplate.domain.unsupported_features import unsupported
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.responses import job_json
from footplate_algorithms.algorithms import ALGORITHMS
from tests.support.jobs import make_job
from tests.unit.wire.training_v1_inputs import CATALOGUE, CUSTOM, refused, submission

if TYPE_CHECKING:
    from pydantic import JsonValue

DATA = "--training_data_path=gs://b/x.csv"
WORKERS: JsonObject = {"workerType": "n1-standard-4", "workerCount": 2}


def image(name: str, **more: JsonValue) -> JsonObject:
    return {"masterConfig": {"imageUri": f"gcr.io/cloud-ml-algos/{name}", **more}}


def trees(*args: str, name: str = "boosted_trees:latest") -> JsonObject:
    return {**image(name), "args": [DATA, *args], "jobDir": "gs://b/out"}


def tuned(*params: JsonObject, tag: str | None = "rmse", args: tuple[str, ...] = ()) -> JsonObject:
    search: JsonObject = {"params": list(params), "hyperparameterMetricTag": tag}
    return {**trees(*args), "hyperparameters": search}


def integer(name: str, low: float, high: float, kind: str = "INTEGER") -> JsonObject:
    return {"parameterName": name, "type": kind, "minValue": low, "maxValue": high}


def test_an_image_becomes_a_program_of_ours() -> None:
    asked = submission(trees("--eta=0.1"), base={})

    assert asked.violations == ()
    assert asked.spec.primary.program == PythonProgram(
        "algorithm:boosted_trees",
        (),
        "footplate_algorithms",
        ("boosted_trees", DATA, "--eta=0.1"),
    )
    assert asked.spec.scheduling.restarts_together
    assert unsupported(asked.spec, reduction=False) is None
    runtime = CATALOGUE.runtimes.resolve(asked.spec.primary.program.runtime, "f")
    assert runtime.name == "scikit-learn 1.9"
    assert "gpu" not in runtime.variants


@pytest.mark.parametrize("name", sorted(ALGORITHMS))
def test_each_algorithm_has_its_runtime(name: str) -> None:
    algorithm = ALGORITHMS[name]
    runtime = CATALOGUE.runtimes.resolve(f"algorithm:{name}", "f")

    assert runtime.python == algorithm.python_version
    assert ("gpu" in runtime.variants) == (name.endswith("_gpu") or name == "xgboost_dist")
    args = [] if algorithm.framework == "XGBOOST" else ["--model_type=regression"]
    for tag in ("", ":latest", f"@sha256:{'0' * 64}"):
        assert refused(trees(*args, name=f"{name}{tag}"), base={}) == {}


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "image_classification",
            "Footplate has no image_classification: this algorithm reads images",
        ),
        ("image_object_detection", "Footplate has no image_object_detection: this algorithm reads"),
        ("tab_net", "Footplate has no tab_net: Footplate doesn't have this algorithm's network"),
        ("boosted_tree", '"boosted_tree" is not a built-in algorithm; did you mean boosted_trees?'),
        ("nothing-like-it", '"nothing-like-it" is not a built-in algorithm; there are 6 built-in'),
    ],
)
def test_other_algorithms(name: str, message: str) -> None:
    found = refused(trees(name=name), base={})
    assert list(found) == ["masterConfig.imageUri"]
    assert found["masterConfig.imageUri"].startswith(message)


def test_arguments_are_refused_where_they_stand() -> None:
    found = refused(trees("--eta=7", "--max_bins=3", "--num_boost_round=0"), base={})

    assert found == {
        "args[1]": "--eta: '7' given; allowed: a number in [0, 1]",
        "args[2]": "boosted_trees has no argument --max_bins; did you mean max_bin?",
        "args[3]": "--num_boost_round: '0' given; allowed: a whole number at least 1",
    }


def test_what_is_required() -> None:
    found = refused(image("linear_learner_cpu"), base={})

    assert found == {
        "jobDir": (
            "required by linear_learner_cpu: the directory for the model, such as gs://BUCKET/JOB"
        ),
        "args": "required by linear_learner_cpu: --training_data_path, --model_type",
    }


@pytest.mark.parametrize("path", ["data/x.csv", "http://x/y.csv", "gs://"])
def test_paths(path: str) -> None:
    asked: JsonObject = {**trees(), "args": [f"--training_data_path={path}"]}
    assert "--training_data_path: " in refused(asked, base={})["args[0]"]


@pytest.mark.parametrize("path", ["gs://b/x.csv", "gs://b/part-*.csv", "/data/x.csv"])
def test_paths_that_are_right(path: str) -> None:
    asked: JsonObject = {**trees(), "args": [f"--training_data_path={path}"]}
    assert refused(asked, base={}) == {}


def test_one_algorithm_trains_on_several_replicas() -> None:
    found = refused(trees(), CUSTOM, WORKERS, base={})
    assert found == {
        "workerCount": (
            "2 given; boosted_trees trains on one replica, the master; xgboost_dist trains on "
            "several replicas"
        )
    }
    dist = trees(name="xgboost_dist:latest")
    assert refused(dist, CUSTOM, WORKERS, base={}) == {}
    found = refused(dist, {"scaleTier": "STANDARD_1"}, base={})
    assert found == {
        "scaleTier": (
            "STANDARD_1 has parameterServers; xgboost_dist trains on a master and workers"
        )
    }
    found = refused(trees(), {"scaleTier": "STANDARD_1"}, base={})
    assert "STANDARD_1 has workers and parameterServers; boosted_trees" in found["scaleTier"]


def test_all_replicas_train_the_same() -> None:
    dist = trees(name="xgboost_dist:latest")
    own: JsonObject = {"workerConfig": {"imageUri": "gcr.io/p/i"}}
    found = refused(dist, CUSTOM, WORKERS, own, base={})
    assert found["workerConfig.imageUri"].endswith(
        "given; allowed: gcr.io/cloud-ml-algos/xgboost_dist, or none"
    )
    theirs: JsonObject = {"workerConfig": {"imageUri": "gcr.io/cloud-ml-algos/xgboost_dist"}}
    assert refused(dist, CUSTOM, WORKERS, theirs, base={}) == {}
    mine: JsonObject = {"masterConfig": {"imageUri": "gcr.io/p/i"}}
    found = refused(mine, CUSTOM, WORKERS, theirs, base={})
    assert "a built-in algorithm; allowed: the same image" in found["workerConfig.imageUri"]


def test_its_arguments_are_those_of_the_job() -> None:
    asked: JsonObject = {**image("boosted_trees", containerArgs=[DATA]), "jobDir": "gs://b/out"}
    found = refused(asked, base={})
    assert found["masterConfig.containerArgs"].endswith(
        "given; the algorithm boosted_trees takes its arguments only from trainingInput.args"
    )


def test_what_a_tuning_job_may_search() -> None:
    assert refused(tuned(integer("max_depth", 2, 9)), base={}) == {}
    assert refused(tuned(integer("eta", 0.1, 0.9, "DOUBLE")), base={}) == {}
    classes = ("--objective=multi:softmax",)
    tag = tuned(integer("num_class", 2, 4), tag="accuracy", args=classes)
    assert refused(tag, base={}) == {}


@pytest.mark.parametrize(
    ("param", "field", "message"),
    [
        (integer("max_dept", 1, 2), "parameterName", "boosted_trees has no argument --max_dept;"),
        (integer("max_depth", 1, 2, "DOUBLE"), "type", "DOUBLE given; max_depth takes whole"),
        (integer("eta", 0.1, 2, "DOUBLE"), "maxValue", "--eta: '2' given; allowed: a number in"),
        (integer("num_boost_round", 0, 9), "minValue", "--num_boost_round: '0' given; allowed"),
        (
            {"parameterName": "booster", "type": "CATEGORICAL", "categoricalValues": ["x"]},
            "categoricalValues",
            "--booster: 'x' given; allowed: one of gbtree, gblinear, dart",
        ),
        (
            {"parameterName": "max_depth", "type": "DISCRETE", "discreteValues": [2, 2.5]},
            "discreteValues",
            "--max_depth: '2.5' given; allowed: a whole number at least 0",
        ),
        (
            {
                "parameterName": "training_data_path",
                "type": "CATEGORICAL",
                "categoricalValues": ["gs://b/x"],
            },
            "parameterName",
            '"training_data_path" given, which names the training data, ',
        ),
    ],
)
def test_what_a_tuning_job_may_not_search(param: JsonObject, field: str, message: str) -> None:
    found = refused(tuned(param), base={})

    assert list(found) == [f"hyperparameters.params[0].{field}"]
    assert found[f"hyperparameters.params[0].{field}"].startswith(message)


def test_the_metric_is_one_that_is_reported() -> None:
    depth = integer("max_depth", 2, 9)
    field = "hyperparameters.hyperparameterMetricTag"

    assert refused(tuned(depth, tag="accuracy"), base={}) == {
        field: (
            '"accuracy" given; allowed: rmse, mae, loss, the metrics that boosted_trees '
            "reports with these arguments"
        )
    }
    assert refused(tuned(depth, tag=None), base={})[field].startswith(
        "required: a metric that boosted"
    )
    objective: JsonObject = {
        "parameterName": "objective",
        "type": "CATEGORICAL",
        "categoricalValues": ["reg:linear", "binary:logistic"],
    }
    assert refused(tuned(objective, tag="auc"), base={}) == {}


def test_what_is_told_beforehand() -> None:
    asked = submission(trees("--sketch_eps=0.1", name="xgboost_dist"), base={})
    assert "trainingInput.args: --sketch_eps is accepted and has no effect with XGBoost 3" in (
        asked.warnings
    )
    assert "xgboost_dist trains on one replica; Google's service requires at least one worker" in (
        asked.parity
    )


def test_the_model_of_a_job_that_has_succeeded() -> None:
    spec = submission(trees(), base={}).spec
    algorithm = of_pool(spec.primary)
    assert algorithm is not None
    job = make_job(spec=spec)

    running = job_json(job)["trainingOutput"]
    ended = job_json(replace(job, state=State.SUCCEEDED))["trainingOutput"]

    known = {"framework": "XGBOOST", "runtimeVersion": "2.21", "pythonVersion": "3.11"}
    assert running == {"isBuiltInAlgorithmJob": True, "builtInAlgorithmOutput": known}
    assert ended == {
        "isBuiltInAlgorithmJob": True,
        "builtInAlgorithmOutput": {**known, "modelPath": "gs://b/out/model/"},
    }
