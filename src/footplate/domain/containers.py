"""Prebuilt images that run in the container engine instead of a runtime."""

from __future__ import annotations

import shlex
from dataclasses import replace
from fnmatch import fnmatchcase
from typing import TYPE_CHECKING

from footplate.domain import reduction
from footplate.domain.jobs import ContainerProgram, PythonProgram

if TYPE_CHECKING:
    from collections.abc import Sequence

    from footplate.domain.jobs import JobSpec, Program

BUCKETS = "/gcs"
"""Where programs find the buckets, in containers and where they have a mount namespace."""
_IMAGE = "image:"


def gcs_path(uri: str) -> str:
    """Returns what opens ``uri`` where the buckets are at ``/gcs``; a trailing slash stays."""
    return f"{BUCKETS}/{uri.removeprefix('gs://')}" if uri.startswith("gs://") else uri


def with_containers(spec: JobSpec, patterns: Sequence[str]) -> JobSpec:
    """The job with the packages of each pool in a container, whose image matches a pattern.

    A pattern is a shell's: ``us-docker.pkg.dev/vertex-ai/training/*``.
    """
    pools = tuple(
        replace(pool, program=_with_container(pool.program, patterns)) for pool in spec.pools
    )
    return spec if pools == spec.pools else replace(spec, pools=pools)


def _with_container(program: Program, patterns: Sequence[str]) -> Program:
    if not isinstance(program, PythonProgram) or not program.runtime.startswith(_IMAGE):
        return program
    image = program.runtime.removeprefix(_IMAGE)
    if reduction.is_image(image) or not any(fnmatchcase(image, each) for each in patterns):
        return program
    return ContainerProgram(image, ("sh", "-c", _script(program), "sh"), program.args)


def _script(program: PythonProgram) -> str:
    """As the Vertex SDK installs packages in an image of the user's own."""
    paths = " ".join(shlex.quote(gcs_path(uri)) for uri in program.package_uris)
    install = f"python3 -m pip install --quiet --user {paths} && " if paths else ""
    return f'{install}exec python3 -m {shlex.quote(program.module)} "$@"'
