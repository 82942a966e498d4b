"""Real container engines and a real registry for tests and benchmarks.

Each is a context manager with storage, sockets and ports of its own. When its block ends, also by
an exception, its processes have ended and its containers and mounts are gone.
"""

from tests.support.engines.docker import private_dockerd
from tests.support.engines.engine import PrivateEngine, missing_programs
from tests.support.engines.podman import private_podman
from tests.support.engines.pushing import push_archive, push_image
from tests.support.engines.python_image import make_python_image
from tests.support.engines.registry import PrivateRegistry, private_registry

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
