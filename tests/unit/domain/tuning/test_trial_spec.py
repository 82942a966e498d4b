"""What of a tuning job's spec a trial gets, and what of its own."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.cluster_roles import REDUCER_RUNTIME
from footplate.domain.jobs import ContainerProgram, Directory, PythonProgram
from footplate.domain.studies.parameters import (
    Branch,
    CategoricalParameter,
    DoubleParameter,
    IntegerParameter,
)
from footplate.domain.studies.space import Point, SearchSpace
from footplate.domain.tuning.trial_spec import flags, numbered, trial_spec
from tests.support.jobs import make_custom_name, make_spec
from tests.support.searches import POINT, SPACE, make_search

SEARCH = make_search()


def test_parameters_come_after_the_users_own_arguments() -> None:
    spec = trial_spec(make_spec(workers=2), SEARCH, 3, POINT, "search")

    for pool in spec.pools:
        assert isinstance(pool.program, PythonProgram)
        assert pool.program.args == (
            "--steps",
            "3",
            "--learning_rate=0.25",
            "--units=8",
            "--batch=32",
            "--optimizer=adam",
        )


def test_reduction_servers_get_no_parameters() -> None:
    servers = PythonProgram(f"{REDUCER_RUNTIME}image", (), "footplate_reduction", ("reducer",))
    spec = make_spec(make_custom_name(), workers=1)
    reducers = replace(spec.pools[1], cluster_role="workerpool2", program=servers)

    trial = trial_spec(replace(spec, pools=(*spec.pools, reducers)), SEARCH, 1, POINT, "search")

    assert trial.pools[2] == reducers
    assert trial.pools[1] != spec.pools[1]


def test_whole_numbers_of_a_range_of_reals_keep_their_point_and_those_of_a_list_dont() -> None:
    point: Point = {"learning_rate": 1.0, "units": 1, "batch": 64.5, "optimizer": "sgd"}

    assert flags(SPACE, point) == (
        "--learning_rate=1.0",
        "--units=1",
        "--batch=64.5",
        "--optimizer=sgd",
    )


def test_only_what_is_active_is_told() -> None:
    depth = IntegerParameter("depth", 1, 8)
    model = CategoricalParameter("model", ("linear", "deep"), None, (Branch(("deep",), depth),))
    space = SearchSpace((model, DoubleParameter("rate", 0.0, 1.0)))

    assert flags(space, {"model": "linear", "rate": 0.5}) == ("--model=linear", "--rate=0.5")
    assert flags(space, {"model": "deep", "depth": 2, "rate": 0.5})[1] == "--depth=2"


def test_a_container_without_arguments_gets_the_parameters_alone() -> None:
    spec = make_spec(program=ContainerProgram("image:1"))

    program = trial_spec(spec, SEARCH, 1, POINT, "search").primary.program

    assert isinstance(program, ContainerProgram)
    assert program.args is not None
    assert program.args[0] == "--learning_rate=0.25"
    assert program.command is None


def test_it_runs_the_trial_and_searches_nothing() -> None:
    spec = trial_spec(replace(make_spec(), search=SEARCH), SEARCH, 3, POINT, "search")

    assert spec.search is None
    assert spec.trial == "3"
    assert spec.metrics == ("rmse",)
    assert dict(spec.environment)["CLOUD_ML_JOB_ID"] == "search"


@pytest.mark.parametrize("given", ["gs://bucket/out", "gs://bucket/out/"])
def test_each_trial_has_a_job_directory_of_its_own(given: str) -> None:
    whole = replace(make_spec(), job_dir=given, directories=(Directory(None, given),))

    spec = trial_spec(whole, SEARCH, 3, POINT, "search")

    assert spec.job_dir == "gs://bucket/out/3"
    assert [directory.uri for directory in spec.directories] == ["gs://bucket/out/3"]


def test_the_number_comes_before_the_last_part_of_a_vertex_directory() -> None:
    directory = Directory("AIP_MODEL_DIR", "gs://bucket/base/model/", leaf="model/")
    whole = replace(make_spec(), directories=(directory,))

    spec = trial_spec(whole, SEARCH, 12, POINT, "search")

    assert spec.directories[0].uri == "gs://bucket/base/12/model/"
    assert spec.directories[0].variable == "AIP_MODEL_DIR"


def test_the_root_of_a_bucket_is_a_place_for_directories() -> None:
    assert numbered("gs://bucket", 1) == "gs://bucket/1"
    assert numbered("gs://bucket/model/", 1, "model/") == "gs://bucket/1/model/"


def test_trials_take_turns_in_the_regions_of_their_search() -> None:
    spec = replace(make_spec(), environment=(("CLOUD_ML_REGION", "us-central1"), ("A", "b")))
    search = replace(SEARCH, regions=("us-central1", "europe-west4", "asia-east1"))

    trials = [trial_spec(spec, search, number, POINT, "search") for number in range(1, 5)]

    regions = ["us-central1", "europe-west4", "asia-east1", "us-central1"]
    assert [trial.region for trial in trials] == regions
    assert [dict(trial.environment)["CLOUD_ML_REGION"] for trial in trials] == regions
    assert all(dict(trial.environment)["A"] == "b" for trial in trials)


def test_trials_of_other_searches_are_in_the_region_of_their_job() -> None:
    spec = make_spec()
    assert trial_spec(spec, SEARCH, 2, POINT, "search").region == spec.region
