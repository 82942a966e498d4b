"""Trials that Vertex AI told of, and our own exports, read back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from footplate.cli.study_import.file_formats import read_study
from footplate.cli.study_import.finished_study import Choices, FinishedTrial, Measured, Span
from footplate.cli.study_import.upload import study_spec
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from pathlib import Path

SPEC = {
    "metrics": [{"metricId": "rmse", "goal": "MINIMIZE"}],
    "parameters": [{"parameterId": "rate", "doubleValueSpec": {"minValue": 0, "maxValue": 1}}],
}
TRIALS = [
    {
        "id": "1",
        "state": "SUCCEEDED",
        "parameters": [{"parameterId": "rate", "value": 0.5}],
        "finalMeasurement": {"stepCount": "10", "metrics": [{"metricId": "rmse", "value": 3}]},
        "measurements": [{"stepCount": "5", "metrics": [{"metricId": "rmse", "value": 4}]}],
    },
    {
        "id": "2",
        "state": "INFEASIBLE",
        "parameters": [{"parameterId": "rate", "value": 0.75}],
        "infeasibleReason": "it broke",
    },
    {"id": "3", "state": "ACTIVE", "parameters": [{"parameterId": "rate", "value": 0.1}]},
]
FIRST = FinishedTrial({"rate": 0.5}, Measured({"rmse": 3.0}, 10), "", (Measured({"rmse": 4.0}, 5),))
SECOND = FinishedTrial({"rate": 0.75}, None, "it broke")
LEFT = "1 of 3 trials are left out: they haven't ended"
RANGES = "the file has no ranges: those of rate go from the least to the most tried"


def file(tmp_path: Path, text: str) -> Path:
    path = tmp_path / "export"
    path.write_text(text)
    return path


def test_a_tuning_job(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps({"displayName": "x", "studySpec": SPEC, "trials": TRIALS}))
    study = read_study(path, "", (), "")
    assert study_spec(study) == SPEC
    assert (study.trials, study.notes) == ((FIRST, SECOND), (LEFT,))


def test_as_the_sdk_writes_it(tmp_path: Path) -> None:
    """In snake case, with numbers for enums; and as YAML, as `describe` prints it."""
    text = """
study_spec: {metrics: [{metric_id: rmse, goal: 2}], parameters: []}
trials:
- {id: '1', state: 4, parameters: [{parameter_id: rate, value: 0.5}],
   final_measurement: {step_count: 10, metrics: [{metric_id: rmse, value: 3}]}}
- {id: '2', state: 5, parameters: [{parameter_id: rate, value: 0.75}], infeasible_reason: it broke}
"""
    study = read_study(file(tmp_path, text), "", (), "")
    assert study.goals == {"rmse": "MINIMIZE"}
    assert [trial.final for trial in study.trials] == [FIRST.final, None]
    assert study.trials[1].reason == "it broke"


@pytest.mark.parametrize(
    ("text", "metrics", "goal", "said"),
    [
        (json.dumps(TRIALS), ("loss",), "MINIMIZE", "--metric: 'loss' given; the file has rmse"),
        (
            json.dumps({"studySpec": SPEC, "trials": TRIALS}),
            ("loss",),
            "",
            "--metric: loss given; the file says rmse: leave the option out",
        ),
        (
            json.dumps({"studySpec": SPEC, "trials": TRIALS}),
            (),
            "MAXIMIZE",
            "--goal: MAXIMIZE given; the file says MINIMIZE of rmse: leave the option out",
        ),
        (json.dumps(TRIALS)[:200], (), "", "as JSON it breaks off or goes wrong at line 1"),
    ],
)
def test_what_doesnt_go_with_the_file_is_said(
    tmp_path: Path, text: str, metrics: tuple[str, ...], goal: str, said: str
) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        read_study(file(tmp_path, text), "", metrics, goal)
    assert said in str(refusal.value)


def test_trials_alone(tmp_path: Path) -> None:
    path = file(tmp_path, json.dumps(TRIALS))
    with pytest.raises(InvalidArgument, match="doesn't say what is best of rmse: give --goal"):
        read_study(path, "", (), "")
    study = read_study(path, "", (), "MINIMIZE")
    assert (study.goals, study.domains) == ({"rmse": "MINIMIZE"}, {"rate": Span(0.5, 0.75)})
    assert study.notes == (LEFT, RANGES)


def test_our_own_json(tmp_path: Path) -> None:
    document = {
        "metrics": [{"name": "rmse", "goal": "MAXIMIZE"}],
        "trials": [
            {
                "number": 1,
                "state": "SUCCEEDED",
                "parameters": {"layers": 1, "optimizer": "adam", "seed": 7},
                "final": {"step": 9, "values": {"rmse": 2.0}},
            },
            {
                "number": 2,
                "state": "SUCCEEDED",
                "parameters": {"layers": 3, "optimizer": "sgd", "seed": 7},
                "final": {"step": 9, "values": {"rmse": "NaN"}},
            },
        ],
    }
    study = read_study(file(tmp_path, json.dumps(document)), "", (), "")
    assert study.goals == {"rmse": "MAXIMIZE"}
    assert study.domains == {
        "layers": Span(1, 3, integral=True),
        "optimizer": Choices(("adam", "sgd")),
        "seed": Choices((7,)),
    }
    assert study.trials[1].reason == "its value isn't a number"


CSV = """trial,state,best,rmse,step,rate,optimizer,start_time,infeasible_reason
1,SUCCEEDED,true,3.0,10,0.5,adam,2026,
2,INFEASIBLE,false,,,0.75,sgd,2026,it broke
3,ACTIVE,false,,,0.1,sgd,2026,
"""


@pytest.mark.parametrize("state", ["INFEASIBLE", "FAILED", "CANCELLED"])
def test_our_own_csv(tmp_path: Path, state: str) -> None:
    text = CSV.replace("INFEASIBLE", state)
    study = read_study(file(tmp_path, text), "", (), "MINIMIZE")
    assert study.goals == {"rmse": "MINIMIZE"}
    assert study.trials == (
        FinishedTrial({"rate": 0.5, "optimizer": "adam"}, Measured({"rmse": 3.0}, 10)),
        FinishedTrial({"rate": 0.75, "optimizer": "sgd"}, None, "it broke"),
    )


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("trial,state\n1,SUCCEEDED\n", "has no column 'best'; allowed: what `trials --format=csv`"),
        ('{"displayName": "x"}', "there are no trials in the file; allowed: a HyperparameterTun"),
        ("hello", "there are no trials in the file"),
        ("a: [", "something else than an Optuna database or journal, or an export of trials"),
        ('{"trials": [3]}', "there are no trials in the file"),
    ],
)
def test_something_else(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InvalidArgument, match=message):
        read_study(file(tmp_path, text), "", (), "")


def test_no_file(tmp_path: Path) -> None:
    with pytest.raises(InvalidArgument, match="no: No such file or directory"):
        read_study(tmp_path / "no", "", (), "")
