"""Pages of lists."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument
from footplate.wire.paging import PageRule, format_token, parse_number_token, parse_token

RULE = PageRule(default=20, maximum=100)


@pytest.mark.parametrize(
    ("given", "size"), [(None, 20), ("", 20), ("0", 20), ("1", 1), ("100", 100), ("9" * 50, 100)]
)
def test_sizes(given: str | None, size: int) -> None:
    assert RULE.size(given) == size


@pytest.mark.parametrize("given", ["-1", "x", "1.5", " 1", "٣"])
def test_other_sizes_are_refused(given: str) -> None:
    with pytest.raises(InvalidArgument, match="pageSize"):
        RULE.size(given)


@given(key=st.text(min_size=1), query=st.text())
def test_a_token_gives_its_key_back(key: str, query: str) -> None:
    try:
        token = format_token(key, query)
    except UnicodeEncodeError:
        return
    assert parse_token(token, query) == key
    with pytest.raises(InvalidArgument, match="pageToken"):
        parse_token(token, query + "x")


@given(st.text(min_size=1))
def test_any_other_token_is_refused(token: str) -> None:
    with pytest.raises(InvalidArgument, match="pageToken"):
        parse_token(token, "query")


def test_no_token_is_the_first_page() -> None:
    assert parse_token(None, "query") is None
    assert parse_token("", "query") is None


@pytest.mark.parametrize("key", ["0", "-7", "9" * 19])
def test_a_number_comes_back(key: str) -> None:
    assert parse_number_token(format_token(key, "query"), "query") == int(key)


@pytest.mark.parametrize("key", ["x", "\u00b2", "\u0661", "9" * 5000, "1 "])
def test_a_token_without_a_number_is_refused(key: str) -> None:
    with pytest.raises(InvalidArgument, match="pageToken"):
        parse_number_token(format_token(key, "query"), "query")
