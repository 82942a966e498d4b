"""How --format is read, and refused."""

from __future__ import annotations

import pytest

from footplate.cli.formats.format_spec import AllItems, Argument, Call, Column, Layout
from footplate.cli.formats.grammar import read_format, read_path
from footplate.domain.errors import InvalidArgument


def test_all_of_the_grammar() -> None:
    text = """table[box, no-heading, title="All jobs"](
        jobId:label=JOB:sort=1:reverse,
        labels."a.b"[0].c.date(format="%d, %H", tz=LOCAL):align=right:wrap,
        pools[].m, uri())"""
    assert read_format(text) == Layout(
        "table",
        {"box": True, "heading": False, "no-heading": True, "title": "All jobs"},
        (
            Column(("jobId",), label="JOB", sort=1, descending=True),
            Column(
                ("labels", "a.b", 0, "c"),
                (Call("date", (Argument("%d, %H", "format"), Argument("LOCAL", "tz"))),),
                align="right",
            ),
            Column(("pools", AllItems.ITEMS, "m")),
            Column((), (Call("uri"),)),
        ),
    )


@pytest.mark.parametrize(
    ("text", "kind"),
    [("json", "json"), ("get(a)", "value"), ("text", "flattened"), ("[box]", "table"),
     ("(a)", "table"), ("default", "yaml"), ("table[box]", "table"), (" value( a ) ", "value")],
)  # fmt: skip
def test_kinds_and_other_names_of_them(text: str, kind: str) -> None:
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
        ("value(a.dat())", ("there is no transform dat(); did you mean date? "
         "at character 9, near 'dat())'")),
        ("value(a.date().b)", "a field can't follow a transform; at character 16, near 'b)'"),
        ("table(a:label)", "label requires a value: label=NAME at character 9, near 'label)'"),
        ("table(a:align=up)", ("align='up' given; allowed: left, right, center; at character 9, "
         "near 'align=up)'")),
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
