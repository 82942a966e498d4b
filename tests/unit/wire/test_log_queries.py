"""The Logging query language: what it means, where it looks, and what is refused where."""

from __future__ import annotations

from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.filters import And
from footplate.domain.log_lines import Entry, Line
from footplate.domain.names import TrainingJobName
from footplate.wire.log_severity import SEVERITIES
from footplate.wire.logging_v2.entries import encode_entry
from footplate.wire.logging_v2.matching import matches
from footplate.wire.logging_v2.queries import parse_query
from footplate.wire.logging_v2.scope import Span, job_ids, span, without_end

TIME = datetime(2026, 1, 2, 3, 4, 5, 678901, tzinfo=UTC)
JOB = TrainingJobName("demo", "Job_1")
TEXT = Entry(TIME, "00000000000000ab", 2, "master-replica-0", Line(7, TIME, "WARNING", "Hello you"))
JSON = Entry(
    TIME,
    "00000000000000ac",
    1,
    "worker-replica-0",
    Line(8, TIME, "ERROR", "oh", '{"message": "oh", "loss": 0.5, "deep": {"flag": true}}'),
)
GCLOUD = (
    '(resource.type="ml_job" OR resource.type="cloudml_job") AND resource.labels.job_id="Job_1"'
    ' AND (resource.labels.task_name="master-replica-0" OR labels.task_name="master-replica-0")'
)


def match(text: str, entry: Entry = TEXT) -> bool:
    return matches(parse_query(text), entry, encode_entry(entry, JOB))


@pytest.mark.parametrize(
    "text",
    [
        "",
        GCLOUD,
        (
            f'{GCLOUD} AND timestamp>="1970-01-01T01:00:00.000000000Z"'
            ' AND timestamp<"2026-01-02T03:04:06.000000+00:00"'
        ),
        (
            f'{GCLOUD} AND ((timestamp="2026-01-02T03:04:05.678901Z" AND'
            ' insertId>"00000000000000aa") OR timestamp>"2026-01-02T03:04:05.678901Z")'
            ' AND timestamp<"2027-01-02T03:04:06Z"'
        ),
        'resource.type="ml_job" resource.labels.project_id="demo"',
        'labels."attempt"="2" -labels."ml.googleapis.com/trial_id"="1"',
        "severity=warning",
        "severity>=WARNING AND severity<ERROR AND severity!=INFO",
        "severity=400",
        "textPayload:hello",
        'textPayload:"LO YO"',
        "textPayload:*",
        'textPayload="hello you"',
        "NOT textPayload:bye",
        "-textPayload:bye",
        "labels.attempt=2",
        'labels.printed="2026-01-02T03:04:05.678901Z"',
        'logName="projects/demo/logs/master-replica-0"',
        "textPayload:bye OR textPayload:hello AND severity=WARNING",
        "timestamp=2026-01-02T04:04:05.678901+01:00",
        "timestamp>2026-01-02",
        "receiveTimestamp<=2026-01-03",
        "insertId<=00000000000000ab",
    ],
)
def test_what_matches(text: str) -> None:
    assert match(text)


@pytest.mark.parametrize(
    "text",
    [
        'resource.type="gce_instance"',
        'resource.labels.job_id="job_1"',
        'resource.labels.task_name="worker-replica-0"',
        'timestamp>"2026-01-02T03:04:05.678901Z"',
        'timestamp="2026-01-02T03:04:05.678901Z" AND insertId>"00000000000000ab"',
        "severity<WARNING",
        "jsonPayload.message:hello",
        "labels.unheard:*",
        "NOT textPayload:hello",
        "textPayload:hello AND (severity=INFO OR severity=ERROR)",
        "textPayload:hello OR textPayload:you severity=INFO",
    ],
)
def test_what_does_not_match(text: str) -> None:
    assert not match(text)


def test_structured_entries_match_by_their_payload() -> None:
    assert match('jsonPayload.message="oh"', JSON)
    assert match("jsonPayload.loss=0.5", JSON)
    assert match("jsonPayload.deep.flag=true", JSON)
    assert match("jsonPayload.deep:*", JSON)
    assert not match("jsonPayload.deep=true", JSON)
    assert not match("jsonPayload.shallow:*", JSON)
    assert not match("textPayload:oh", JSON)


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("jsonPayload.loss>0.1", True),
        ("jsonPayload.loss>0.05e1", False),
        ("jsonPayload.loss<10", True),  # as texts "10" would come first
        ("jsonPayload.loss=.5", True),
        ("jsonPayload.loss!=0.25", True),
        ("jsonPayload.missing!=0.25", False),
        ("jsonPayload.message>=oa", True),
        ("jsonPayload.deep.flag!=true", False),
        ("json_payload.loss=0.5", True),
        ("jsonPayload.tags=b", True),
        ("jsonPayload.tags:B", True),
        ("jsonPayload.tags=~^b$", True),
        ("jsonPayload.tags=c", False),
        ("jsonPayload.tags:*", True),
        ("jsonPayload.none:*", False),
        ("jsonPayload.empty:*", False),
    ],
)
def test_values_of_a_payload_keep_their_kinds(text: str, *, found: bool) -> None:
    payload = (
        '{"message": "oh", "loss": 0.5, "deep": {"flag": true}, "tags": ["a", "b"],'
        ' "none": null, "empty": []}'
    )
    entry = replace(JSON, line=replace(JSON.line, payload=payload))
    assert match(text, entry) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("hello", True),
        ("HELLO", True),
        ('"lo yo"', True),
        ("hello you", True),
        ("hello bye", False),
        ("hello AND NOT bye", True),
        ("hello -bye", True),
        ("-hello", False),
        ("bye OR hello", True),
        ("bye OR (hello AND warning)", True),
        ("master-replica", True),
        ("job_1", True),
        ("hello severity>=WARNING", True),
        ("hello severity>=ERROR", False),
        ("hello (bye OR you)", True),
        ("hello (bye OR nobody)", False),
    ],
)
def test_words_alone_are_looked_for_everywhere(text: str, *, found: bool) -> None:
    assert match(text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("severity=(ERROR OR WARNING)", True),
        ("severity=(ERROR OR CRITICAL)", False),
        ('textPayload:("hello" AND you)', True),
        ('textPayload:("hello" AND bye)', False),
        ("textPayload:(hello AND NOT bye)", True),
        ("-textPayload:(bye OR nobody)", True),
        ("NOT severity=(ERROR OR WARNING)", False),
        ("labels.attempt=(1 OR 2) AND severity=WARNING", True),
        ("textPayload:(bye OR hello) severity=ERROR", False),
        ('textPayload=~("^He" OR "^Bye")', True),
    ],
)
def test_values_in_parentheses(text: str, *, found: bool) -> None:
    assert match(text) is found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("textPayload=~hel", False),
        ('textPayload=~"(?i)^hel+o"', True),
        (r'textPayload=~"^\w+ y.u$"', True),
        (r'textPayload=~"^\\w+ y.u$"', True),
        (r'textPayload!~"\d"', True),
        (r'textPayload!~"\w"', False),
        ('jsonPayload.message!~"x"', False),
        ('labels.attempt=~"^[0-9]$"', True),
        ('resource.labels.task_name=~"master-.*-[0-9]+"', True),
        ('logName=~"/logs/master"', True),
    ],
)
def test_regular_expressions(text: str, *, found: bool) -> None:
    assert match(text) is found


def test_the_log_of_an_entry_by_its_id() -> None:
    for text in ('log_id("master-replica-0")', "log_id(Master-replica-0)", "hello log_id(x) OR h"):
        assert match(text)
    assert not match('log_id("python")')
    assert not match('NOT log_id("master-replica-0")')


@pytest.mark.parametrize(
    "zone", ["Z", "+00:00", "+0000", "-0000"], ids=["Z", "colon", "none", "minus"]
)
def test_times_as_clients_spell_them(zone: str) -> None:
    assert match(f'timestamp>="2026-01-02T03:04:05.678901{zone}"')
    assert not match(f'timestamp>"2026-01-02T03:04:05.678901{zone}"')


@pytest.mark.parametrize(
    ("text", "place", "problem"),
    [
        ("severity>=", "character 11, the end", "a value is missing"),
        ("severity=LOUD", "character 10", "unknown severity; allowed: DEFAULT"),
        ("colour=red", "character 1", "unknown field; allowed: insertId"),
        ("timestamp>yesterday", "character 11", "is not a time"),
        ("timestamp:2026", "character 11", ": given for a time"),
        ("(severity=INFO", "character 15, the end", "parenthesis is missing"),
        ("severity=INFO)", "character 14", "unexpected text"),
        ("severity=INFO AND", "character 18, the end", "the name of a field is missing"),
        ('textPayload:"open', "character 13", "a closing quote is missing"),
        ('textPayload=~"a(+"', "character 14", "nothing that + can repeat"),
        ('textPayload=~"(a"', "character 14", "a ) is missing, at character 3 of the pattern"),
        (
            'textPayload=~"((a{9}){9}){99}"',
            "character 14",
            "too large: it has more than 1000 steps",
        ),
        (
            "timestamp=~2026",
            "character 12",
            ("the operator =~ given for timestamp; allowed: = != < <= > >=;"),
        ),
        ("severity!~INFO", "character 11", "!~ given for severity"),
        ("hello AND", "character 10, the end", "the name of a field is missing"),
        ("OR hello", "character 1", "OR has nothing to join"),
        ('SEARCH("x")', "character 1", "unknown function; allowed: log_id(...)"),
        ("severity=()", "character 11", "a value is missing"),
        ("severity=(INFO OR", "character 18, the end", "a value is missing"),
        ("severity=(INFO", "character 15, the end", "parenthesis is missing"),
        ("timestamp>=(now)", "character 13", "is not a time"),
        ("(" * 60, "character 51", "deeper than 50"),
        ("NOT " * 60 + "severity=INFO", "character 201", "deeper than 50"),
        ("severity=INFO " * 201, "character 2801", "more than 200 comparisons"),
        ("severity=INFO " * 5000, "character 32768", "longer than"),
        ('textPayload=~"a{600}" OR ' * 2 + "x", "character 39", "more than 1000 steps"),
    ],
)
def test_a_wrong_query_is_told_the_place(text: str, place: str, problem: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        parse_query(text)
    (violation,) = raised.value.violations
    assert violation.field == "filter"
    assert place in violation.description
    assert problem in violation.description


@pytest.mark.parametrize(
    ("text", "ids"),
    [
        ("", None),
        (GCLOUD, {"Job_1"}),
        ('resource.labels.job_id="a" OR resource.labels.job_id="b"', {"a", "b"}),
        ('resource.labels.job_id="a" OR severity=INFO', None),
        ('resource.labels.job_id="a" AND resource.labels.job_id="b"', set()),
        ('NOT resource.labels.job_id="a"', None),
        ('resource.labels.job_id!="a"', None),
        ('resource.labels.job_id:"a"', None),
    ],
)
def test_the_jobs_that_a_query_is_about(text: str, ids: set[str] | None) -> None:
    assert job_ids(parse_query(text)) == (None if ids is None else frozenset(ids))


def test_the_end_is_taken_off_at_the_top_only() -> None:
    query = parse_query(
        "severity=INFO timestamp<2020-01-01 timestamp>=2010-01-01"
        " (timestamp<2015-01-01 OR severity=INFO)"
    )
    assert isinstance(query, And)
    assert without_end(query) == And((query.parts[0], *query.parts[2:]))
    assert without_end(parse_query("timestamp<=2020-01-01")) == And(())


def _time(minute: int) -> datetime:
    return TIME.replace(minute=minute)


comparisons = st.builds(
    lambda comparator, minute: f'timestamp{comparator}"{_time(minute).isoformat()}"',
    st.sampled_from(["=", "!=", "<", "<=", ">", ">="]),
    st.integers(0, 6),
) | st.sampled_from(["severity=WARNING", "severity=INFO"])
queries = st.recursive(
    comparisons,
    lambda inner: st.one_of(
        st.builds("({} AND {})".format, inner, inner),
        st.builds("({} OR {})".format, inner, inner),
        st.builds("NOT {}".format, inner),
    ),
    max_leaves=8,
)


@given(queries)
def test_nothing_matches_outside_of_the_span(text: str) -> None:
    query = parse_query(text)
    found: Span = span(query)
    for minute in range(7):
        time = _time(minute)
        entry = Entry(time, TEXT.insert_id, 1, TEXT.replica, TEXT.line)
        if matches(query, entry, encode_entry(entry, JOB)):
            assert found.first is None or found.first <= time
            assert found.last is None or time <= found.last


@given(st.text(alphabet="()\"=<>:-*~!{}[]|+?^$ ANDORNOTseverityINFO.\\'", max_size=60))
def test_any_text_is_a_query_or_refused(text: str) -> None:
    try:
        query = parse_query(text)
    except InvalidArgument:
        return
    matches(query, TEXT, encode_entry(TEXT, JOB))


def test_severities_have_the_order_of_cloud_logging() -> None:
    for low, high in pairwise(SEVERITIES):
        entry = Entry(TIME, "0", 1, "r", Line(1, TIME, high, "m"))
        assert match(f"severity>{low}", entry)
        assert not match(f"severity<={low}", entry)


def test_an_entry_of_a_trial_matches_by_its_number() -> None:
    entry = replace(TEXT, trial="12")
    assert match('labels."ml.googleapis.com/trial_id"="12"', entry)
    assert not match('labels."ml.googleapis.com/trial_id"="1"', entry)
    assert match('NOT labels."ml.googleapis.com/trial_id":*')


def test_an_entry_as_readers_get_it() -> None:
    printed = TIME - timedelta(hours=1)
    entry = Entry(TIME, "00000000000000ab", 2, "master-replica-0", Line(7, printed, "INFO", "hi"))
    assert encode_entry(entry, JOB) == {
        "insertId": "00000000000000ab",
        "logName": "projects/demo/logs/master-replica-0",
        "timestamp": "2026-01-02T03:04:05.678901Z",
        "receiveTimestamp": "2026-01-02T03:04:05.678901Z",
        "severity": "INFO",
        "resource": {
            "type": "ml_job",
            "labels": {"project_id": "demo", "job_id": "Job_1", "task_name": "master-replica-0"},
        },
        "labels": {
            "attempt": "2",
            "restart": "0",
            "sequence": "7",
            "printed": "2026-01-02T02:04:05.678901Z",
        },
        "textPayload": "hi",
    }
    document = encode_entry(JSON, JOB)
    assert "textPayload" not in document
    assert document["jsonPayload"] == {"message": "oh", "loss": 0.5, "deep": {"flag": True}}
