"""Which trials a filter finds, and in what order, whatever metrics and parameters are called."""

from __future__ import annotations

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.wire.footplate_v1.trial_selection import select_trials, spell
from footplate.wire.json_text import JsonObject

TAXI = "Taxi Model Accuracy"
METRICS = (TAXI, "Accuracy", "f1 (val)", "loss, desc", 'a "b"', "-log p", "10% of x=y")


def trial(number: int) -> JsonObject:
    values: JsonObject = {**dict.fromkeys(METRICS, number), "Accuracy": -number}
    return {
        "number": number,
        "state": "SUCCEEDED",
        "parameters": {"batch size": 64 // number, "rate": number / 10},
        "final": {"step": 1, "values": values},
    }


ANSWER: JsonObject = {
    "metrics": [{"name": name} for name in METRICS],
    "parameters": ["batch size", "rate"],
    "trials": [trial(number) for number in (1, 2, 3)],
    "best": [2],
}


def select(condition: str = "", order_by: str = "") -> list[object]:
    found = select_trials(ANSWER, condition, order_by)["trials"]
    assert isinstance(found, list)
    return [each["number"] for each in found if isinstance(each, dict)]


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("Taxi Model Accuracy > 1", [2, 3]),
        ('"Taxi Model Accuracy" > 1', [2, 3]),
        ("'Taxi Model Accuracy'>1", [2, 3]),
        ('metrics."Taxi Model Accuracy">1', [2, 3]),
        ("metrics.Taxi Model Accuracy>1", [2, 3]),
        ("Taxi Model Accuracy<3 AND batch size<=32", [2]),
        ("NOT Taxi Model Accuracy>1", [1]),
        ("-Taxi Model Accuracy>1", [1]),
        ("(Accuracy>=-2)", [1, 2]),
        ("f1 (val) = 2", [2]),
        ('"-log p"=3', [3]),
        ('-"-log p"=3', [1, 2]),
        (r'"a \"b\""=1', [1]),
        ("10% of x=y != 2", [1, 3]),
        ('rate="Taxi Model Accuracy > 1"', []),
        ('parameters."batch size"=64', [1]),
    ],
)
def test_names_of_any_characters(condition: str, numbers: list[int]) -> None:
    assert select(condition) == numbers


@pytest.mark.parametrize(
    ("order_by", "numbers"),
    [
        ("Taxi Model Accuracy", [1, 2, 3]),
        ("Taxi Model Accuracy desc", [3, 2, 1]),
        ('"Taxi Model Accuracy" desc', [3, 2, 1]),
        ("batch size", [3, 2, 1]),
        ("batch size asc, rate desc", [3, 2, 1]),
        ('"loss, desc" desc', [3, 2, 1]),
        ('"loss, desc"', [1, 2, 3]),
        ("metrics.Taxi Model Accuracy DESC", [3, 2, 1]),
    ],
)
def test_orders_by_names_of_any_characters(order_by: str, numbers: list[int]) -> None:
    assert select(order_by=order_by) == numbers


@pytest.mark.parametrize("name", [*METRICS, "batch size"])
def test_a_name_as_a_page_spells_it_is_found_again(name: str) -> None:
    sign = "desc" if name == "Accuracy" else "asc"
    expected = [3, 2, 1] if name == "batch size" else [1, 2, 3]
    assert select(order_by=f"{spell(name)} {sign}") == expected
    assert select(f"{spell(name)}!=1000") == [1, 2, 3]


@pytest.mark.parametrize(
    ("condition", "order_by", "message"),
    [
        ("Taxi Model > 1", "", "filter: a comparator"),
        ("Taxi < 1", "", 'unknown field; allowed: "batch size", rate, "Taxi Model Accuracy"'),
        ("", "Taxi Model desc", "orderBy: 'Taxi Model desc' given; allowed: FIELD"),
        ("", "loss, desc", "orderBy: 'loss' given; allowed: FIELD"),
        ("state=DONE", "", "unknown state; allowed: REQUESTED, ACTIVE, STOPPING, SUCCEEDED, "),
    ],
)
def test_what_is_no_field_is_refused(condition: str, order_by: str, message: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        select(condition, order_by)
    assert message in refused.value.message


@pytest.mark.parametrize(
    ("condition", "numbers"),
    [
        ("state=succeeded", [1]),
        ("state=INFEASIBLE", [2, 3]),
        ("state=FAILED", [2]),
        ("state=CANCELLED", [3]),
        ("state=active", [4]),
        ("state=PREPARING OR state=QUEUED", [4, 5]),
        ("state!=RUNNING", [1, 2, 3, 4, 5]),
    ],
)
def test_states_are_in_the_words_of_both_apis(condition: str, numbers: list[int]) -> None:
    states: tuple[JsonObject, ...] = (
        {"state": "SUCCEEDED"},
        {"state": "INFEASIBLE"},
        {"state": "INFEASIBLE", "outcome": "CANCELLED"},
        {"state": "ACTIVE", "run": {"state": "PREPARING"}},
        {"state": "REQUESTED"},
    )
    trials = [{"number": number, **state} for number, state in enumerate(states, 1)]
    answer: JsonObject = {"metrics": [], "parameters": [], "trials": [*trials]}
    found = select_trials(answer, condition, "")["trials"]
    assert isinstance(found, list)
    assert [each["number"] for each in found if isinstance(each, dict)] == numbers


def test_the_columns_of_the_csv_are_fields() -> None:
    late: JsonObject = {
        **trial(2),
        "startTime": "2026-11-21T08:00:00Z",
        "endTime": "2026-11-21T08:01:30Z",
        "machineSeconds": 180.0,
        "stoppedEarly": True,
        "stopReason": "above 0.7",
        "suggestion": {"reason": "exploit", "sentence": "expects 0.3"},
    }
    answer: JsonObject = {**ANSWER, "trials": [trial(1), late]}
    for condition in (
        *("trial=2", "best=true", "seconds=90", "machine_seconds>100", "stopped_early=true"),
        *("stop_reason:above", "suggested_as=exploit", "suggestion:0.3"),
        "start_time<2026-11-21T08:30 AND end_time>2026-11-21T08:01",
    ):
        assert select_trials(answer, condition, "")["trials"] == [late], condition
