"""Lines of what stands in a TOML text, for whatever tomllib can read."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from importlib import resources

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.catalogue.toml_lines import Path, lines_of

TEXT = '''\
# a = 1
title = "[not.a.header] # nor a comment"
[a."b c"]
x = 1
many = [
    1, # [
    { deep = "}", list = [2, 3] },
]
text = """
[still.text]
z = 1 ""\\"
"""""
[[tables]]
one.two = 1979-05-27 07:32:00
[[tables]]
'quoted.key' = \'\'\'
x\'\'\'
[tables.inner]
k = true
'''


def paths(value: object, path: Path = ()) -> Iterator[Path]:
    if path:
        yield path
    if isinstance(value, dict):
        for key, inner in value.items():
            yield from paths(inner, (*path, key))
    if isinstance(value, list):
        for index, inner in enumerate(value):
            yield from paths(inner, (*path, index))


@pytest.mark.parametrize("newline", ["\n", "\r\n"])
def test_lines(newline: str) -> None:
    text = TEXT.replace("\n", newline)
    lines = lines_of(text)
    expected: dict[Path, int] = {
        ("title",): 2,
        ("a", "b c"): 3,
        ("a", "b c", "x"): 4,
        ("a", "b c", "many"): 5,
        ("a", "b c", "many", 0): 6,
        ("a", "b c", "many", 1, "list", 1): 7,
        ("a", "b c", "text"): 9,
        ("tables", 0): 13,
        ("tables", 0, "one", "two"): 14,
        ("tables", 1): 15,
        ("tables", 1, "quoted.key"): 16,
        ("tables", 1, "inner", "k"): 19,
    }
    assert {path: lines[path] for path in expected} == expected
    assert set(paths(tomllib.loads(text))) == set(lines)


@pytest.mark.parametrize(
    "name", ["accelerators", "machine_types", "regions", "runtimes", "scale_tiers"]
)
def test_everything_in_the_built_in_files_is_found(name: str) -> None:
    text = resources.files("footplate.catalogue").joinpath(f"{name}.toml").read_text("utf-8")
    assert set(paths(tomllib.loads(text))) == set(lines_of(text))


KEYS = st.sampled_from(["a", "b", "c-d", '"e.f"', "'g h'", '"\\u0041"', "1"])
SCALARS = st.sampled_from(
    ["1", "-2.5e3", "true", "inf", "1979-05-27", '"#"', "'['", '"""x\n}"""', "'''\n]'''", '"\\""']
)
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.one_of(
        st.lists(inner, max_size=3).map(lambda items: f"[ # ]\n{', '.join(items)}\n]"),
        st.dictionaries(KEYS, inner, max_size=2).map(
            lambda pairs: "{" + ", ".join(f"{k} = {v}" for k, v in pairs.items()) + "}"
        ),
    ),
    max_leaves=6,
)
PATHS = st.lists(KEYS, min_size=1, max_size=3).map(" . ".join)
STATEMENTS = st.one_of(
    st.tuples(PATHS, VALUES).map(lambda pair: f"{pair[0]} = {pair[1]} # = ["),
    PATHS.map(lambda path: f"[ {path} ] # ]"),
    PATHS.map(lambda path: f"[[ {path} ]]"),
    st.just("# [x]"),
    st.just(""),
)


@given(st.lists(STATEMENTS, max_size=8).map("\n".join))
def test_whatever_tomllib_reads_is_found(text: str) -> None:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError:
        return
    assert set(paths(content)) <= set(lines_of(text))
