"""Names, links and filters of metadata and TensorBoards."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta

import pytest

from footplate.domain.errors import Aborted, InvalidArgument, NotFound
from footplate.domain.filters import Comparator
from footplate.domain.tracking.filters import Equals, matches
from footplate.domain.tracking.names import parse_tracking_name
from footplate.domain.tracking.resources import (
    Link,
    LinkKind,
    change_fields,
    check_etag,
    check_link,
)
from tests.support.jobs import CREATED
from tests.support.tracking import BOARD, HERE, STORE, make_resource, name

CONTEXT = make_resource(f"{STORE}/contexts/c", displayName="Mine", metadata={"a": {"b": 1}})


def test_names_stand_within_each_other() -> None:
    series = name(f"{BOARD}/experiments/e/runs/r/timeSeries/s")
    assert (series.kind, series.id) == ("timeSeries", "s")
    assert series.collection == f"{BOARD}/experiments/e/runs/r/timeSeries"
    assert str(series.outer) == f"{BOARD}/experiments/e/runs/r"
    assert series.is_in(name(BOARD))
    assert not series.is_in(name(f"{HERE}/tensorboards/11"))
    assert name(BOARD).outer is None
    assert name(BOARD).inner("experiments", "e") == name(f"{BOARD}/experiments/e")


@pytest.mark.parametrize(
    "text",
    [
        "",
        HERE,
        f"{HERE}/contexts/c",
        f"{STORE}/contexts",
        f"{STORE}/contexts/",
        f"{STORE}/runs/r",
        f"{BOARD}/experiments/e/experiments/f",
        "projects//locations/l/tensorboards/1",
        "a/b/c/d/tensorboards/1",
        f"{HERE}/customJobs/1",
    ],
)
def test_other_names_are_not_found(text: str) -> None:
    with pytest.raises(NotFound, match="is not the name of a resource"):
        parse_tracking_name(text)


@pytest.mark.parametrize(
    ("kind", "source", "target"),
    [
        (LinkKind.CHILD, "contexts/c", "artifacts/a"),
        (LinkKind.CHILD, "contexts/c", "contexts/c"),
        (LinkKind.MEMBER, "contexts/c", "contexts/d"),
        (LinkKind.INPUT, "executions/e", "executions/f"),
    ],
)
def test_only_some_kinds_are_linked(kind: LinkKind, source: str, target: str) -> None:
    link = Link(name(f"{STORE}/{source}"), kind, name(f"{STORE}/{target}"), CREATED)
    with pytest.raises(InvalidArgument, match=r"^there: .* given; allowed: "):
        check_link(link, "there")


def test_links_stay_in_their_store() -> None:
    other = name(f"{STORE}2/contexts/d")
    with pytest.raises(InvalidArgument, match=r"allowed: a name in .*/default/contexts"):
        check_link(Link(CONTEXT.name, LinkKind.CHILD, other, CREATED), "there")


def test_a_patch_sets_and_removes_fields() -> None:
    at = CREATED + timedelta(seconds=1)
    changed = change_fields(CONTEXT, {"metadata": {}, "displayName": "x"}, ("metadata", "uri"), at)
    assert changed.fields == {"displayName": "Mine", "metadata": {}}
    assert (changed.version, changed.update_time) == (2, at)
    assert "displayName" not in change_fields(CONTEXT, {}, ("displayName",), at).fields


def test_an_earlier_etag_is_refused() -> None:
    check_etag(CONTEXT, None)
    check_etag(CONTEXT, CONTEXT.etag)
    later = replace(CONTEXT, version=10)
    sdk = r"Specified Context `etag`: `(\d+)` does not match server `etag`: `(\d+)`"
    with pytest.raises(Aborted, match=f"^{sdk}") as raised:
        check_etag(later, CONTEXT.etag)
    found = re.match(sdk, raised.value.message)
    assert found is not None
    assert found[1] < found[2]


@pytest.mark.parametrize(
    ("where", "expected"),
    [
        (Equals(("displayName",), Comparator.EQUAL, "Mine"), True),
        (Equals(("displayName",), Comparator.EQUAL, "mine"), False),
        (Equals(("displayName",), Comparator.MATCHES, "mIn"), True),
        (Equals(("displayName",), Comparator.NOT_EQUAL, "x"), True),
        (Equals(("schemaTitle",), Comparator.NOT_EQUAL, "x"), True),
        (Equals(("schemaTitle",), Comparator.EQUAL, ""), False),
        (Equals(("metadata", "a", "b"), Comparator.GREATER_OR_EQUAL, 1.0), True),
        (Equals(("metadata", "a", "b"), Comparator.EQUAL, "1"), False),
        (Equals(("metadata", "a", "b"), Comparator.EQUAL, value=True), False),
        (Equals(("metadata", "a", "b", "c"), Comparator.EQUAL, 1.0), False),
        (Equals(("isDefault",), Comparator.EQUAL, value=False), True),
        (Equals(("createTime",), Comparator.LESS, CREATED), False),
        (Equals(("updateTime",), Comparator.EQUAL, CREATED), True),
        (Equals(("name",), Comparator.EQUAL, f"{STORE}/contexts/c"), True),
    ],
)
def test_filters(where: Equals, *, expected: bool) -> None:
    assert matches(where, CONTEXT, {}) is expected
