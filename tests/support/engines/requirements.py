"""Whether this machine has the engines that tests need: in CI it must."""

from tests.support.requirements import require_packages

PODMAN = ("podman", "runc", "netavark")
PACKAGES = {"podman": PODMAN, "crun": (*PODMAN, "crun"), "docker": ("docker.io",)}


def require_engine(kind: str) -> None:
    """A private engine of this kind, which needs root."""
    require_packages(f"the engine {kind}", *PACKAGES[kind], root=True)


def require_registry() -> None:
    require_packages("a registry of images", "docker-registry")


def require_docker_command() -> None:
    """The command line, which users build images with; it also speaks to Podman's service."""
    require_packages("the command docker", "docker.io")
