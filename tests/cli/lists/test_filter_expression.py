"""What gcloud's filters keep."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.cli.jobs.kinds import States
from footplate.cli.lists.filter_expression import fields, prefilter, read_condition, with_states
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from pydantic import JsonValue

NOW = datetime(2026, 11, 22, 12, tzinfo=UTC)
JOB: dict[str, JsonValue] = {
    "jobId": "census_1",
    "state": "RUNNING",
    "createTime": "2026-11-22T04:00:00.123456Z",
    "labels": {"team": "vision", "X": "y"},
    "n": "7",
    "k": 7,
    "l": ["a", "Bc"],
    "trainingInput": {"region": "us-central1"},
    "b": True,
}


@pytest.mark.parametrize(
    ("text", "kept"),
    [
        ("state=running", True), ("state=RUN", False), ("state:RUN", True), ("state:run*", True),
        ("state:*un", False), ("state!=FAILED", True), ("labels.team=VISION", True),
        ("labels:team", True), ("labels:vision", True), ("labels:nope", False),
        ("labels:*", True), ("-labels.x:*", True), ("NOT labels.X:*", False),
        ("jobId~^cen", True), ("jobId!~x", True), ("jobId!~s_\\d", False),
        ("createTime>-p1d", True), ("createTime>-pt2h", False), ("createTime<-PT1H30M", True),
        ("createTime>2026-11-22", True), ("createTime<2026-11-22", False),
        ('createTime<"2026-11-22T05:00:00+00:00"', True), ("createTime>2026-11-22T04", True),
        ("createTime>=2026-11-22T04:01", False),
        ("n>6", True), ("n>06", True), ("n>10", False), ("k>10", False), ("k=7.0", True),
        ("l:bc", True), ("l=bc", True), ("l=d", False), ("l!=a", False),
        ("state=(RUNNING FAILED)", True), ("state=(RUNNING,FAILED)", True),
        ("state:(fail canc)", False), ("RUNNING", True), ("vision", True), ("nobody", False),
        ("training_input.region:us", True), ("trainingInput.region=us-*", False),
        ("b=true", True), ("nope=3", False), ("nope!=3", True), ("nope<3", False),
        ("job_id=census_1 k=7", True), ("(state=X OR k=7) AND n=7", True),
        ("state=RUNNING AND (k<3 OR k>9)", False), ("l[1]=Bc", True), ("jobId>b", True),
    ],
)  # fmt: skip
def test_what_is_kept(text: str, kept: bool) -> None:  # noqa: FBT001  a parameter
    """As gcloud 528 has it."""
    assert read_condition(text, NOW).holds(JOB) is kept


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("state=", "a value is missing at character 7, the end"),
        ("state==RUNNING", "== is no comparator; at character 7, near '=RUNNING'"),
        ("state=(", "a value, or ')', is missing at character 8, the end"),
        ("(state=a", "a closing parenthesis is missing at character 9, the end"),
        ("jobId~(", "a value is missing at character 7, near '('"),
        ("jobId~'('", ("not a regular expression: missing ), unterminated subpattern at position 0;"
         " at character 7, near \"'('\"")),
        ("a..b=1", ("allowed: the path of a field, such as labels.team; at character 1, "
         "near 'a..b=1'")),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        read_condition(text, NOW)
    assert raised.value.message == f"filter: {problem}"


STATES = States(("JOB_STATE_RUNNING", "JOB_STATE_FAILED"))


@pytest.mark.parametrize(
    ("text", "sent"),
    [
        ("state=failed", "state=JOB_STATE_FAILED"),
        ("state!=JOB_STATE_FAILED AND k=7", "state!=JOB_STATE_FAILED"),
        ("state=(failed running)", "(state=JOB_STATE_FAILED OR state=JOB_STATE_RUNNING)"),
        ("state=failed OR k=7", ""),
        ("NOT state=failed", ""),
        ("createTime>-p1d", 'create_time>"2026-11-21T12:00:00.000000Z"'),
        ("labels.team=vision AND displayName~x", 'labels."team":"vision"'),
        ("labels.team=v*", ""),
    ],
)
def test_what_the_service_looks_after(text: str, sent: str) -> None:
    assert prefilter(with_states(read_condition(text, NOW), STATES)) == sent


def test_fields_that_are_asked_for() -> None:
    assert fields(read_condition("a=1 AND NOT (b.c:2 OR a=3) AND labels.x=1 word", NOW)) == [
        "a",
        "b.c",
    ]


@given(st.text(max_size=60))
def test_any_text_is_read_or_refused(text: str) -> None:
    try:
        condition = read_condition(text, NOW)
    except InvalidArgument:
        return
    condition.holds(JOB)
