import pytest
from pydantic import JsonValue

from footplate.domain.errors import InvalidArgument
from footplate.wire.partial_responses import MAX_DEPTH, MAX_LENGTH, select_fields

ANSWER: dict[str, JsonValue] = {
    "kind": "list",
    "nextPageToken": "abc",
    "items": [
        {"name": "a", "size": "1", "metadata": {"owner": "me", "team": "us"}},
        {"name": "b", "size": "2"},
    ],
}
CASES: dict[str, JsonValue] = {
    "": ANSWER,
    "*": ANSWER,
    "kind": {"kind": "list"},
    "nextPageToken, items/name": {
        "nextPageToken": "abc",
        "items": [{"name": "a"}, {"name": "b"}],
    },
    "items(name,metadata/owner)": {
        "items": [{"name": "a", "metadata": {"owner": "me"}}, {"name": "b"}]
    },
    "items/name,items/size": {"items": [{"name": "a", "size": "1"}, {"name": "b", "size": "2"}]},
    "items,items/name": {"items": ANSWER["items"]},
    "items/*/team": {"items": [{"metadata": {"team": "us"}}, {}]},
    "*/name": {"items": [{"name": "a"}, {"name": "b"}]},
    "kind/inner": {},
    "other": {},
}


@pytest.mark.parametrize("fields", CASES)
def test_only_the_fields_that_are_named_are_answered(fields: str) -> None:
    assert select_fields(ANSWER, fields) == CASES[fields]


@pytest.mark.parametrize(
    "fields",
    [
        *(",", "a,", "a b", "(a)", "a(b", "a)", "a()", "a//b", "/a", "ä", "a(b)c"),
        *("a/" * MAX_DEPTH + "a", "a(" * (MAX_DEPTH + 2), "a" * (MAX_LENGTH + 1)),
    ],
)
def test_what_selects_nothing_readable_is_refused(fields: str) -> None:
    with pytest.raises(InvalidArgument, match="fields"):
        select_fields(ANSWER, fields)
