"""``output-image-uri``: local code becomes an image, as gcloud's local-run builds it."""

from __future__ import annotations

import json
import os
from pathlib import PurePosixPath
from typing import TYPE_CHECKING

import click

from footplate.cli.packaging.archive import Source, write_tar_gz
from footplate.cli.packaging.local_code import (
    check_local_code,
    read_code_files,
    read_extra_packages,
    read_requirements,
)
from footplate.cli.packaging.trainer_package import build_sdist, is_project
from footplate.containers.discovery import find_engine
from footplate.containers.images import ImageFailure, build, push
from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.domain.image_reference import DEFAULT_REGISTRY, MalformedReference, parse_reference

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate.cli.packaging.local_code import LocalCode
    from footplate.domain.image_reference import ImageReference

WORKDIR = "/usr/app"
_HOME = "/home"
_PIP = ("python3", "-m", "pip", "install", "--no-cache-dir")


def read_image_name(text: str, option: str) -> ImageReference:
    """Returns the parsed name. Raises InvalidArgument if a new image can't have it."""
    try:
        reference = parse_reference(text)
    except MalformedReference as error:
        raise InvalidArgument(f"{option}: '{text}' is not the name of an image: {error}") from None
    if reference.digest:
        raise InvalidArgument(f"{option}: the image name '{text}' has a digest; allowed: NAME:TAG")
    return reference


def build_image(code: LocalCode, base: str, name: str, option: str, *, pushes: bool) -> None:
    """Builds the image ``name`` with this machine's engine; the output goes to stderr.

    ``pushes`` the image to the registry at the beginning of the name, if it has one.

    Raises:
        InvalidArgument: the name, or a file named by ``code``, is wrong.
        FailedPrecondition: there is no engine, or it can't build or push the image.
    """
    reference = read_image_name(name, option)
    context = make_context(code, base)
    socket = find_socket(option)
    try:
        build(socket, context, name, _say)
        if pushes and reference.registry != DEFAULT_REGISTRY:
            push(socket, reference, os.environ, _say)
    except ImageFailure as error:
        raise FailedPrecondition(str(error)) from None


def find_socket(option: str) -> str:
    """Returns the engine's socket. Raises FailedPrecondition, which says what to install or start,
    if no engine answers.
    """
    from footplate.settings import load_settings

    found = find_engine(load_settings(os.environ).container_engine, os.environ)
    if found.socket is None:
        raise FailedPrecondition(f"{option} needs a container engine: {found.problem}")
    return found.socket


def make_context(code: LocalCode, base: str) -> bytes:
    """Returns a tar.gz with the Dockerfile and all files that it copies. Raises InvalidArgument."""
    root = check_local_code(code)
    archives = [build_sdist(root)] if is_project(root) else []
    archives += read_extra_packages(code, root)
    files = {f"code/{path}": source for path, source in read_code_files(code, root).items()}
    files |= {f"packages/{archive.name}": Source(archive.content) for archive in archives}
    requirements = read_requirements(code, root)
    names = [archive.name for archive in archives]
    text = "\n".join(_dockerfile(base, requirements, names, code))
    return write_tar_gz({**files, "Dockerfile": Source(f"{text}\n".encode())})


def _dockerfile(
    base: str, requirements: list[str], packages: list[str], code: LocalCode
) -> Iterator[str]:
    yield f"FROM {base}"
    yield f"RUN mkdir -m 777 -p {WORKDIR} {_HOME}"
    yield f"WORKDIR {WORKDIR}"
    yield f"ENV HOME={_HOME} PYTHONDONTWRITEBYTECODE=1"
    if requirements:
        yield f"RUN {json.dumps([*_PIP, *requirements])}"
    if packages:
        places = [str(PurePosixPath("/tmp/packages", name)) for name in packages]  # noqa: S108
        yield "COPY packages /tmp/packages"
        yield f"RUN {json.dumps([*_PIP, *places])}"
    yield "COPY code ./"
    yield f"ENTRYPOINT {json.dumps(_command(code))}"


def _command(code: LocalCode) -> list[str]:
    if code.python_module:
        return ["python3", "-m", code.python_module]
    program = "python3" if code.main.suffix == ".py" else "/bin/bash"
    return [program, str(code.main)]


def _say(line: str) -> None:
    click.secho(line, err=True, dim=True)
