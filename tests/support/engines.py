"""Whether this machine has the engines that tests need: in CI it must."""

import os

from footplate.testing.engines import missing_programs
from tests.support.requirements import require

PROGRAMS = {"podman": ("podman",), "crun": ("podman", "crun"), "docker": ("dockerd",)}


def require_engine(kind: str) -> None:
    missing = missing_programs(*PROGRAMS[kind])
    if missing is None and os.geteuid() != 0:
        missing = "private engines need root"
    require(missing)


def require_registry() -> None:
    require(missing_programs("docker-registry"))


def require_docker_command() -> None:
    """The command line, which users build images with; it also speaks to Podman's service."""
    require(missing_programs("docker"))
