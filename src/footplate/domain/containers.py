"""Decides which prebuilt images run in a container engine, and which as runtimes."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace
from fnmatch import fnmatchcase

from footplate.domain import reduction
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import ContainerProgram, JobSpec, Program, PythonProgram
from footplate.domain.runtimes import Runtimes

BUCKETS = "/gcs"
"""Where programs find the buckets, in containers and where they have a mount namespace."""
_IMAGE = "image:"


def gcs_path(uri: str) -> str:
    """Returns the path of ``uri`` where buckets are mounted at ``/gcs``; keeps a trailing slash."""
    return f"{BUCKETS}/{uri.removeprefix('gs://')}" if uri.startswith("gs://") else uri


def with_containers(spec: JobSpec, patterns: Sequence[str], runtimes: Runtimes) -> JobSpec:
    """Returns the job with each pool whose image matches a pattern moved into a container.

    Patterns have shell syntax: ``us-docker.pkg.dev/vertex-ai/training/*``. If a container's
    prebuilt image matches no pattern, its command runs in the runtime that stands for the image.
    """
    pools = tuple(
        replace(pool, program=_place(pool.program, patterns, runtimes)) for pool in spec.pools
    )
    return spec if pools == spec.pools else replace(spec, pools=pools)


def _place(program: Program, patterns: Sequence[str], runtimes: Runtimes) -> Program:
    if isinstance(program, ContainerProgram):
        return _without_container(program, patterns, runtimes)
    if not program.runtime.startswith(_IMAGE):
        return program
    image = program.runtime.removeprefix(_IMAGE)
    if reduction.is_image(image) or not _matches(image, patterns):
        return program
    return ContainerProgram(image, ("sh", "-c", _script(program), "sh"), program.args)


def _without_container(
    program: ContainerProgram, patterns: Sequence[str], runtimes: Runtimes
) -> Program:
    """Returns the program that runs a prebuilt image's command in a runtime, where possible.

    An image without a command stays a container: it runs a program that is built into it, which a
    runtime lacks.
    """
    image = program.image_uri
    if not program.command or _matches(image, patterns):
        return program
    try:
        runtimes.for_image(image, "")
    except InvalidArgument:
        return program
    runtime = f"image@imageUri:{image}"
    return PythonProgram(runtime, (), "", program.args or (), program.command)


def _matches(image: str, patterns: Sequence[str]) -> bool:
    return any(fnmatchcase(image, each) for each in patterns)


def _script(program: PythonProgram) -> str:
    """Returns a shell script that installs packages and runs a module, as the Vertex SDK does."""
    paths = " ".join(shlex.quote(gcs_path(uri)) for uri in program.package_uris)
    install = f"python3 -m pip install --quiet --user {paths} && " if paths else ""
    return f'{install}exec python3 -m {shlex.quote(program.module)} "$@"'
