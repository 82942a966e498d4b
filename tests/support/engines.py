"""Whether this machine has the engines that tests need: in CI it must."""

import os

import pytest

from footplate.testing.engines import missing_programs

PROGRAMS = {"podman": ("podman",), "crun": ("podman", "crun"), "docker": ("dockerd",)}


def require_engine(kind: str) -> None:
    missing = missing_programs(*PROGRAMS[kind])
    if missing is None and os.geteuid() != 0:
        missing = "private engines need root"
    _require(missing)


def require_registry() -> None:
    _require(missing_programs("docker-registry"))


def require_docker_command() -> None:
    """The command line, which users build images with; it also speaks to Podman's service."""
    _require(missing_programs("docker"))


def _require(missing: str | None) -> None:
    if missing is not None:
        if os.environ.get("CI") == "true":
            pytest.fail(missing)
        pytest.skip(missing)
