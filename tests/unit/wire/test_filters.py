"""The filters of lists, read."""

from contextlib import suppress
from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument, ServiceError
from footplate.domain.filters import And, Comparator, Comparison, Field, Filter, Not, Or
from footplate.domain.job_states import State
from footplate.wire.filters.jobs import NOTHING, parse_filter
from footplate.wire.filters.parser import MAX_COMPARISONS
from footplate.wire.training_v1.queries import VOCABULARY as TRAINING
from footplate.wire.vertex_v1.queries import VOCABULARY as VERTEX

FAILED = Comparison(Field.STATE, Comparator.EQUAL, State.FAILED)
RUNNING = Comparison(Field.STATE, Comparator.EQUAL, State.RUNNING)
EITHER: Filter = Or((FAILED, RUNNING))
RNN = Comparison(Field.JOB_ID, Comparator.MATCHES, "rnn*")


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ("state=FAILED", FAILED),
        ("state:FAILED", FAILED),
        ('state = "FAILED"', FAILED),
        ("state!=FAILED", Comparison(Field.STATE, Comparator.NOT_EQUAL, State.FAILED)),
        ("jobId:rnn* AND state:FAILED", And((RNN, FAILED))),
        ("jobId:rnn* state:FAILED", And((RNN, FAILED))),
        ("state=FAILED OR state=RUNNING", Or((FAILED, RUNNING))),
        ("NOT state=FAILED", Not(FAILED)),
        ("-state=FAILED", Not(FAILED)),
        ("-(state=FAILED)", Not(FAILED)),
        ("NOT (state=FAILED OR state=RUNNING)", Not(EITHER)),
        ("job_id:rnn* state=FAILED OR state=RUNNING", And((RNN, Or((FAILED, RUNNING))))),
        ("job_id='it\\'s'", Comparison(Field.JOB_ID, Comparator.EQUAL, "it's")),
        ("labels.a-b=c", Comparison(Field.LABEL, Comparator.EQUAL, "c", "a-b")),
        ("labels.a:*", Comparison(Field.LABEL, Comparator.MATCHES, "*", "a")),
        ("labels:a", Comparison(Field.LABEL, Comparator.MATCHES, "*", "a")),
        ('labels.a=""', Comparison(Field.LABEL, Comparator.EQUAL, "", "a")),
        (
            "createTime>=2026-01-02T03:04:05Z",
            Comparison(
                Field.CREATE_TIME,
                Comparator.GREATER_OR_EQUAL,
                datetime(2026, 1, 2, 3, 4, 5, tzinfo=UTC),
            ),
        ),
        ("state=STATE_UNSPECIFIED", NOTHING),
        ("state!=STATE_UNSPECIFIED", Not(NOTHING)),
        ("", None),
        ("  ", None),
    ],
)
def test_ml_filters(text: str, meant: Filter | None) -> None:
    assert parse_filter(text, TRAINING) == meant


@pytest.mark.parametrize(
    ("text", "meant"),
    [
        ('state="JOB_STATE_FAILED"', FAILED),
        ("state=JOB_STATE_PENDING", Comparison(Field.STATE, Comparator.EQUAL, State.PREPARING)),
        ("state=JOB_STATE_PAUSED", NOTHING),
        (
            'display_name:"*step*"',
            Comparison(Field.DISPLAY_NAME, Comparator.MATCHES, "*step*"),
        ),
        ("displayName!=x", Comparison(Field.DISPLAY_NAME, Comparator.NOT_EQUAL, "x")),
    ],
)
def test_vertex_filters(text: str, meant: Filter) -> None:
    assert parse_filter(text, VERTEX) == meant


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("state", "a comparator (= != : < <= > >=) is missing at character 6, the end"),
        ("state=", "a value is missing at character 7, the end"),
        ("state=RUNNING)", "unexpected text at character 14, near ')'"),
        ("(state=RUNNING", "a closing parenthesis is missing at character 15, the end"),
        ("state=RUNNING AND", "at character 18, the end"),
        ("jobId='x", "a closing quote is missing at character 7"),
        ("foo=1", "unknown field; allowed: createTime, "),
        ("labels.=1", "unknown field"),
        ("state=GONE", "unknown state; allowed: STATE_UNSPECIFIED, QUEUED, "),
        ("state<RUNNING", "< given; allowed: = != :"),
        ("jobId>a", "> given; allowed: = != :"),
        ("createTime:x", ": given; allowed: = != < <= > >="),
        ("createTime>yesterday", "'yesterday' is not a time"),
        ("(" * 100_000, "longer than"),
        ("(" * 1000, "the filter is nested deeper than 50 levels"),
        ("NOT " * 1000, "the filter is nested deeper than 50 levels"),
        ("jobId=a " * (MAX_COMPARISONS + 1), "more than 100 comparisons"),
        ('"state"=RUNNING', "the name of a field is missing at character 1"),
        (
            "jobId:" + "a" * 1001,
            "jobId: 1001 characters given; allowed with the operator ':': at most 1000;",
        ),
        ("labels.a:" + "*" * 1001, "labels.a: 1001 characters given; allowed"),
    ],
)
def test_a_filter_that_cant_be_read_is_refused_with_the_place(text: str, said: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        parse_filter(text, TRAINING)
    assert said in refusal.value.message


_WORDS = st.sampled_from(
    [
        "state",
        "=",
        "!=",
        ":",
        ">",
        "(",
        ")",
        "AND",
        "OR",
        "NOT",
        "-",
        '"',
        "'",
        "RUNNING",
        "labels.a",
        "createTime",
        "2026-01-01",
        "*",
        "\\",
    ]
)


@given(st.lists(_WORDS | st.text(max_size=5)).map(" ".join))
def test_any_text_is_a_filter_or_an_error_of_ours(text: str) -> None:
    with suppress(ServiceError):
        parse_filter(text, TRAINING)
