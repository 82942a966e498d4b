"""Resources in all formats. What is printed of them is what gcloud 528 prints, unless told."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.cli.formats.grammar import read_format
from footplate.cli.output_format import render, render_list

if TYPE_CHECKING:
    from pydantic import JsonValue

JOBS: list[dict[str, JsonValue]] = [
    {
        "jobId": "census_1",
        "state": "RUNNING",
        "createTime": "2026-11-22T04:00:00.123456Z",
        "endTime": "2026-11-23T05:01:02Z",
        "labels": {"team": "vision", "x": "y"},
        "l": ["a", "Bc"],
        "k": 7,
        "b": True,
        "f": 0.5,
        "nul": None,
        "size": 1536,
        "input": {"region": "us-central1", "args": ["--a", "b c"]},
        "pools": [{"m": "n1", "c": 1}, {"m": "n2", "c": 2}],
        "name": "projects/p/locations/l/customJobs/12",
    },
    {"jobId": "census_20", "state": "FAILED", "createTime": "2026-11-23T04:00:00Z", "k": 3},
]


def printed(text: str) -> str:
    return render_list(JOBS, read_format(text), {"JOB_ID": "jobId", "K": "k"})


@pytest.mark.parametrize(
    ("projection", "first"),
    [
        ("jobId,state", "census_1\tRUNNING"),
        ("labels,l,b,k,nul,f,nope", "team=vision;x=y\ta;Bc\tTrue\t7\t\t0.5\t"),
        ("pools[].m", "n1;n2"),
        ("pools[0].m,pools.m,pools[1],pools.1.c", "n1\tn1;n2\tc=2;m=n2\t2"),
        ("l[-1],l[7],pools[*].m", "Bc\t\tn1;n2"),
        ("job_id,create_time,input.region", "census_1\t2026-11-22T04:00:00.123456Z\tus-central1"),
        ('name.basename(),l.join(","),l.len(),pools.len()', "12\ta,Bc\t2\t2"),
        ("createTime.date()", "2026-11-22T04:00:00"),
        ('createTime.date("%Y"),state.date(undefined="-")', "2026\t-"),
        ("createTime.date(tz=Asia/Tokyo)", "2026-11-22T13:00:00"),
        ("createTime.duration(start=createTime,end=endTime)", "P1DT1H1M2S"),
        ("labels.list(),l.list(),labels.list(show=keys)", "team=vision,x=y\ta,Bc\tteam,x"),
        ("jobId.segment(0),name.segment(3)", "census_1\tl"),
        ("size.size(),k.size(),state.size(undefined=?)", "1.5 KiB\t7 bytes\t?"),
    ],
)
def test_values(projection: str, first: str) -> None:
    assert printed(f"value({projection})").splitlines()[0] == first


def test_values_with_other_separators() -> None:
    assert printed('value[separator="\\n"](jobId,k)') == "census_1\n7\ncensus_20\n3"
    assert printed('value[delimiter=" "](l)') == "a Bc\n"


def test_csv() -> None:
    assert printed("csv(jobId,labels,pools[].m:label=MACHINES)") == (
        "job_id,labels,MACHINES\ncensus_1,team=vision;x=y,n1;n2\ncensus_20,,"
    )
    assert printed('csv[no-heading,separator="|"](jobId,input.args)') == (
        "census_1|--a;b c\ncensus_20|"
    )


def test_csv_without_fields_has_the_columns_of_the_table() -> None:
    """gcloud refuses it."""
    assert printed("csv") == "JOB_ID,K\ncensus_1,7\ncensus_20,3"


def test_tables() -> None:
    assert printed("table(jobId:sort=1:reverse,k:label=COUNT,nope)") == (
        "JOB_ID     COUNT  NOPE\ncensus_20  3\ncensus_1   7"
    )
    assert printed("table[no-heading,title=Jobs](jobId,k)") == (
        "    Jobs\ncensus_1   7\ncensus_20  3"
    )


def test_a_table_in_a_box() -> None:
    assert printed('table[box,title="Jobs"](jobId:sort=1:reverse,k)') == (
        "┌───────────────┐\n"
        "│      Jobs     │\n"
        "├───────────┬───┤\n"
        "│   JOB_ID  │ K │\n"
        "├───────────┼───┤\n"
        "│ census_20 │ 3 │\n"
        "│ census_1  │ 7 │\n"
        "└───────────┴───┘"
    )
    assert printed("[box,no-heading]") == (
        "┌───────────┬───┐\n│ census_1  │ 7 │\n│ census_20 │ 3 │\n└───────────┴───┘"
    )


def test_wide_characters_keep_their_columns() -> None:
    rows: list[dict[str, JsonValue]] = [{"a": "日本", "b": 1}, {"a": "cafe\u0301", "b": 2}]
    assert render_list(rows, read_format("table(a,b)"), {}) == ("A     B\n日本  1\ncafe\u0301  2")


def test_what_no_resource_has_is_null() -> None:
    """gcloud puts a blank line before YAML's."""
    assert printed("json(nam)") == "[\n  null,\n  null\n]"
    assert printed("yaml(nam,input.nope)") == "null\n---\nnull"
    assert render(JOBS[0], read_format("json(nam)"), {}) == "null"
    assert render(JOBS[0], read_format("yaml(nam)"), {}) == "null"


def test_json_and_yaml_of_parts() -> None:
    assert printed("json(jobId,input.region)") == (
        "[\n"
        "  {\n"
        '    "input": {\n'
        '      "region": "us-central1"\n'
        "    },\n"
        '    "jobId": "census_1"\n'
        "  },\n"
        "  {\n"
        '    "jobId": "census_20"\n'
        "  }\n"
        "]"
    )
    assert printed("yaml(jobId,pools[].m)") == (
        "jobId: census_1\npools:\n- m: n1\n- m: n2\n---\njobId: census_20"
    )
    assert render(JOBS[0], read_format("json(k)"), {}) == '{\n  "k": 7\n}'


def test_flatten_shows_each_item() -> None:
    layout = read_format("value(jobId,pools.m)")
    flat = replace(layout, flatten=(("pools",),))
    assert render_list(JOBS, flat, {}) == "census_1\tn1\ncensus_1\tn2\ncensus_20\t"
