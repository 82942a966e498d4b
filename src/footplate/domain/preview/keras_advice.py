"""Warns of packages that use what TensorFlow 2.16, with Keras 3, no longer has. Pure.

``footplate.replica.diagnosis.keras_errors`` says the same of failures; the supervisor can't import
this, as it is a file of its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from functools import lru_cache

from footplate.domain.cluster_spec import add_evaluator, lacks_evaluator
from footplate.domain.errors import InvalidArgument, NotFound
from footplate.domain.formatting import shortened
from footplate.domain.jobs import JobSpec, PythonProgram, WorkerPool
from footplate.domain.preview.source_patterns import SETTING, Pattern, Use
from footplate.domain.runtimes import Runtimes

_TENSORFLOW = re.compile(r"^tensorflow(?:-cpu)?==((\d{1,4})\.(\d{1,4}))", re.MULTILINE)
_KERAS_3 = (2, 16)
"""The version of TensorFlow that came with Keras 3, and without Estimators."""


def advise_packages(
    spec: JobSpec, uses: Callable[[str], Iterable[Use]], runtimes: Runtimes
) -> Iterator[str]:
    """Yields a sentence for each pattern that ``uses`` finds in the packages of a job.

    Pools with the same packages share their sentences. Only packages whose runtime has Keras 3 are
    searched.
    """
    for pool in spec.pools:
        program = pool.program
        if not pool.replica_count or not isinstance(program, PythonProgram):
            continue
        version = _find_version(program, pool, runtimes) if program.package_uris else ""
        if version:
            found: dict[Pattern, str] = {}
            for use in (use for uri in program.package_uris for use in uses(uri)):
                found.setdefault(use.pattern, shortened(use.place))
            yield from _advise(spec, pool, found, version)


def _find_version(program: PythonProgram, pool: WorkerPool, runtimes: Runtimes) -> str:
    """Returns the version of the runtime's TensorFlow, if it comes with Keras 3; else empty."""
    try:
        runtime = runtimes.resolve(program.runtime, pool.field)
        return _read_version(runtimes.lock_text(runtime.cpu[-1].lock_sha256))
    except (InvalidArgument, NotFound):
        return ""


@lru_cache(64)
def _read_version(lock: str) -> str:
    match = _TENSORFLOW.search(lock)
    has_keras_3 = match is not None and (int(match[2]), int(match[3])) >= _KERAS_3
    return match[1] if match is not None and has_keras_3 else ""


def _advise(
    spec: JobSpec, pool: WorkerPool, found: dict[Pattern, str], version: str
) -> Iterator[str]:
    estimator = found.get(Pattern.ESTIMATOR)
    if Pattern.OLD_TENSORFLOW in found:
        if estimator and lacks_evaluator(spec):
            yield (
                f"{estimator} uses tf.estimator, and beside a chief only an evaluator evaluates: "
                f"{add_evaluator(spec)}"
            )
        return
    if estimator:
        yield (
            f"{estimator} uses tf.estimator, which ended with TensorFlow 2.15, and the runtime has "
            f"TensorFlow {version}: take {_older(spec)}"
        )
    if any(name == SETTING for name, _ in pool.environment):
        return
    keras = f"Keras 3 of the runtime's TensorFlow {version}"
    if place := found.get(Pattern.STRATEGY):
        yield (
            f"{place} uses MultiWorkerMirroredStrategy, in which {keras} can't train. "
            f"{_set_variable(spec)}, or take {_older(spec)}"
        )
    if place := found.get(Pattern.LONE_LAYER):
        yield (
            f"{place} gives Sequential a single layer, and {keras} needs a list. "
            f"{_set_variable(spec)}, or write Sequential([...])"
        )


def _set_variable(spec: JobSpec) -> str:
    """Explains how to set the variable in the job; jobs of AI Platform set it in their program."""
    if _is_vertex(spec):
        return f"Set {SETTING}=1 in the job's env"
    return f"Set os.environ['{SETTING}'] = '1' before the first import of TensorFlow"


def _older(spec: JobSpec) -> str:
    if _is_vertex(spec):
        return "the image tf-cpu.2-15.py310 or tf-gpu.2-15.py310"
    return "runtimeVersion 2.15"


def _is_vertex(spec: JobSpec) -> bool:
    return spec.primary.cluster_role == "workerpool0"
