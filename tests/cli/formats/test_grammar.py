"""How --format is read, and refused."""

from __future__ import annotations

import pytest

from footplate.cli.formats.format_spec import AllItems, Argument, Call, Column, Layout
from footplate.cli.formats.grammar import read_format, read_path
from footplate.domain.errors import InvalidArgument


def test_all_of_the_grammar() -> None:
    text = """table[box, no-heading, title="All jobs"](
        jobId:label=JOB:sort=1:reverse,
        labels."a.b"[0].c.date(format="%d, %H", tz=LOCAL),
        pools[].m, len())"""
    assert read_format(text) == Layout(
        "table",
        {"box": True, "no-heading": True, "title": "All jobs"},
        (
            Column(("jobId",), label="JOB", sort=1, descending=True),
            Column(
                ("labels", "a.b", 0, "c"),
                (Call("date", (Argument("%d, %H", "format"), Argument("LOCAL", "tz"))),),
            ),
            Column(("pools", AllItems.ITEMS, "m")),
            Column((), (Call("len"),)),
        ),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [("json", "json"), ("[box]", "table"), ("(a)", "table"), ("table[box]", "table"),
     (" value( a ) ", "value")],
)  # fmt: skip
def test_kinds(text: str, kind: str) -> None:
    assert read_format(text).kind == kind


@pytest.mark.parametrize(
    ("text", "problem"),
    [
        ("value", "value requires fields, such as value(name,state) at its end"),
        ("value()", "value requires fields, such as value(name,state) at its end"),
        ("value(", "the name of a field is missing at its end"),
        ("table(jobId", "')' is missing at its end"),
        ("table[box", "']' is missing at its end"),
        ("table[box](a,,b)", "the name of a field is missing at character 14, near ',b)'"),
        ("json)", "unexpected text at character 5, near ')'"),
        ("list", ("the format 'list' is not supported; supported: table, json, yaml, csv, value; "
         "the real gcloud has the rest; at character 1, near 'list'")),
        ("json[pad=2]", ("the attribute 'pad' of json is not supported; supported: none; "
         "the real gcloud has the rest; at character 6, near 'pad=2]'")),
        ("[all-box]", ("the attribute 'all-box' of table is not supported; supported: box, "
         "no-heading, title; the real gcloud has the rest; at character 2, near 'all-box]'")),
        ("value(a.scope())", ("the transform scope() is not supported; supported: basename(), "
         "date(), duration(), join(), len(), list(), segment(), size(); the real gcloud has the "
         "rest; at character 9, near 'scope())'")),
        ("value(a.date().b)", "a field can't follow a transform; at character 16, near 'b)'"),
        ("table(a:label)", "label requires a value: label=NAME at character 9, near 'label)'"),
        ("table(a:wrap)", ("the attribute 'wrap' of a field is not supported; supported: label, "
         "sort, reverse; the real gcloud has the rest; at character 9, near 'wrap)'")),
        ("table(a:sort=x)", ("sort='x' given; allowed: a number, from 1; at character 9, "
         "near 'sort=x)'")),
        ('value(a."b)', "a quote isn't closed at character 9, near '\"b)'"),
        ("value(a[x])", "']' is missing at character 9, near 'x])'"),
    ],
)  # fmt: skip
def test_what_is_wrong_is_named_with_its_place(text: str, problem: str) -> None:
    with pytest.raises(InvalidArgument) as raised:
        read_format(text)
    assert raised.value.message == problem


def test_a_path_has_no_transforms() -> None:
    assert read_path("a.b[]") == ("a", "b", AllItems.ITEMS)
    with pytest.raises(InvalidArgument, match="allowed: the path of a field, without transforms"):
        read_path("a.date()")
