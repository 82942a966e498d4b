"""Rules for programs: a container, or Python packages in a prebuilt image."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from footplate.domain.errors import Violation
from footplate.wire.image_names import check_image
from footplate.wire.json_text import describe
from footplate.wire.uris import check_module, check_packages

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Sequence

    from footplate.wire.vertex_v1.models import (
        ContainerSpec,
        EnvVar,
        PythonPackageSpec,
        WorkerPoolSpec,
    )

MAX_VARIABLES = 100
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


def check_program(
    pool: WorkerPoolSpec, at: str, clouded: Callable[[str], bool]
) -> Iterator[Violation]:
    container, package = pool.container_spec, pool.python_package_spec
    unknown = clouded(f"{at}.containerSpec") or clouded(f"{at}.pythonPackageSpec")
    if (container is None) == (package is None) and (container is not None or not unknown):
        given = "none" if container is None else "both"
        yield Violation(at, f"{given} given; allowed: one of containerSpec, pythonPackageSpec")
    if container is not None:
        yield from _check_container(container, f"{at}.containerSpec")
    if package is not None:
        yield from _check_package(package, f"{at}.pythonPackageSpec")


def _check_container(container: ContainerSpec, at: str) -> Iterator[Violation]:
    if container.image_uri:
        yield from check_image(container.image_uri, f"{at}.imageUri")
    else:
        yield Violation(f"{at}.imageUri", "required: the URI of a container image")
    yield from _check_variables(container.env or (), f"{at}.env")


def _check_package(package: PythonPackageSpec, at: str) -> Iterator[Violation]:
    """Whether there is a runtime for the image is said where the runtimes are."""
    field = f"{at}.executorImageUri"
    if not package.executor_image_uri:
        yield Violation(field, "required: the URI of a prebuilt image")
    else:
        yield from check_image(package.executor_image_uri, field)
    yield from check_packages(package.package_uris, f"{at}.packageUris")
    yield from check_module(package.python_module, f"{at}.pythonModule")
    yield from _check_variables(package.env or (), f"{at}.env")


def _check_variables(variables: Sequence[EnvVar], at: str) -> Iterator[Violation]:
    """A value that isn't there is empty: proto3 leaves out what is."""
    if len(variables) > MAX_VARIABLES:
        yield Violation(at, f"{len(variables)} given; allowed: at most {MAX_VARIABLES}")
    for index, variable in enumerate(variables[:MAX_VARIABLES]):
        field = f"{at}[{index}].name"
        allowed = "letters, digits and underscores, first no digit"
        if not variable.name:
            yield Violation(field, f"required: {allowed}")
        elif not _VARIABLE.fullmatch(variable.name):
            yield Violation(field, f"{describe(variable.name)} given; allowed: {allowed}")
