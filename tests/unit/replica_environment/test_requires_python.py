"""Of which versions of Python a package says that it needs them."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from packaging.specifiers import SpecifierSet

from footplate.domain.runtimes import Runtime, Slice
from footplate.replica.environment.packages import admits, read_required
from tests.support.environments import Bench, digest, lock, make_wheel

VERSIONS = st.tuples(st.just(3), st.integers(6, 13), st.integers(0, 20))
BOUNDS = st.tuples(
    st.sampled_from(["<", "<=", ">", ">=", "==", "!=", "~="]),
    st.sampled_from(["3.6", "3.7", "3.9", "3.10", "3.11", "3.11.7", "4.0", "3.7.0"]),
)


@given(version=VERSIONS, bounds=st.lists(BOUNDS, max_size=3), star=st.booleans())
def test_it_is_what_pip_says(
    version: tuple[int, int, int], bounds: list[tuple[str, str]], *, star: bool
) -> None:
    text = ".".join(map(str, version))
    required = ", ".join(
        f"{operator}{bound}{'.*' if star and operator in ('==', '!=') else ''}"
        for operator, bound in bounds
    )
    assert admits(required, text) == (text in SpecifierSet(required))


@pytest.mark.parametrize("required", ["", ">=3.8a1", "nonsense", ">=3.7,"])
def test_what_is_not_understood_holds(required: str) -> None:
    assert admits(required, "3.11.7")


def test_the_field_of_the_metadata() -> None:
    assert read_required("Name: p\nRequires-Python: <3.9\n\nRequires-Python: >4\n") == "<3.9"
    assert read_required("Name: p\n\nRequires-Python: >4\n") == ""


@pytest.mark.parametrize("required", ["<3.9", ">=3.99"])
def test_a_package_for_another_python_is_refused(
    bench: Bench, wheels: Path, tmp_path: Path, required: str
) -> None:
    text = lock(make_wheel(wheels, "alpha", "1.0", files={"alpha.py": ""}))
    bench.server.locks[digest(text)] = text
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    runtime = Runtime("9.9", version, (Slice("whole", digest(text), ()),))
    files = {"trainer/__init__.py": "", "trainer/task.py": ""}
    trainer = make_wheel(tmp_path, "trainer", files=files, python_requires=required)
    outcome = bench.prepare(bench.make_home(runtime, trainer))
    assert outcome.code != 0
    assert outcome.result["error"].startswith(
        f"trainer-0.1-py3-none-any.whl requires Python {required} (python_requires), but the "
        f"runtime has {version}."
    )
