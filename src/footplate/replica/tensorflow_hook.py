"""Runs at the start of each Python program of a job: TensorFlow's own gs:// leads to the buckets.

TensorFlow's client of Cloud Storage goes nowhere but to Google's address, or through a proxy of
the environment. There, all clients of the program would use the proxy. So the variables are set
when TensorFlow is imported, for the C libraries of this process alone: they aren't in
``os.environ``, and no process that Python starts inherits them.

The supervisor copies this file, as ``sitecustomize.py``, to where programs find it. It runs on any
Python from 3.6 on, whatever the program starts, and never breaks one.
"""

import os
import sys

TYPE_CHECKING = False  # typing would cost time
if TYPE_CHECKING:
    from typing import Any

PROXY = "FOOTPLATE_GS_PROXY"
ROOTS = "FOOTPLATE_GS_ROOTS"
_NOT_BY_PROXY = "localhost,127.0.0.1"
_ENVIRONMENT = 5
"""The place of the environment among the arguments of ``fork_exec``."""


class Finder:
    """Goes first on ``sys.meta_path``; finds nothing, and waits for TensorFlow."""

    def find_spec(self, name: str, *_where: "Any", **_more: "Any") -> None:
        if name == "tensorflow":
            sys.meta_path.remove(self)
            lead(os.environ)


def lead(environ: "Any") -> None:
    """Without ctypes the program is not led."""
    try:
        import ctypes  # no other program pays for it

        libc = ctypes.CDLL(None)
        set_variable = libc.setenv
    except (ImportError, AttributeError, OSError):  # TensorFlow reports it
        return
    _guard_children()
    for name, value in compose_variables(environ).items():
        set_variable(os.fsencode(name), os.fsencode(value), 1)


def compose_variables(environ: "Any") -> "dict[str, str]":
    """What libcurl and TensorFlow read. gRPC, which reads ``https_proxy``, too, goes as before."""
    before = [environ.get(name) for name in ("grpc_proxy", "https_proxy", "http_proxy")]
    return {
        "https_proxy": environ[PROXY],
        "no_proxy": _NOT_BY_PROXY,
        "NO_PROXY": _NOT_BY_PROXY,
        "grpc_proxy": next((value for value in before if value is not None), ""),
        "CURL_CA_BUNDLE": environ[ROOTS],
        "GOOGLE_AUTH_TOKEN_FOR_TESTING": "footplate",  # it looks for credentials without one
    }


def _guard_children() -> None:
    """Where no environment is given, children get that of ``os.environ``, and not that of C."""
    import _posixsubprocess
    import subprocess

    fork_exec = _posixsubprocess.fork_exec

    def fork_exec_with_environment(*args: "Any") -> "Any":
        words = list(args)
        if len(words) > _ENVIRONMENT and words[_ENVIRONMENT] is None:
            words[_ENVIRONMENT] = [b"%b=%b" % pair for pair in os.environb.items()]
        return fork_exec(*words)

    posix_spawn: "Any" = getattr(os, "posix_spawn", None)

    def posix_spawn_with_environment(path: "Any", argv: "Any", env: "Any", **more: "Any") -> "Any":
        return posix_spawn(path, argv, os.environ if env is None else env, **more)

    def execv(path: "Any", args: "Any") -> "Any":
        os.execve(path, args, os.environ)  # noqa: S606  as the program asks

    def system(command: "Any") -> int:
        code = subprocess.call(command, shell=True)  # noqa: S602  as the program asks
        return -code if code < 0 else code << 8

    _posixsubprocess.fork_exec = fork_exec_with_environment
    if hasattr(subprocess, "_fork_exec"):  # from Python 3.11 on
        subprocess._fork_exec = fork_exec_with_environment
    if posix_spawn is not None:  # from Python 3.8 on
        os.posix_spawn = posix_spawn_with_environment
    os.execv = execv
    os.system = system


def chain(folder: str) -> None:
    """Take ``folder`` off the path, and run the sitecustomize that it hid, if there is one."""
    sys.path[:] = [entry for entry in sys.path if entry != folder]
    # Imported here: the supervisor, which reads the names above, does without.
    from importlib.machinery import PathFinder

    spec = PathFinder.find_spec("sitecustomize", sys.path)
    if spec is None or spec.loader is None:
        return
    from importlib.util import module_from_spec

    module = module_from_spec(spec)
    sys.modules["sitecustomize"] = module
    spec.loader.exec_module(module)


if __name__ == "sitecustomize":
    if os.environ.get(PROXY) and os.environ.get(ROOTS):
        sys.meta_path.insert(0, Finder())
    chain(os.path.dirname(os.path.abspath(__file__)))
