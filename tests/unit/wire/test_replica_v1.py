"""Reports of supervisors: what honest ones send, and what forged ones might."""

from __future__ import annotations

import json
import math
from datetime import UTC, datetime
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.domain.job_states import Phase
from footplate.domain.jobs import Exit, ExitKind
from footplate.domain.log_lines import Line
from footplate.domain.replica_records import (
    EventRecord,
    ExitRecord,
    LineRecord,
    MetricRecord,
    StateRecord,
    TagsRecord,
    UsageRecord,
)
from footplate.domain.usage import Counters, GpuUse, Sample
from footplate.wire.replica_v1 import (
    MAX_LINE_LENGTH,
    MAX_RECORDS,
    MAX_TEXT_LENGTH,
    decode_reports,
)

T = 1_767_323_045.678901
TIME = datetime.fromtimestamp(T, UTC)


def report(*records: object) -> bytes:
    return json.dumps({"records": records}).encode()


def line(**fields: object) -> dict[str, object]:
    return {"n": 1, "t": T, "k": "line", "stream": "stdout", "m": "hello", **fields}


def refuse(*records: dict[str, Any]) -> str:
    with pytest.raises(InvalidArgument) as raised:
        decode_reports(report(*records))
    (violation,) = raised.value.violations
    return violation.field


def test_every_kind_of_record() -> None:
    records = decode_reports(
        report(
            {"n": 1, "t": T, "k": "state", "phase": "PREPARING"},
            {"n": 2, "t": T, "k": "event", "kind": "PREPARING", "m": "38 of 52 packages"},
            {"n": 3, "t": T, "k": "state", "phase": "RUNNING"},
            line(n=4),
            line(n=5, stream="stderr", m="oh"),
            line(n=6, m='{"severity": "WARNING", "message": "hm"}'),
            {"n": 7, "t": T, "k": "exit", "kind": "EXITED", "code": 1, "cause": "ValueError: bad"},
        )
    )
    assert records == (
        StateRecord(1, TIME, Phase.PREPARING),
        EventRecord(2, TIME, "PREPARING", "38 of 52 packages"),
        StateRecord(3, TIME, Phase.RUNNING),
        LineRecord(Line(4, TIME, "INFO", "hello")),
        LineRecord(Line(5, TIME, "ERROR", "oh")),
        LineRecord(Line(6, TIME, "WARNING", "hm", '{"severity":"WARNING","message":"hm"}')),
        ExitRecord(7, TIME, Exit(ExitKind.EXITED, 1, "ValueError: bad")),
    )
    assert [record.sequence for record in records] == [1, 2, 3, 4, 5, 6, 7]


def usage(**fields: object) -> dict[str, object]:
    return {"n": 1, "t": T, "k": "usage", "s": 10.5, "quiet_s": 3, **fields}


def test_a_sample_of_what_is_used() -> None:
    gpus = [{"id": "0", "percent": 97, "memory_bytes": 5}, {"id": "GPU-1"}]
    counted = {"cpu_s": 8.25, "read_bytes": 1, "written_bytes": 2, "processes": 3}
    more = {"memory_bytes": 6, "stopped": True}
    reduced = {"reduced_bytes": 7, "awaited_s": 1.5}
    (full, least) = decode_reports(
        report(usage(**counted, **more, **reduced, gpus=gpus), usage(n=2))
    )
    assert full == UsageRecord(
        Sample(
            1,
            TIME,
            Counters(10.5, 8.25, 1, 2, 7, 1.5),
            quiet_s=3.0,
            memory_bytes=6,
            processes=3,
            stopped=True,
            gpus=(GpuUse("0", 97.0, 5), GpuUse("GPU-1", None, None)),
        )
    )
    assert least == UsageRecord(Sample(2, TIME, Counters(10.5), quiet_s=3.0))
    assert least.sequence == 2


NO_SAMPLES: dict[str, list[object]] = {
    "s": [None, -1, True, "1", 1e300],
    "quiet_s": [None, -1, True, "1", 1e300],
    "cpu_s": [None, -0.5, float("nan"), float("inf"), [1]],
    "memory_bytes": [-1, 1.5, True, 10**400],
    "processes": ["x", -1],
    "reduced_bytes": [-1, 1.5],
    "awaited_s": ["x", -0.1],
    "stopped": [None, 1, "T"],
    "gpus": [{}, "x", [{"id": "0"}] * 65],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in NO_SAMPLES.items() for value in values]
)
def test_a_sample_that_can_not_be(name: str, value: object) -> None:
    assert refuse(usage(**{name: value})) == f"records[0].{name}"


@pytest.mark.parametrize(
    ("gpu", "field"),
    [
        ({}, ".id"),
        ({"id": "../x"}, ".id"),
        ({"id": "0", "percent": 101}, ".percent"),
        ({"id": "0", "memory_bytes": -1}, ".memory_bytes"),
        (7, ""),
    ],
)
def test_a_gpu_that_can_not_be(gpu: object, field: str) -> None:
    assert refuse(usage(gpus=[{"id": "1"}, gpu])) == f"records[0].gpus[1]{field}"


def metric(**fields: object) -> dict[str, object]:
    given = {"tag": "val acc", "step": 7, "value": 0.5, "source": "logs/train"}
    return {"n": 1, "t": T, "k": "metric", **given, **fields}


def test_a_measurement_of_a_metric() -> None:
    (record,) = decode_reports(report(metric()))
    assert record == MetricRecord(1, TIME, "val acc", 7, 0.5, "logs/train")


@pytest.mark.parametrize(
    ("sent", "value"),
    [(3, 3.0), (-2e300, -2e300), ("Infinity", math.inf), ("-Infinity", -math.inf)],
)
def test_any_value_of_a_metric(sent: object, value: float) -> None:
    (record,) = decode_reports(report(metric(value=sent, step=2**53)))
    assert isinstance(record, MetricRecord)
    assert (record.value, record.step) == (value, 2**53)


def test_a_metric_that_is_no_number() -> None:
    (record,) = decode_reports(report(metric(value="NaN")))
    assert isinstance(record, MetricRecord)
    assert math.isnan(record.value)


NO_METRICS: dict[str, list[object]] = {
    "tag": [None, 7, ["x"], "x" * 4097],
    "step": [None, -1, 1.5, True, "1", 2**53 + 1, 10**400],
    "value": [None, True, "nan", "1", math.nan, math.inf, 10**400, [1.0], {}],
    "source": [None, 7, "x" * 1025],
}


@pytest.mark.parametrize(
    ("name", "value"), [(name, value) for name, values in NO_METRICS.items() for value in values]
)
def test_a_measurement_that_can_not_be(name: str, value: object) -> None:
    assert refuse(metric(**{name: value})) == f"records[0].{name}"


def test_names_that_can_not_be_kept_are_made_such() -> None:
    (one, other) = decode_reports(
        report(
            metric(tag="a\x00", source="\ud800"),
            {"n": 2, "t": T, "k": "tags", "tags": ["b\x00", "c d"]},
        )
    )
    assert isinstance(one, MetricRecord)
    assert (one.tag, one.source) == ("a\ufffd", "\ufffd")
    assert other == TagsRecord(2, TIME, ("b\ufffd", "c d"))


@pytest.mark.parametrize(
    ("tags", "field"),
    [
        (None, ""),
        ("loss", ""),
        (["x"] * 201, ""),
        (["x", 3], "[1]"),
        (["x", "y", "z" * 257], "[2]"),
        ([["x"]], "[0]"),
    ],
)
def test_tags_that_can_not_be(tags: object, field: str) -> None:
    assert refuse({"n": 1, "t": T, "k": "tags", "tags": tags}) == f"records[0].tags{field}"


def test_a_heartbeat_is_empty() -> None:
    assert decode_reports(report()) == ()


def test_an_exit_may_leave_out_what_it_does_not_know() -> None:
    (record,) = decode_reports(report({"n": 1, "t": 0, "k": "exit", "kind": "STOPPED"}))
    assert record == ExitRecord(1, datetime.fromtimestamp(0, UTC), Exit(ExitKind.STOPPED))


def test_what_a_program_can_print_is_taken() -> None:
    texts = ["", "\x00", "\x1b[31m", "\ufffd" * 65536, "x" * 65536, "\u2028", "\ud800"]
    records = decode_reports(report(*(line(n=n, m=text) for n, text in enumerate(texts, 1))))
    kept = [record.line.message for record in records if isinstance(record, LineRecord)]
    assert kept == ["", "\ufffd", *texts[2:-1], "\ufffd"]


def test_long_causes_and_messages_are_cut() -> None:
    long = "\x00" + "x" * 100_000
    event, end = decode_reports(
        report(
            {"n": 1, "t": T, "k": "event", "kind": "SPOOL_FULL", "m": long},
            {"n": 2, "t": T, "k": "exit", "kind": "EXITED", "code": 1, "cause": long},
        )
    )
    assert isinstance(event, EventRecord)
    assert isinstance(end, ExitRecord)
    for text in (event.message, end.exit.cause):
        assert len(text) == MAX_TEXT_LENGTH
        assert text.startswith("\ufffdx")
        assert text.endswith("x...")


def _each(field: str, values: tuple[object, ...]) -> list[tuple[str, object]]:
    return [(field, value) for value in values]


@pytest.mark.parametrize(
    ("field", "value"),
    [
        *_each("n", (0, -1, 1.5, "1", None, True, 2**60, 10**400)),
        *_each("t", (float("nan"), float("inf"), -1, "1", None, True, 1e300, 10**400)),
        *_each("k", ("lines", None, 3, [], {})),
        *_each("stream", ("stdin", None, 3)),
        *_each("m", (None, 3, ["x"], "x" * (MAX_LINE_LENGTH + 1))),
    ],
)
def test_a_wrong_field_is_named(field: str, value: object) -> None:
    assert refuse(line(), line(**{"n": 2, field: value})) == f"records[1].{field}"


@pytest.mark.parametrize(
    ("record", "field"),
    [
        ({"k": "state", "phase": "GONE"}, "phase"),
        ({"k": "state"}, "phase"),
        ({"k": "event", "kind": "lower", "m": ""}, "kind"),
        ({"k": "event", "kind": "K" * 65, "m": ""}, "kind"),
        ({"k": "event", "kind": "KIND", "m": 3}, "m"),
        ({"k": "exit", "kind": "VANISHED"}, "kind"),
        ({"k": "exit", "kind": "EXITED", "code": "1"}, "code"),
        ({"k": "exit", "kind": "EXITED", "code": 2**31}, "code"),
        ({"k": "exit", "kind": "EXITED", "code": 0, "cause": {}}, "cause"),
    ],
)
def test_a_wrong_field_of_the_other_kinds_is_named(record: dict[str, Any], field: str) -> None:
    assert refuse({"n": 1, "t": T, **record}) == f"records[0].{field}"


def test_sequences_ascend() -> None:
    assert refuse(line(n=2), line(n=2)) == "records[1].n"
    assert refuse(line(n=2), line(n=1)) == "records[1].n"


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"[]",
        b"{}",
        b"\xff",
        b'{"records": {}}',
        b'{"records": [3]}',
        b'{"records": [' + b"[" * 100_000 + b"]" * 100_000 + b"]}",
        b'{"records": [{"n": ' + b"9" * 5000 + b"}]}",
        json.dumps({"records": [{}] * (MAX_RECORDS + 1)}).encode(),
    ],
)
def test_a_body_that_is_no_report_is_refused(body: bytes) -> None:
    with pytest.raises(InvalidArgument):
        decode_reports(body)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)
record_like = st.fixed_dictionaries(
    {},
    optional={
        "n": st.integers(1, 3) | json_values,
        "t": st.floats(0, 1e9) | json_values,
        "k": st.sampled_from(["line", "state", "event", "metric", "tags", "exit"]) | json_values,
        "tag": st.text() | json_values,
        "step": st.integers() | json_values,
        "value": st.floats() | st.sampled_from(["NaN", "-Infinity"]) | json_values,
        "source": st.text() | json_values,
        "tags": st.lists(st.text()) | json_values,
        "stream": st.sampled_from(["stdout", "stderr"]) | json_values,
        "m": st.text() | json_values,
        "phase": st.sampled_from(["PREPARING", "RUNNING"]) | json_values,
        "kind": st.sampled_from(["EXITED", "PREPARING"]) | json_values,
        "code": st.integers() | json_values,
        "cause": st.text() | json_values,
    },
)


@given(st.lists(record_like | json_values, max_size=3))
def test_whatever_comes_is_decoded_or_refused(records: list[object]) -> None:
    try:
        decode_reports(report(*records))
    except InvalidArgument as error:
        error.message.encode()
