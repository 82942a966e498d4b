"""Filters of metadata and TensorBoards, as the SDK sends them."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest

from footplate.domain.errors import InvalidArgument
from footplate.domain.filters import And, Comparator, Not, Or
from footplate.domain.tracking.filters import Equals, Filter, LinkedTo, required_links
from footplate.wire.vertex_v1.tracking_filters import parse_tracking_filter, read_order

EQUAL = Comparator.EQUAL
EXPERIMENT = Equals(("schemaTitle",), EQUAL, "system.Experiment")
RUN = Equals(("schemaTitle",), EQUAL, "system.Run")
EITHER: Filter = Or((EXPERIMENT, RUN))


@pytest.mark.parametrize(
    ("collection", "text", "expected"),
    [
        ("contexts", "", None),
        ("contexts", 'schema_title="system.Experiment"', EXPERIMENT),
        (
            "contexts",
            '(schema_title="system.Experiment" OR schema_title=system.Run) AND parent_contexts:"c"',
            And((EITHER, LinkedTo("c"))),
        ),
        ("contexts", 'child_contexts:"n"', LinkedTo("n", downwards=True)),
        (
            "executions",
            'schema_title="system.Run" AND in_context("projects/p/c")',
            And((RUN, LinkedTo("projects/p/c"))),
        ),
        ("artifacts", 'NOT in_context("n")', Not(LinkedTo("n"))),
        ("artifacts", 'uri = "gs://b/x"', Equals(("uri",), EQUAL, "gs://b/x")),
        (
            "contexts",
            "schema_title=system.Run AND (display_name = a-b)",
            And((RUN, Equals(("displayName",), EQUAL, "a-b"))),
        ),
        ("contexts", "metadata.a.b.string_value=x", Equals(("metadata", "a", "b"), EQUAL, "x")),
        (
            "executions",
            "metadata.lr.number_value>0.5",
            Equals(("metadata", "lr"), Comparator.GREATER, 0.5),
        ),
        ("artifacts", "metadata.x.bool_value=true", Equals(("metadata", "x"), EQUAL, value=True)),
        ("tensorboards", "is_default=true", Equals(("isDefault",), EQUAL, value=True)),
        ("timeSeries", 'display_name = "a/b"', Equals(("displayName",), EQUAL, "a/b")),
        ("runs", "labels.team:x", Equals(("labels", "team"), Comparator.MATCHES, "x")),
        ("runs", "labels.team:*", Equals(("labels", "team"), Comparator.MATCHES, "")),
        ("datasets", "labels:team", Equals(("labels", "team"), Comparator.MATCHES, "")),
        ("datasets", "metadata_schema_uri=x", Equals(("metadataSchemaUri",), EQUAL, "x")),
        (
            "runs",
            'create_time>"2026-01-31T12:00:00Z"',
            Equals(("createTime",), Comparator.GREATER, datetime(2026, 1, 31, 12, tzinfo=UTC)),
        ),
    ],
)
def test_what_is_understood(collection: str, text: str, expected: Filter | None) -> None:
    assert parse_tracking_filter(text, collection) == expected


@pytest.mark.parametrize(
    ("collection", "text", "said"),
    [
        (
            "contexts",
            "colour=red",
            r"unknown field; allowed: display_name, schema_title, .*at char",
        ),
        ("contexts", 'in_context("n")', "unknown function"),
        ("executions", 'parent_contexts:"n"', r"unknown field; allowed: .*in_context\("),
        ("executions", 'near("n")', "unknown function"),
        ("executions", "in_context(n)", "a value in quotes is missing"),
        ("executions", 'in_context("n"', "a closing parenthesis is missing"),
        ("executions", "metadata.a=1", "metadata.KEY.number_value"),
        ("executions", "metadata.a.number_value=x", "allowed: a number"),
        ("executions", "metadata.a.bool_value=1", "allowed: true, false"),
        ("executions", "state>NEW", "> given; allowed: = != :"),
        ("contexts", "create_time=x", "is not a time"),
        ("tensorboards", "schema_title=x", "unknown field"),
        ("metadataStores", "display_name=x", "unknown field"),
        ("contexts", 'parent_contexts:"a","b"', "a comparator"),
    ],
)
def test_what_is_refused(collection: str, text: str, said: str) -> None:
    with pytest.raises(InvalidArgument, match=f"^filter: .*{said}"):
        parse_tracking_filter(text, collection)


def test_links_that_all_have_are_known() -> None:
    text = 'in_context("a") AND (in_context("b") OR uri=x) AND NOT in_context("c")'
    assert [*required_links(parse_tracking_filter(text, "artifacts"))] == [LinkedTo("a")]


def test_orders() -> None:
    assert [read_order(text) for text in (None, "", "create_time", "createTime desc")] == [
        False,
        False,
        True,
        False,
    ]
    with pytest.raises(InvalidArgument, match=r"^orderBy: .*allowed: create_time"):
        read_order("display_name")
