"""Studies of Optuna, as Optuna itself wrote them (`tools/make_optuna_studies.py`)."""

from __future__ import annotations

import shutil
import sqlite3
from pathlib import Path

import pytest

from footplate.cli.study_import.file_formats import read_study
from footplate.cli.study_import.finished_study import Choices, FinishedStudy, Span
from footplate.cli.study_import.optuna_study import StoredStudy, StoredTrial, finished
from footplate.cli.study_import.vizier_requests import study_spec, trial_request
from footplate.domain.errors import InvalidArgument

STUDIES = Path(__file__).parent / "studies"
DATABASE, JOURNAL = STUDIES / "optuna.db", STUDIES / "optuna.log"


def read(path: Path, name: str = "", *metrics: str) -> FinishedStudy:
    return read_study(path, name, metrics, "")


def test_every_kind_of_parameter() -> None:
    study = read(DATABASE, "tuned")
    assert study.domains == {
        "learning_rate": Span(1e-4, 1e-1, log=True),
        "dropout": Choices((0.0, 0.1, 0.2, 0.3, 0.4, 0.5)),
        "units": Span(4, 128, integral=True),
        "layers": Span(1, 64, integral=True, log=True),
        "patience": Choices((5, 10, 15, 20, 25)),
        "batch_size": Choices((16, 32, 64)),
        "bias": Choices(("true", "false", "none")),
        "booster": Choices(("tree", "linear")),
        "depth": Span(1, 8, integral=True),
    }
    assert study.goals == {"loss": "MINIMIZE"}
    assert study.notes == (
        "1 of 13 trials are left out: they haven't ended",
        "7 pruned trials count with what they reported last",
    )


def test_its_trials_are_points_of_its_space() -> None:
    study = read(DATABASE, "tuned")
    assert len(study.trials) == 12
    for trial in study.trials:
        for name, value in trial.parameters.items():
            domain = study.domains[name]
            if isinstance(domain, Choices):
                assert value in domain.values
            else:
                assert not isinstance(value, str)
                assert domain.low <= value <= domain.high
                assert isinstance(value, int) is domain.integral


def test_ends() -> None:
    trials = read(DATABASE, "tuned").trials
    pruned, whole, failed = trials[0], trials[2], trials[5]
    assert pruned.final == pruned.curve[-1]
    assert pruned.final is not None
    assert (pruned.final.step, len(pruned.curve)) == (1, 1)
    assert whole.final is not None
    assert whole.final.values["loss"] == pytest.approx(1.0032295773)
    assert (whole.final.step, len(whole.curve)) == (3, 3)
    assert (failed.final, failed.reason) == (None, "it failed")


def test_what_depends_on_what_follows_from_the_trials() -> None:
    spec = study_spec(read(DATABASE, "tuned"))
    parameters = spec["parameters"]
    assert isinstance(parameters, list)
    assert parameters[-1] == {
        "parameterId": "booster",
        "categoricalValueSpec": {"values": ["tree", "linear"]},
        "conditionalParameterSpecs": [
            {
                "parameterSpec": {
                    "parameterId": "depth",
                    "integerValueSpec": {"minValue": "1", "maxValue": "8"},
                    "scaleType": "UNIT_LINEAR_SCALE",
                },
                "parentCategoricalValues": {"values": ["tree"]},
            }
        ],
    }


def test_a_trial_as_it_is_sent() -> None:
    study = read(DATABASE, "several", "cost", "gain")
    width = study.trials[0].parameters["width"]
    assert study.goals == {"cost": "MINIMIZE", "gain": "MAXIMIZE"}
    assert isinstance(width, float)
    assert trial_request(study.trials[0]) == {
        "parameters": [{"parameterId": "width", "value": width}],
        "state": "SUCCEEDED",
        "finalMeasurement": {
            "stepCount": "0",
            "metrics": [
                {"metricId": "cost", "value": pytest.approx(width**2)},
                {"metricId": "gain", "value": pytest.approx((1 - width) ** 2)},
            ],
        },
    }


def test_a_journal() -> None:
    study = read(JOURNAL)
    assert study.domains == {"rate": Span(0.0, 1.0)}
    assert study.goals == {"value": "MAXIMIZE"}
    assert len(study.trials) == 8
    for trial in study.trials:
        rate = trial.parameters["rate"]
        assert isinstance(rate, float)
        assert trial.final is not None
        assert trial.final.values["value"] == pytest.approx(rate + 1 if rate > 0.8 else rate)
    assert read(JOURNAL, "small", "rmse").goals == {"rmse": "MAXIMIZE"}


def test_a_journal_that_is_being_written(tmp_path: Path) -> None:
    cut = tmp_path / "optuna.log"
    cut.write_text(JOURNAL.read_text()[:-30])
    assert len(read(cut).trials) == 7
    cut.write_text(JOURNAL.read_text().replace('"param_name"', '"name"'))
    with pytest.raises(InvalidArgument, match=r"no journal of Optuna: KeyError: 'param_name'"):
        read(cut)


def test_a_file_with_several_studies() -> None:
    with pytest.raises(InvalidArgument, match="has 2 studies; name one by --study-name: tuned, s"):
        read(DATABASE)
    with pytest.raises(InvalidArgument, match=r"--study-name: 'old' given; .* has: tuned, several"):
        read(DATABASE, "old")
    with pytest.raises(InvalidArgument, match="--metric: 1 given; allowed: 2, as in the study"):
        read(DATABASE, "several", "cost")


def test_a_storage_of_another_version(tmp_path: Path) -> None:
    old = tmp_path / "old.db"
    shutil.copy(DATABASE, old)
    with sqlite3.connect(old) as connection:
        connection.execute("UPDATE version_info SET schema_version = 11")
    with pytest.raises(InvalidArgument, match="is of schema 11; allowed: 12; `optuna storage upg"):
        read(old)


def test_another_database(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE census (age)")
    with pytest.raises(InvalidArgument, match="is no storage of Optuna: no such table"):
        read(other)


def stored(*trials: StoredTrial) -> StoredStudy:
    return StoredStudy("s", ("MINIMIZE",), ("loss",), trials)


def number(low: float, high: float, step: str = "null") -> str:
    about = f'{{"low": {low}, "high": {high}, "log": false, "step": {step}}}'
    return f'{{"name": "FloatDistribution", "attributes": {about}}}'


def done(place: int, value: float = 1.0, **parameters: tuple[float, str]) -> StoredTrial:
    return StoredTrial(place, "COMPLETE", parameters, (value,), {})


def test_a_range_that_has_changed() -> None:
    study = finished(stored(done(0, x=(1, number(0, 2))), done(1, x=(4, number(1, 5)))), ())
    assert study.domains == {"x": Span(0, 5)}
    assert study.notes == (
        "parameter 'x' has changed during the study: all its values are allowed",
    )


def test_too_many_steps_are_a_range() -> None:
    study = finished(stored(done(0, x=(0.5, number(0, 1, "0.0001")))), ())
    assert study.domains == {"x": Span(0, 1)}
    assert study.notes == ("parameter 'x' has 10001 steps, more than 1000: a range",)


def test_what_no_other_parameter_explains() -> None:
    """It goes, or the trials without it: what loses less."""
    x, y = (1.0, number(0, 2)), (1.0, number(0, 3))
    rare = finished(stored(done(0, x=x), done(1, x=x), done(2, x=x, y=y)), ())
    assert list(rare.domains) == ["x"]
    assert len(rare.trials) == 3
    assert rare.notes == ("parameter 'y' is left out: 2 of 3 trials lack it",)
    frequent = finished(stored(done(0, x=x), done(1, x=x, y=y), done(2, x=x, y=y)), ())
    assert list(frequent.domains) == ["x", "y"]
    assert len(frequent.trials) == 2
    assert frequent.notes == ("trials without parameter 'y' are left out: 1 of 3",)


def test_what_is_no_number() -> None:
    x = (1.0, number(0, 2))
    pruned = StoredTrial(1, "PRUNED", {"x": x}, (), {1: float("nan")})
    study = finished(stored(done(0, float("inf"), x=x), pruned), ())
    assert [trial.reason for trial in study.trials] == [
        "its value isn't a number",
        "it was pruned before it reported a number",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("{", "'{' is no distribution"),
        ('{"name": "FloatDistribution", "attributes": {"low": 1}}', "is no distribution"),
        (
            '{"name": "UniformDistribution", "attributes": {}}',
            "is of 'UniformDistribution'; allowed: FloatDistribution",
        ),
    ],
)
def test_distributions_that_are_none(text: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=f"parameter 'x'.*{message}"):
        finished(stored(done(0, x=(1.0, text))), ())
