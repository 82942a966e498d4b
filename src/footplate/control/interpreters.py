"""Checks that this machine has the Python interpreters of a job's runtimes, or can fetch them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.errors import InvalidArgument, Violation
from footplate.domain.jobs import PythonProgram

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from footplate.domain.jobs import JobSpec
    from footplate.domain.runtimes import Runtimes

    FindFault = Callable[[str], str | None]


def interpreter_violations(
    spec: JobSpec, runtimes: Runtimes, find_fault: FindFault
) -> Iterator[Violation]:
    """Yields the pools whose Python can't run here.

    ``find_fault`` returns why programs of a Python version can't run; None: they can. Unknown
    runtimes are refused elsewhere.
    """
    programs = dict.fromkeys((pool.field, pool.program) for pool in spec.pools)
    for field, program in programs:
        if not isinstance(program, PythonProgram):
            continue
        try:
            runtime = runtimes.resolve(program.runtime, field)
        except InvalidArgument:
            continue
        fault = find_fault(runtime.python)
        if fault is not None:
            text = f"runtime {runtime.name} needs Python {runtime.python}: {fault}"
            yield Violation(f"{field}.{_place(program.runtime)}", text)


def _place(runtime: str) -> str:
    """Returns the request's field that names the program's runtime."""
    kind, _, name = runtime.partition(":")
    kind, _, place = kind.partition("@")
    if kind != "version":
        return place or ("executorImageUri" if kind == "image" else "imageUri")
    return "pythonVersion" if name.startswith("/") and name != "/" else "runtimeVersion"
