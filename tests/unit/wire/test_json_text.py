"""Bodies: what is refused before anything looks at them."""

import json
from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.errors import InvalidArgument, ServiceError
from footplate.wire.json_text import MAX_DEPTH, MAX_VALUES, format_object, parse_object


@pytest.mark.parametrize(
    ("body", "said"),
    [
        (b"", "not JSON"),
        (b"{", "line 1 column 2"),
        (b"[1]", "is [1]; allowed: a JSON object"),
        (b"null", "is null; allowed: a JSON object"),
        (b'{"a": NaN}', "NaN is not a number"),
        (b'{"a": -Infinity}', "-Infinity is not a number"),
        (b'{"a": 1e999}', "a: the number is too large; allowed: numbers that a double can hold"),
        (b'{"a": 1' + b"0" * 10_000 + b"}", "too many digits"),
        (b'{"a": 1, "a": 2}', 'the key "a" twice'),
        pytest.param(
            b"{" + b",".join(b'"%d":1' % n for n in range(200_000)) + b',"199999":1}',
            'the key "199999" twice',
            id="the last of very many keys twice",
        ),
        (b'{"a": "\\u0000"}', r"a: '\x00' given; allowed: text without U+0000"),
        (b'{"\\u0000": 1}', "a key of the body: "),
        (b'{"a": "\\ud800"}', r"a: '\ud800' given; allowed: text without U+0000 and unpaired"),
        (b'{"a": [1, {"b": [["x"], {"c": "x\\u0000"}]}]}', r"a[1].b[1].c: 'x\x00' given"),
        (b'{"a": [{"b": {"\\udfff": "\\udfff"}}]}', "a key of a[0].b: "),
        (b'{"b": {"\\udfff": "\\u0000"}, "a": "\\u0000"}', r"b.\udfff: '\x00' given"),
        (b'{"%s": {"a": -1e999}}' % (b"k" * 1000), f"{'k' * 80}.a: the number is too large"),
        (b'{"a": "\xff"}', "not UTF-8"),
        (b'{"a":' * 100_000, "nested too deeply"),
        (b'{"a":' + b"[" * 200 + b"]" * 200 + b"}", "nested too deeply"),
    ],
)
def test_refuses_what_would_hurt_further_in(body: bytes, said: str) -> None:
    with pytest.raises(InvalidArgument) as refusal:
        parse_object(body)
    assert said in refusal.value.message


def test_a_long_key_above_many_values_costs_nothing() -> None:
    """Were the path of each value made, these would take terabytes."""
    many = {"k" * 8_000_000: [0] * 200_000, "z": "\x00"}
    with pytest.raises(InvalidArgument) as refusal:
        parse_object(json.dumps(many).encode())
    assert refusal.value.message.startswith("z: ")
    assert [violation.field for violation in refusal.value.violations] == ["z"]


def test_takes_the_deepest_that_is_allowed() -> None:
    lists = MAX_DEPTH - 2
    body = b'{"a":' + b"[" * lists + b"]" * lists + b"}"
    assert "a" in parse_object(body)


def test_counts_all_values_wherever_they_are() -> None:
    part = [0] * (MAX_VALUES // 10 - 1)
    ten = {f"k{n}": part for n in range(9)}
    assert parse_object(json.dumps(ten).encode()) == ten
    with pytest.raises(InvalidArgument, match=f"too many values; allowed: {MAX_VALUES}"):
        parse_object(json.dumps({**ten, "more": [[part]]}).encode())


@given(st.binary(max_size=200))
def test_any_bytes_are_an_object_or_an_error_of_ours(body: bytes) -> None:
    with suppress(ServiceError):
        parse_object(body)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False),
    lambda inner: st.lists(inner, max_size=3),
)


@given(st.dictionaries(st.text(st.characters(exclude_categories=["Cs", "Cc"])), _JSON))
def test_what_is_written_is_read_again(value: dict[str, object]) -> None:
    parsed = parse_object(json.dumps(value).encode())
    assert parsed == value
    assert parse_object(format_object(parsed).encode()) == value
