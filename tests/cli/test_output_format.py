"""Resources in all formats. What is printed of them is what gcloud 528 prints, unless told."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.cli.output_format import read_format, render, render_list
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from pydantic import JsonValue

JOBS: list[dict[str, JsonValue]] = [
    {
        "jobId": "census_1",
        "state": "RUNNING",
        "labels": {"team": "vision", "x": "y"},
        "l": ["a", "Bc"],
        "k": 7,
        "b": True,
        "f": 0.5,
        "nul": None,
        "input": {"region": "us-central1", "args": ["--a", "b c"]},
        "pools": [{"m": "n1", "c": 1}, {"m": "n2", "c": 2}],
        "val.loss": 0.25,
    },
    {"jobId": "census_20", "state": "FAILED", "k": 3},
]


def printed(text: str) -> str:
    return render_list(JOBS, read_format(text), {"JOB_ID": "jobId", "K": "k"})


@pytest.mark.parametrize(
    ("fields", "first"),
    [
        ("jobId,state", "census_1\tRUNNING"),
        ("jobId, state,", "census_1\tRUNNING"),
        ("labels,l,b,k,nul,f,nope", "team=vision;x=y\ta;Bc\tTrue\t7\t\t0.5\t"),
        ("pools[].m", "n1;n2"),
        ("pools[0].m,pools.m,pools[1],pools.1.c", "n1\tn1;n2\tc=2;m=n2\t2"),
        ("l[-1],l[7],pools[*].m", "Bc\t\tn1;n2"),
        ("job_id,input.region,val.loss", "census_1\tus-central1\t0.25"),
    ],
)
def test_values(fields: str, first: str) -> None:
    assert printed(f"value({fields})").splitlines()[0] == first


def test_csv() -> None:
    assert printed("csv(jobId,labels,pools[].m,input.args)") == (
        "job_id,labels,m,args\ncensus_1,team=vision;x=y,n1;n2,--a;b c\ncensus_20,,,"
    )


def test_csv_without_fields_has_the_columns_of_the_table() -> None:
    """gcloud refuses it."""
    assert printed("csv") == "JOB_ID,K\ncensus_1,7\ncensus_20,3"


def test_tables() -> None:
    assert printed("table") == "JOB_ID     K\ncensus_1   7\ncensus_20  3"
    columns = {"A": "l", "B": "pools"}
    assert render_list(JOBS[:1], read_format("table"), columns) == (
        "A      B\na, Bc  c=1;m=n1, c=2;m=n2"
    )


def test_wide_characters_keep_their_columns() -> None:
    rows: list[dict[str, JsonValue]] = [{"a": "日本", "b": 1}, {"a": "cafe\u0301", "b": 2}]
    assert render_list(rows, read_format("table"), {"A": "a", "B": "b"}) == (
        "A     B\n日本  1\ncafe\u0301  2"
    )


def test_json_and_yaml() -> None:
    rows: list[dict[str, JsonValue]] = [{"b": 1, "a": ["x"]}, {"b": 2}]
    assert render_list(rows, read_format("yaml"), {}) == "a:\n- x\nb: 1\n---\nb: 2"
    assert render_list(rows[1:], read_format("json"), {}) == '[\n  {\n    "b": 2\n  }\n]'
    assert render(rows[1], read_format("json"), {}) == '{\n  "b": 2\n}'


@pytest.mark.parametrize(
    "text",
    [
        *("xml", "", "value(", "value(a))", "json(k)", "yaml(k)", "table(jobId)", "table[box](k)"),
        *("value(name.basename())", "value(k:label=K)", "value(a[b])", 'csv("k")', "[no-heading]"),
    ],
)
def test_what_else_gcloud_has_is_refused(text: str) -> None:
    with pytest.raises(InvalidArgument) as refused:
        read_format(text)
    assert refused.value.message == (
        f"{text!r} given; allowed: table, json, yaml, csv, csv(FIELD,...) and value(FIELD,...); "
        "for other formats, use jq on json"
    )


def test_values_of_no_field_are_refused() -> None:
    with pytest.raises(InvalidArgument, match="value requires fields, such as value"):
        read_format("value()")
