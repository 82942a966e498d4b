"""Regular expressions of queries: RE2's syntax, as Python's own engine understands it."""

from __future__ import annotations

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.wire.logging_v2 import linear_patterns
from footplate.wire.logging_v2.linear_patterns import MAX_CHARACTERS, LinearPattern
from footplate.wire.logging_v2.pattern_syntax import BadPattern

letters = st.sampled_from("abAB_1 \n")
atoms = st.one_of(
    letters.map(re.escape),
    st.sampled_from([".", r"\w", r"\W", r"\d", r"\s", r"\S", "^", "$", r"\b", r"\B", r"\A"]),
    st.sampled_from(["[ab]", "[^ab]", "[a-c1]", r"[\w-]", r"[^\s]", "[]a]", "[a^-]"]),
)
patterns = st.recursive(
    atoms,
    lambda inner: st.one_of(
        st.lists(inner, max_size=4).map("".join),
        st.builds("{}|{}".format, inner, inner),
        st.builds(
            "(?:{}){}".format,
            inner,
            st.sampled_from(["*", "+", "?", "*?", "+?", "??", "{2}", "{1,3}", "{0,2}", "{2,}"]),
        ),
        st.builds("({})".format, inner),
        st.builds("(?P<name>{})".format, inner),
        st.builds("(?i:{})".format, inner),
        st.builds("(?s:{})".format, inner),
        st.builds("(?m:{})".format, inner),
    ),
    max_leaves=8,
)


@given(patterns, st.lists(st.text(letters, max_size=12), min_size=1, max_size=5))
def test_it_finds_what_pythons_engine_finds(pattern: str, starts: list[str]) -> None:
    r"""But for Python's ``$``, which is also before a last newline, and ``\B`` in an empty text."""
    try:
        expected = re.compile(pattern)
    except re.error:
        return
    made = LinearPattern(pattern)
    for text in (f"{start}b" for start in starts):
        assert made.search(text) is (expected.search(text) is not None), text


@pytest.mark.parametrize(
    ("pattern", "text", "found"),
    [
        ("", "anything", True),
        ("step [0-9]+ of", "step 12 of 20", True),
        ("^step", "a step", False),
        ("20$", "step 12 of 20", True),
        ("of$", "step 12 of 20", False),
        (r"a\.b", "a.b", True),
        (r"a\.b", "axb", False),
        ("[[:digit:]]{2}", "x12", True),
        ("[[:^digit:]]", "12", False),
        (r"\x41\x{1F600}", "A\U0001f600", True),
        (r"\t", "a\tb", True),
        (r"\D", "1", False),
        (r"[^\D]", "a", False),
        ("(?i)error", "An ERROR", True),
        ("(?i)stra\u00dfe", "STRA\u00dfE", True),
        ("(?-s)a.b", "a\nb", False),
        ("(?s)a.b", "a\nb", True),
        ("(?m)^b", "a\nb", True),
        ("a{,2}", "a{,2}", True),
        ("a{", "a{", True),
        ("(?<name>a)b", "ab", True),
        ("(|a)(b|)", "", True),
        (r"\bcat\b", "a cat.", True),
        (r"\bcat\b", "concat", False),
        (r"a\z", "a\n", False),
    ],
)
def test_the_syntax(pattern: str, text: str, *, found: bool) -> None:
    assert LinearPattern(pattern).search(text) is found


@pytest.mark.parametrize(
    ("pattern", "problem"),
    [
        ("(", "a ) is missing, at character 2"),
        (")", "a ) that nothing opens"),
        ("[a", "a ] is missing"),
        ("[b-a]", "the end of a range comes before its start"),
        ("*a", "nothing that"),
        ("a**", "a repetition of a repetition"),
        ("a{3,2}", "the smaller first"),
        ("a{2000}", "up to 1000"),
        ("\\", "ends with a single"),
        (r"(a)\1", r"\1 isn't supported"),
        (r"\pL", r"\p isn't supported"),
        ("(?=a)", "no such group"),
        ("(?<!a)b", "no such group"),
        ("[[:vowel:]]", "not a class of characters"),
        (r"\x{FFFFFF}", "no character has this code"),
        ("(" * 51, "deeper than 50"),
        ("(a{1000}){1000}", "too large"),
        ("(" * 8 + ")" + "{1000})" * 7, "too large"),
    ],
)
def test_what_is_refused(pattern: str, problem: str) -> None:
    with pytest.raises(BadPattern) as raised:
        LinearPattern(pattern)
    assert problem in str(raised.value)


def test_steps_grow_as_the_text_does(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of patterns with which Python's engine takes years."""
    taken = 0
    move = LinearPattern._move

    def count(*args: object) -> object:
        nonlocal taken
        taken += 1
        return move(*args)  # type: ignore[arg-type]  # as it was called

    monkeypatch.setattr(LinearPattern, "_move", count)
    for pattern in ("(a+)+b", "(a|a)*b", "a*a*a*a*a*b", "(.*)*x", "([a-z]+)*[0-9]"):
        taken = 0
        assert not LinearPattern(pattern).search("a" * MAX_CHARACTERS)
        assert taken < 20, pattern


def test_it_forgets_what_it_has_made(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(linear_patterns, "_MAX_KEPT", 500)
    pattern = LinearPattern("[ab]*a[ab]{6}c")
    kept = 0
    for number in range(200):
        assert not pattern.search(f"{number:08b}".translate({48: "a", 49: "b"}))
        kept = max(kept, sum(len(steps) for steps, _ in pattern._states))
    assert 100 < kept <= 500
    assert pattern.search("ab" * 200 + "abbbbbbc")


def test_a_long_text_is_searched_at_its_beginning() -> None:
    assert LinearPattern("b").search("a" * (MAX_CHARACTERS - 1) + "b")
    assert not LinearPattern("b").search("a" * MAX_CHARACTERS + "b")
