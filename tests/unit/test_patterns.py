"""Regular expressions take linear time on hostile texts, or see short texts only."""

from __future__ import annotations

import re

import pytest

from tests.support.hostile_texts import find_hostile_text
from tests.support.patterns import Use, find_uses

BOUNDED = {
    "footplate.replica.diagnosis.": "a cause has 1,000 characters",
    "footplate.replica.failure_cause:": "a line is cut after 2,000 characters",
    "footplate.cli.storage.objects:_TOKENS": "what a person types",
    "footplate.cli.environment_variables:_BLOCK": "certificates of the person's own machine",
    "footplate.grpc_api.transcoding:_VARIABLE": "patterns of Google's own APIs",
}
"""Patterns that may take quadratic time, by how their names begin, and why that doesn't matter."""

USES = [use for use in dict.fromkeys(find_uses()) if not use.where.startswith(tuple(BOUNDED))]
GROUPS = sorted({use.where.partition(":")[0].rpartition(".")[0] for use in USES})


def explain(use: Use) -> str:
    """What makes it slow; empty: nothing that was tried."""
    found = find_hostile_text(use.pattern, use.method)
    if found is None:
        return ""
    first, repeated, last = ("".join(map(chr, codes)) for codes in found)
    return f"{use.where} ({use.method}) is slow with {first!r} + {repeated!r} * N + {last!r}"


@pytest.mark.parametrize("group", GROUPS)
def test_patterns_are_linear(group: str) -> None:
    uses = [use for use in USES if use.where.partition(":")[0].rpartition(".")[0] == group]
    assert [said for use in uses if (said := explain(use))] == []


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"[0-9]+\.?[0-9]*", "fullmatch"),
        (r"\s*(.+?)\s*=\s*(.+?)\s*", "fullmatch"),
        (r"\s+AND\s+", "search"),
        (r"(\w+)=", "search"),
        (r"(a+)+b", "match"),
        (r"(?:a|a)*b", "match"),
        (r"x.*y.*z", "match"),
        (r"<[^>]*>", "search"),
        (r",(?![^\[]*\])", "search"),
        (rb"bytes\s*=\s*(\d{0,18})\s*-", "match"),
    ],
)
def test_a_slow_pattern_is_found(pattern: str | bytes, method: str) -> None:
    assert find_hostile_text(re.compile(pattern), method) is not None


@pytest.mark.parametrize(
    ("pattern", "method"),
    [
        (r"a+b", "match"),
        (r"(?<![a-z])[a-z]+b", "search"),
        (r"\b(\w+)=", "search"),
        (r"[a-z]+(-[a-z]+)*[0-9]*", "fullmatch"),
        (r"\"((?:[^\"\\]|\\.)*)\"", "match"),
        (r"\s*+(\d{0,18})\s*+-", "match"),
        (r"(a)\1{1,9}b", "search"),
    ],
)
def test_a_linear_pattern_is_not_found(pattern: str, method: str) -> None:
    assert find_hostile_text(re.compile(pattern), method) is None
