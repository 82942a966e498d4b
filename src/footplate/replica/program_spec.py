"""The command, variables and directories of a task's program.

Of the host's environment a program gets only what is in ``_HOST_NAMES`` and begins with one of
``_HOST_PREFIXES``: paths, language, certificates, proxies, GPUs. Nothing of the server's own
configuration or Python settings reaches it, nor the replica's token.
"""

from __future__ import annotations

import os

from footplate.replica.isolation.procfs import MARK_VARIABLE
from footplate.safe_path import ROOT, resolve

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping, Sequence

    from footplate.replica.context import Context

_PROXIES = (
    *("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"),
    *("http_proxy", "https_proxy", "all_proxy"),
)
_OWN_NAMES = ("localhost", "127.0.0.1", "::1")
_HOST_NAMES = frozenset(
    (
        *("PATH", "LANG", "LANGUAGE", "TZ", "HOME", "USER", "LOGNAME", "SHELL", "LD_LIBRARY_PATH"),
        *("REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE"),
        *(*_PROXIES, "NO_PROXY", "no_proxy"),
    )
)
_HOST_PREFIXES = ("LC_", "SSL_", "CUDA_", "NVIDIA_")
_BUILD_NAMES = frozenset(
    (
        *("CC", "CXX", "CPP", "AR", "LD", "CFLAGS", "CXXFLAGS", "CPPFLAGS", "LDFLAGS", "ARCHFLAGS"),
        *("MAKE", "MAKEFLAGS", "MAX_JOBS", "NETRC", "TMPDIR", "SSH_AUTH_SOCK", "SOURCE_DATE_EPOCH"),
        *("XDG_CACHE_HOME", "XDG_CONFIG_HOME", "XDG_CONFIG_DIRS", "XDG_DATA_HOME", "XDG_BIN_HOME"),
    )
)
_BUILD_PREFIXES = (
    *("UV_", "PIP_", "GIT_", "CARGO", "RUST", "CMAKE_", "PKG_CONFIG", "SETUPTOOLS_", "TORCH_"),
    *("HOROVOD_", "MPI"),
)
DEFAULT_PATH = "/usr/local/bin:/usr/bin:/bin"


class TaskError(Exception):
    """The task is invalid; the message says why."""


class Prepared:
    """An environment: its interpreter, and directories that come first in PATH.

    ``uses``: the parts of the cache that it consists of.
    """

    __slots__ = ("bins", "python", "uses")

    def __init__(self, python: str, bins: list[str], uses: Sequence[str] = ()) -> None:
        self.python = python
        self.bins = bins
        self.uses = uses

    @classmethod
    def parse(cls, value: dict[str, Any]) -> Prepared:
        """Raises TaskError."""
        python, bins = value.get("python"), value.get("bin")
        if not isinstance(python, str) or not isinstance(bins, list):
            raise TaskError(
                f"the supervisor can't read the environment of the job: {str(value)[:200]}"
            )
        uses = value.get("uses")
        found = [str(use) for use in uses] if isinstance(uses, list) else []
        return cls(python, [str(path) for path in bins], found)


_BY_PATH = ("/bin/sh", "-c", 'exec "$@"', "sh")
"""Finds what follows on the PATH of the program, not on the supervisor's."""


def compose_argv(task: dict[str, Any], python: str) -> list[str]:
    """Returns the command line: ``python -m MODULE ARGS``, or a command.

    Raises TaskError.
    """
    program = _get(task, "program", dict)
    kind = program.get("kind")
    if kind == "python":
        command = program.get("command")
        start = [*_BY_PATH, *command] if command else [python, "-m", _get(program, "module", str)]
        argv = [*start, *program.get("args", ())]
    elif kind == "command":
        argv = _get(program, "argv", list)
    else:
        raise TaskError(f"the task's program.kind is {kind!r}; allowed: python, command")
    if not argv or not all(isinstance(arg, str) and "\0" not in arg for arg in argv):
        raise TaskError("the program's command line is empty, or has a NUL character")
    return argv


def compose_environment(
    task: dict[str, Any],
    bins: list[str],
    host: Mapping[str, str],
    places: Mapping[str, str],
    mark: str,
) -> dict[str, str]:
    """Returns the environment: the host's few variables, ours, the task's in their order.

    ``places`` are variables that lead to the replica's own files.

    Raises TaskError.
    """
    environment = {name: value for name, value in host.items() if _is_passed_on(name)}
    environment.update(_spare_this_machine(environment))
    environment.update({"PYTHONUNBUFFERED": "1", **places, **_read_variables(task)})
    path = environment.get("PATH") or DEFAULT_PATH
    environment["PATH"] = os.pathsep.join([*bins, path])
    environment[MARK_VARIABLE] = mark
    return environment


def compose_container_environment(
    task: dict[str, Any], host: Mapping[str, str], metrics: str, mark: str
) -> dict[str, str]:
    """Returns what is set over the image's own ENV. ``metrics``: their file, as seen inside.

    Of the host's variables only what leads to the network.

    Raises TaskError.
    """
    environment = {name: value for name, value in host.items() if name in _PROXIES}
    environment.update(_spare_this_machine({**environment, **_find_exceptions(host)}))
    environment.update({"PYTHONUNBUFFERED": "1", "CLOUD_ML_HP_METRIC_FILE": metrics})
    return {**environment, **_read_variables(task), MARK_VARIABLE: mark}


def compose_build_environment(host: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of what makes the environment: it runs users' ``setup.py``, so no more
    than programs get, and what uv, pip's settings for it, and compilers go by.
    """
    return {
        name: value
        for name, value in host.items()
        if _is_passed_on(name) or name in _BUILD_NAMES or name.startswith(_BUILD_PREFIXES)
    }


def make_directories(context: Context) -> list[str]:
    """Makes and locks the task's directories; returns their real paths. Raises TaskError.

    Below the buckets, and below ``job_dir_roots``, no link is followed: a program, or the
    ``setup.py`` of this job, may have made one since the server looked.
    """
    ticket, task = context.ticket, context.task
    bound = [str(each["path"]) for each in task.get("bound_buckets") or ()]
    given = [str(root) for root in ticket.get("job_dir_roots") or ()]
    roots = [str(ticket.get("buckets") or ROOT), *bound, *given]
    found = []
    for path in task.get("directories") or ():
        try:
            found.append(resolve(path, roots))
            context.directory_locks.make(found[-1])
        except (OSError, TypeError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TaskError(
                f"the supervisor can't create the directory {path}: {reason}"
            ) from error
    context.directories = found
    return found


def _spare_this_machine(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns what keeps proxies, where there are any, from being asked for this machine itself.

    Libraries read one or the other spelling; both say the same then.
    """
    if not any(environment.get(name) for name in _PROXIES):
        return {}
    said = environment.get("no_proxy") or environment.get("NO_PROXY") or ""
    names = [name for name in said.split(",") if name.strip()]
    if "*" not in said:
        names += [name for name in _OWN_NAMES if name not in names]
    return dict.fromkeys(("no_proxy", "NO_PROXY"), ",".join(names))


def _find_exceptions(host: Mapping[str, str]) -> dict[str, str]:
    return {name: host[name] for name in ("no_proxy", "NO_PROXY") if name in host}


def _read_variables(task: dict[str, Any]) -> dict[str, str]:
    """Returns the variables of the task, a later one over an earlier. Raises TaskError."""
    return dict(_check_variable(pair) for pair in task.get("environment") or ())


def _is_passed_on(name: str) -> bool:
    return name in _HOST_NAMES or name.startswith(_HOST_PREFIXES)


def _check_variable(pair: Any) -> tuple[str, str]:
    name, value = pair if isinstance(pair, list) and len(pair) == 2 else (None, None)
    if not isinstance(name, str) or not isinstance(value, str):
        raise TaskError(f"the job's environment: {str(pair)[:200]} is not a name with a value")
    if not name or "=" in name or "\0" in name + value:
        raise TaskError(
            f"the job's environment: {name[:200]!r} can't be a variable's name, or has a NUL "
            "character"
        )
    return name, value


def _get(value: dict[str, Any], name: str, kind: type) -> Any:
    found = value.get(name)
    if not isinstance(found, kind):
        raise TaskError(f"the supervisor's task has no {name} of type {kind.__name__}")
    return found
