import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.globs import MAX_LENGTH, Glob

CASES = {
    "foo*bar": (["foobar", "fooxbar"], ["foo/bar", "foobarx", "xfoobar"]),
    "foo**bar": (["foobar", "foo/a/b/bar"], ["foo/bars"]),
    "foo/**/bar": (["foo/bar", "foo/a/bar", "foo/a/b/bar"], ["foobar", "foo/xbar"]),
    "**/*.tmp": (["x.tmp", "a/x.tmp", "a/b/.tmp"], ["x.tmp/", "x.tmpx"]),
    "*": (["a", "é", ""], ["a/b", "a/"]),
    "**": (["a", "a/b", "a/"], []),
    "a?c": (["abc", "a?c"], ["a/c", "ac"]),
    "[a-c]x[!0-9]": (["axy", "cx-"], ["dxy", "ax5", "ax/"]),
    "[]-]": (["]", "-"], ["a"]),
    "{run,trial}-*/{a,b{1,2}}.txt": (
        ["run-1/a.txt", "trial-/b2.txt"],
        ["runs-1/a.txt", "run-1/b.txt"],
    ),
    "{,x}y": (["y", "xy"], ["xxy"]),
    r"\*\{a,b": (["*{a,b"], ["x{a,b"]),
    "*a**b*/**/c": (["ab/c", "xa/b/b/y/c"], ["a/c"]),
    "a.c": (["a.c"], ["abc"]),
}


@pytest.mark.parametrize("glob", CASES)
def test_a_glob_matches_whole_names(glob: str) -> None:
    matching, others = CASES[glob]
    found = Glob(glob)
    assert [name for name in (*matching, *others) if found.matches(name)] == matching
    assert all(name.startswith(found.prefix) for name in matching)


@pytest.mark.parametrize("glob", ["[ab", "{a", "{a,{b}", "a" * (MAX_LENGTH + 1), "{a,b}" * 8])
def test_what_is_no_glob_is_refused(glob: str) -> None:
    with pytest.raises(ValueError, match=r"for each|at most"):
        Glob(glob)


@given(st.text("ab/*[{\\\\?", max_size=8))
def test_wildcards_leave_all_else_as_it_is(name: str) -> None:
    assert Glob.of_wildcards(name).matches(name.replace("*", "").replace("?", "a"))


@given(st.lists(st.sampled_from(["*", "/**/", "**", "?", "a", "/"])), st.text("ab/", max_size=9))
def test_it_agrees_with_a_regular_expression(parts: list[str], name: str) -> None:
    text = "".join(parts)
    pattern = re.sub(
        r"(?:(?<=/)|^)\*{2,}/|\*{2,}|\*|\?",
        lambda found: {"*": "[^/]*", "?": "[^/]"}.get(
            found[0], "(?:.*/)?" if found[0].endswith("/") else ".*"
        ),
        text,
    )
    assert Glob(text).matches(name) == (re.fullmatch(pattern, name, re.DOTALL) is not None)


def test_many_stars_take_one_pass() -> None:
    assert not Glob("**a*" * 250).matches("a" * 1023 + "b/")
