"""Bringing a finished study: what is sent, and what is said."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.fake_service import failure

if TYPE_CHECKING:
    from collections.abc import Callable

    from click.testing import Result

    from tests.support.fake_service import FakeService

IMPORT = ("ai", "hp-tuning-jobs", "import")
STUDIES = Path(__file__).parents[2] / "study_import" / "studies"
COLLECTION = "projects/demo/locations/us-central1/studies"


def test_a_study_of_optuna(invoke: Callable[..., Result], fake: FakeService) -> None:
    journal = str(STUDIES / "optuna.log")
    result = invoke(*IMPORT, journal, "--display-name=old", "--metric=rmse", "--format=json")
    assert result.exit_code == 0
    assert result.stderr == (
        "Note: 2 pruned trials count with what they reported last.\n"
        "Study 1 has 8 trials.\n"
        "  learn from it: footplate ai hp-tuning-jobs create --learn-from=1 ...\n"
    )
    assert f'"name": "{COLLECTION}/1"' in result.stdout
    _, created, *trials = (r.json() for r in fake.requests if r.method == "POST")
    assert created == {
        "displayName": "old",
        "studySpec": {
            "metrics": [{"metricId": "rmse", "goal": "MAXIMIZE"}],
            "parameters": [
                {
                    "parameterId": "rate",
                    "doubleValueSpec": {"minValue": 0.0, "maxValue": 1.0},
                    "scaleType": "UNIT_LINEAR_SCALE",
                }
            ],
        },
    }
    assert trials == fake.studies[f"{COLLECTION}/1"]
    assert [trial["state"] for trial in trials] == ["SUCCEEDED"] * 8


def test_all_of_it_or_nothing(invoke: Callable[..., Result], fake: FakeService) -> None:
    refused = failure(400, "INVALID_ARGUMENT", "parameters[0]: no such parameter")
    fake.refusals["POST", f"/v1/{COLLECTION}/1/trials"] = refused
    result = invoke(*IMPORT, str(STUDIES / "optuna.log"), "--display-name=old")
    assert result.exit_code == 1
    assert result.stderr.endswith("Error: parameters[0]: no such parameter\n")
    assert not fake.studies


def test_several_studies_in_a_file(invoke: Callable[..., Result], fake: FakeService) -> None:
    result = invoke(*IMPORT, str(STUDIES / "optuna.db"), "--display-name=old")
    assert result.exit_code == 1
    assert result.stderr.endswith("name one by --study-name: tuned, several\n")
    assert not fake.requests


def test_a_name_that_is_taken(invoke: Callable[..., Result], fake: FakeService) -> None:
    fake.studies[f"{COLLECTION}/7"] = []
    result = invoke(*IMPORT, str(STUDIES / "optuna.log"), "--display-name=7")
    assert result.exit_code == 1
    assert result.stderr.endswith(
        f"Error: there is a study '7': {COLLECTION}/7; give another --display-name, or learn from "
        "the one that there is: `hp-tuning-jobs create --learn-from=7`\n"
    )
    assert fake.calls() == [f"POST /v1/{COLLECTION}:lookup"]
