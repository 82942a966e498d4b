"""Studies of Optuna, as Optuna itself wrote them (`tools/make_optuna_studies.py`)."""

from __future__ import annotations

import shutil
import sqlite3
import sys
from pathlib import Path
from typing import TYPE_CHECKING

import optuna
import pytest
from optuna.distributions import BaseDistribution, FloatDistribution
from optuna.trial import FrozenTrial, TrialState, create_trial

from footplate.cli.study_import.file_formats import read_study
from footplate.cli.study_import.finished_study import Choices, FinishedStudy, Span
from footplate.cli.study_import.optuna_study import finished
from footplate.cli.study_import.upload import study_spec, trial_request
from footplate.domain.errors import FailedPrecondition, InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
    with pytest.raises(InvalidArgument, match=r"is no storage of Optuna: KeyError: 'param_name'"):
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
        connection.execute("UPDATE alembic_version SET version_num = 'v2.6.0.a'")
    with pytest.raises(InvalidArgument, match=r"is of another version: .*; `optuna storage upg"):
        read(old)


def test_another_database(tmp_path: Path) -> None:
    other = tmp_path / "other.db"
    with sqlite3.connect(other) as connection:
        connection.execute("CREATE TABLE census (age)")
    with pytest.raises(InvalidArgument, match="is no storage of Optuna: StorageInternalError"):
        read(other)


def test_the_file_stays_as_it_is() -> None:
    before = DATABASE.read_bytes()
    read(DATABASE, "tuned")
    assert DATABASE.read_bytes() == before


def test_without_optuna_the_way_to_get_it_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delitem(sys.modules, "footplate.cli.study_import.optuna_study")
    monkeypatch.setitem(sys.modules, "optuna", None)
    with pytest.raises(
        FailedPrecondition, match=r"`pip install 'footplate\[optuna\]'` installs it"
    ):
        read(JOURNAL)


def study_of(*trials: FrozenTrial) -> FinishedStudy:
    study = optuna.create_study(storage=optuna.storages.InMemoryStorage())
    study.add_trials(trials)
    return finished(study, ["loss"])


def ended(
    value: float | None = 1.0,
    state: TrialState = TrialState.COMPLETE,
    reported: Mapping[int, float] | None = None,
    **parameters: tuple[float, BaseDistribution],
) -> FrozenTrial:
    return create_trial(
        state=state,
        value=value,
        params={name: value for name, (value, _) in parameters.items()},
        distributions={name: distribution for name, (_, distribution) in parameters.items()},
        intermediate_values=dict(reported or {}),
    )


X = (1.0, FloatDistribution(0, 2))
Y = (1.0, FloatDistribution(0, 3))


def test_a_range_that_has_changed() -> None:
    study = study_of(ended(x=X), ended(x=(4, FloatDistribution(1, 5))))
    assert study.domains == {"x": Span(0, 5)}
    assert study.notes == (
        "parameter 'x' has changed during the study: all its values are allowed",
    )


def test_too_many_steps_are_a_range() -> None:
    study = study_of(ended(x=(0.5, FloatDistribution(0, 1, step=0.0001))))
    assert study.domains == {"x": Span(0, 1)}
    assert study.notes == ("parameter 'x' has 10001 steps, more than 1000: a range",)


@pytest.mark.parametrize(
    ("trials", "names", "kept", "note"),
    [
        (
            [ended(x=X), ended(x=X), ended(x=X, y=Y)],
            ["x"],
            3,
            "parameter 'y' is left out: 2 of 3 trials lack it",
        ),
        (
            [ended(x=X), ended(x=X, y=Y), ended(x=X, y=Y)],
            ["x", "y"],
            2,
            "trials without parameter 'y' are left out: 1 of 3",
        ),
    ],
)
def test_what_no_other_parameter_explains(
    trials: Sequence[FrozenTrial], names: Sequence[str], kept: int, note: str
) -> None:
    """It goes, or the trials without it: what loses less."""
    study = study_of(*trials)
    assert list(study.domains) == names
    assert len(study.trials) == kept
    assert study.notes == (note,)


def test_what_is_no_number() -> None:
    pruned = ended(None, TrialState.PRUNED, {1: float("nan")}, x=X)
    study = study_of(ended(float("inf"), x=X), pruned)
    assert [trial.reason for trial in study.trials] == [
        "its value isn't a number",
        "it was pruned before it reported a number",
    ]
