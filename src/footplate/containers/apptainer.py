"""The command line of Apptainer, and of SingularityCE, which has the same one.

Tried with Apptainer 1.4. The program is a child of this command, not of an engine: it stays in the
control groups and namespaces of the process that starts the command.
"""

from __future__ import annotations

import os
import re

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Iterable, Mapping, Sequence, Tuple

NAME = "apptainer"
"""The value of the regions' key ``containers``."""
_FUSE, _KFD = "/dev/fuse", "/dev/kfd"
_AMD, _NVIDIA = "--rocm", "--nv"
_VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*", re.ASCII)
_OWN_VARIABLES = frozenset({"HOME", "PWD"})
"""Those that the command sets by options, and by itself."""
_ISOLATION = ("--containall", "--cleanenv", "--no-eval", "--no-home")
_OWN_ENV = {
    "Source": "/dev/null",
    "Target": "/.singularity.d/env/10-docker2singularity.sh",
    "ReadOnly": True,
}
"""A script in the image that sets the variables of its ENV, and breaks values with quotes. The
caller sets them.
"""
_UNWANTED_MOUNTS = "home,tmp,cwd,bind-paths,hostfs"
_CAPABILITIES = (
    "CAP_CHOWN,CAP_DAC_OVERRIDE,CAP_FOWNER,CAP_FSETID,CAP_KILL,CAP_SETGID,CAP_SETUID,"
    "CAP_NET_BIND_SERVICE"
)
"""Of a container that root starts: those of a container in Docker that programs need."""


class Apptainer:
    """The command at ``path`` of a node. ``version`` is its own word, such as ``apptainer version
    1.4.5``.
    """

    def __init__(self, path: str, version: str) -> None:
        self.path = path
        self.version = version

    @property
    def is_singularity(self) -> bool:
        return not self.version.startswith("apptainer")

    @property
    def _prefix(self) -> str:
        return "SINGULARITY" if self.is_singularity else "APPTAINER"

    def compose_pull(self, reference: object, place: str) -> list[str]:
        """Returns the command that downloads an image and converts it to the file ``place``."""
        return [self.path, "pull", "--disable-cache", place, f"docker://{reference}"]

    def compose_pull_environment(
        self, tmp: str, login: Tuple[str, str] | None, host: Mapping[str, str], *, plain_http: bool
    ) -> dict[str, str]:
        """Returns the variables of a pull. The login is in no argument, since all users of a node
        can read those.
        """
        environment = {**host, f"{self._prefix}_TMPDIR": tmp}
        if login is not None:
            environment[f"{self._prefix}_DOCKER_USERNAME"] = login[0]
            environment[f"{self._prefix}_DOCKER_PASSWORD"] = login[1]
        if plain_http:
            environment[f"{self._prefix}_NOHTTPS"] = "1"
        return environment

    def compose_command(
        self,
        image: str,
        argv: Sequence[str],
        mounts: Iterable[Mapping[str, Any]],
        *,
        workdir: str,
        home: str,
        written: str,
        gpus: bool,
    ) -> list[str]:
        """Returns the command that runs ``argv`` in a container and waits for its end.

        ``image`` is the file; ``mounts`` are those of the Docker API; ``workdir`` and ``home`` are
        paths inside. The directory ``written`` keeps what the program writes outside of mounts.
        """
        binds = [word for mount in (*mounts, _OWN_ENV) for word in ("--mount", _describe(mount))]
        return [
            *(self.path, "--silent", "exec", *_ISOLATION, *self._find_rights()),
            *([_AMD if os.path.exists(_KFD) else _NVIDIA] if gpus else []),
            *("--no-mount", _UNWANTED_MOUNTS, "--overlay", written),
            *("--home", home, "--pwd", workdir),
            *binds,
            image,
            *argv,
        ]

    def _find_rights(self) -> list[str]:
        """Returns the options for the user inside: root, with the rights of this user outside."""
        if os.geteuid() == 0:
            return ["--no-privs", "--add-caps", _CAPABILITIES]
        options = ["--fakeroot"]
        if not self.is_singularity:
            # In the namespace of programs no setuid helper works, and this user alone is mapped.
            options += ["--ignore-subuid", "--ignore-fakeroot-command"]
        if not os.access(_FUSE, os.R_OK | os.W_OK):
            options.append("--tmp-sandbox" if self.is_singularity else "--unsquash")
        return options

    def compose_environment(
        self, variables: Mapping[str, str], host: Mapping[str, str], tmp: str
    ) -> dict[str, str]:
        """Returns the variables of ``compose_command``; ``variables`` are the program's."""
        own = {name: host[name] for name in ("PATH", "HOME", "USER") if name in host}
        own[f"{self._prefix}_TMPDIR"] = tmp
        for name, value in variables.items():
            if name not in _OWN_VARIABLES and _VARIABLE.fullmatch(name):
                own[f"{self._prefix}ENV_{name}"] = value
        return own


def find_unusable(variables: Iterable[str]) -> list[str]:
    """Returns the names that the command can't pass on: those that no shell takes."""
    return [name for name in variables if not _VARIABLE.fullmatch(name)]


def _describe(mount: Mapping[str, Any]) -> str:
    """Returns the value of ``--mount``: fields of CSV, so that paths may have commas."""
    fields = ["type=bind", f"source={mount['Source']}", f"destination={mount['Target']}"]
    return ",".join(map(_quote, [*fields, *(["ro"] if mount["ReadOnly"] else [])]))


def _quote(field: str) -> str:
    """Returns a field of CSV."""
    if not any(character in field for character in ',"\r\n'):
        return field
    doubled = field.replace('"', '""')
    return f'"{doubled}"'
