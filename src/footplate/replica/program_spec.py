"""The command, variables and directories of a task's program.

Of the host's environment a program gets only what is in ``_HOST_NAMES`` and begins with one of
``_HOST_PREFIXES``: paths, language, certificates, proxies, GPUs. Nothing of the server's own
configuration or Python settings reaches it, nor the replica's token. On an engine's node it also
gets what the site gives: the variables of libraries in ``_SITE_PREFIXES``, and those that the
region's settings set.
"""

from __future__ import annotations

import os

from footplate.protocol.site_variables import PROLOGUE_VARIABLES, SITE_VARIABLES
from footplate.protocol.task import CommandTask, ContainerTask, PythonTask
from footplate.replica.isolation.procfs import MARK_VARIABLE
from footplate.safe_path import ROOT, resolve

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Mapping, Sequence

    from footplate.protocol.task import Task
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
_SITE_PREFIXES = (
    *("NCCL_", "RCCL_", "UCX_", "UCC_", "FI_", "GLOO_", "OMPI_MCA_", "ROCR_", "HIP_", "ZE_"),
    *("SLURM_", "SLURMD_"),
)
_NOT_OF_SITE = frozenset(
    ("SLURM_JWT", "PYTHONHOME", "PYTHONPATH", "VIRTUAL_ENV", "PWD", "OLDPWD", "SHLVL", "_")
)
"""What a prologue changes and a program in an environment and a folder of its own can't use."""
_NOT_OF_SITE_PREFIXES = ("FOOTPLATE_", "UV_", "PIP_")
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


_BY_PATH = ("/bin/sh", "-c", 'exec "$@"', "sh")
"""Finds what follows on the PATH of the program, not on the supervisor's."""


def compose_argv(task: Task, python: str) -> list[str]:
    """Returns the command line: ``python -m MODULE ARGS``, or a command.

    Raises TaskError.
    """
    program = task.program
    if isinstance(program, PythonTask):
        start = [*_BY_PATH, *program.command] if program.command else [python, "-m", program.module]
        argv = [*start, *program.args]
    else:
        argv = [*program.argv] if isinstance(program, CommandTask) else []
    if not argv or any("\0" in arg for arg in argv):
        raise TaskError("the program's command line is empty, or has a NUL character")
    return argv


def require_container(task: Task) -> ContainerTask:
    """Returns the task's program. Raises TaskError if no container can run it."""
    program = task.program
    if not isinstance(program, ContainerTask):
        raise TaskError("the task's program is no container")
    for name, words in (("command", program.command), ("args", program.args)):
        if any("\0" in word for word in words or ()):
            raise TaskError(f"the container's {name} isn't all text")
    return program


def compose_environment(
    task: Task,
    bins: Sequence[str],
    host: Mapping[str, str],
    places: Mapping[str, str],
    mark: str,
) -> dict[str, str]:
    """Returns the environment: the host's few variables, ours, the task's in their order.

    ``places`` are variables that lead to the replica's own files.

    Raises TaskError.
    """
    environment = _pass_on(host)
    environment.update(_spare_this_machine(environment))
    environment.update({"PYTHONUNBUFFERED": "1", **places, **_read_variables(task)})
    path = environment.get("PATH") or DEFAULT_PATH
    environment["PATH"] = os.pathsep.join([*bins, path])
    environment[MARK_VARIABLE] = mark
    return environment


def compose_container_environment(
    task: Task, host: Mapping[str, str], metrics: str, mark: str
) -> dict[str, str]:
    """Returns the variables to set over the image's ENV. ``metrics`` is the path of the metrics
    file, as seen inside.

    Of the host's variables it has only those for the network, and those of the site that aren't
    the image's own matter. Raises TaskError.
    """
    site = _find_site_variables(host, SITE_VARIABLES)
    environment = {name: value for name, value in site.items() if name not in _HOST_NAMES}
    environment.update({name: value for name, value in host.items() if name in _PROXIES})
    environment.update(_spare_this_machine({**environment, **_find_exceptions(host)}))
    environment.update({"PYTHONUNBUFFERED": "1", "CLOUD_ML_HP_METRIC_FILE": metrics})
    return {**environment, **_read_variables(task), MARK_VARIABLE: mark}


def compose_build_environment(host: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of the command that makes the environment. It runs users' ``setup.py``,
    so it gets only what programs get, and the variables for uv, for pip's settings, and for
    compilers.
    """
    own = {
        name: value
        for name, value in host.items()
        if name in _BUILD_NAMES or name.startswith(_BUILD_PREFIXES)
    }
    return {**_pass_on(host), **own}


def make_directories(context: Context) -> list[str]:
    """Makes and locks the task's directories; returns their real paths. Raises TaskError.

    Below the buckets, and below ``job_dir_roots``, no link is followed: a program, or the
    ``setup.py`` of this job, may have made one since the server looked.
    """
    ticket, task = context.ticket, context.task
    bound = [bucket.path for bucket in task.bound_buckets]
    roots = [ticket.buckets or ROOT, *bound, *ticket.job_dir_roots]
    found = []
    for path in task.directories:
        try:
            found.append(resolve(path, roots))
            context.directory_locks.make(found[-1])
        except (OSError, ValueError) as error:
            reason = getattr(error, "strerror", None) or error
            raise TaskError(
                f"the supervisor can't create the directory {path}: {reason}"
            ) from error
    context.directories = found
    return found


def _spare_this_machine(environment: Mapping[str, str]) -> dict[str, str]:
    """Returns variables that keep calls to this machine from going through proxies, if there are
    any.

    Libraries read one or the other spelling of the names; both get the same value.
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


def _read_variables(task: Task) -> dict[str, str]:
    """Returns the task's variables. Raises TaskError."""
    for name, value in task.environment:
        if not name or "=" in name or "\0" in name + value:
            raise TaskError(
                f"environment: {name[:200]!r} can't be a variable, or not with this value"
            )
    return task.variables


def _pass_on(host: Mapping[str, str]) -> dict[str, str]:
    """Returns the host's variables that a program gets."""
    few = {
        name: value
        for name, value in host.items()
        if name in _HOST_NAMES or name.startswith(_HOST_PREFIXES)
    }
    return {**few, **_find_site_variables(host, SITE_VARIABLES, PROLOGUE_VARIABLES)}


def _find_site_variables(host: Mapping[str, str], *lists: str) -> dict[str, str]:
    """Returns what the site of a node gives to programs; nothing on the service's machine.

    ``lists`` are the variables that name some.
    """
    if SITE_VARIABLES not in host:
        return {}
    named = {name for each in lists for name in host.get(each, "").split()}
    return {
        name: value
        for name, value in host.items()
        if (name in named or name.startswith(_SITE_PREFIXES))
        and name not in _NOT_OF_SITE
        and not name.startswith(_NOT_OF_SITE_PREFIXES)
    }
