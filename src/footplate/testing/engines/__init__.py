"""Real container engines and a real registry for tests and benchmarks.

Each is a context manager with storage, sockets and ports of its own. When its block ends, also by
an exception, its processes have ended and its containers and mounts are gone.
"""

from footplate.testing.engines.docker import private_dockerd
from footplate.testing.engines.engine import PrivateEngine, missing_programs
from footplate.testing.engines.podman import private_podman
from footplate.testing.engines.pushing import push_archive, push_image
from footplate.testing.engines.python_image import make_python_image
from footplate.testing.engines.registry import PrivateRegistry, private_registry

__all__ = [
    "PrivateEngine",
    "PrivateRegistry",
    "make_python_image",
    "missing_programs",
    "private_dockerd",
    "private_podman",
    "private_registry",
    "push_archive",
    "push_image",
]
