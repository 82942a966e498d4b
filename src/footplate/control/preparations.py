"""Messages that tell supervisors from what to make the environments of programs."""

from __future__ import annotations

import hashlib
import json

from footplate.domain import runtimes
from footplate.protocol.task import SLICE_VARIABLE, PythonTask, Runtime, Slice, Task

_ENVIRONMENT_FORM = "2"
"""Of what is made of the same runtime and packages: it changes when all are to be made anew."""


def describe_runtime(runtime: runtimes.Runtime) -> Runtime:
    """Returns the runtime with the slices of each variant from small to large."""
    variants = {
        str(variant): tuple(describe_slice(part) for part in slices)
        for variant, slices in runtime.variants.items()
    }
    return Runtime(runtime.name, runtime.python, variants)


def describe_slice(part: runtimes.Slice) -> Slice:
    return Slice(part.name, part.lock_sha256, part.unless, part.fallback)


def name_preparation(task: Task) -> str:
    """Returns a name for all that the environment is made from; empty where that isn't known.

    Where two tasks have the same, one environment serves both.
    """
    if task.runtime is None or not isinstance(task.program, PythonTask):
        return ""
    if not all(package.sha256 for package in task.packages):
        return ""
    parts = (
        _ENVIRONMENT_FORM,
        task.runtime.encode(),
        task.gpus,
        task.program.module,
        task.variables.get(SLICE_VARIABLE),
        [[package.file, package.sha256] for package in task.packages],
    )
    return hashlib.sha256(json.dumps(parts).encode()).hexdigest()
