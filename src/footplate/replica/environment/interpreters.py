"""Finds the Python interpreter that a runtime needs."""

from __future__ import annotations

import contextlib
import errno
import glob
import json
import os
import re
import subprocess
import sys

from footplate.replica.environment.build_cache import make_key
from footplate.replica.environment.errors import PreparationError
from footplate.replica.environment.uv import UvFailed

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Mapping, Sequence

    from footplate.replica.environment.uv import Uv

_PROBE_TIMEOUT_S = 20
_NO_PROGRAM = frozenset(
    {errno.ENOENT, errno.ENOTDIR, errno.EACCES, errno.EPERM, errno.ENOEXEC, errno.ELOOP}
)
PROBE = """
import json, os, sys, sysconfig
print(json.dumps({
    "path": os.path.realpath(getattr(sys, "_base_executable", None) or sys.executable),
    "version": "%d.%d.%d" % sys.version_info[:3],
    "implementation": sys.implementation.name,
    "platform": sysconfig.get_platform(),
    "abi": sysconfig.get_config_var("SOABI") or "",
}))
"""


class Interpreter:
    """An interpreter that was run. Two with the same identity make the same environments.

    ``fetched`` means that its code is foreign: it runs only with the isolation of builds.
    """

    def __init__(self, found: Mapping[str, str], *, fetched: bool = False) -> None:
        self.fetched = fetched
        self.path = found["path"]
        self.version = found["version"]
        self.implementation = found["implementation"]
        names = ("path", "version", "implementation", "platform", "abi")
        self.identity = " ".join(found[name] for name in names)

    def is_a(self, version: str) -> bool:
        ours = self.version.split(".")[: version.count(".") + 1]
        return self.implementation == "cpython" and ours == version.split(".")


class Interpreters:
    """The search for Python interpreters. ``globs`` are patterns of paths to try first; ``cache``
    is the directory for interpreters that are downloaded.
    """

    def __init__(
        self, globs: Sequence[str], environment: Mapping[str, str], cache: str, uv: Uv
    ) -> None:
        self._globs = globs
        self._environment = environment
        self._cache = os.path.join(cache, "interpreters")
        self._uv = uv

    def find(self, version: str, wanted_by: str) -> Interpreter:
        """Returns the first interpreter of this version, like 3.11.

        Raises:
            PreparationError: saying where it was looked for, and the ways out.
        """
        for path in self._candidates(version):
            found = self._inspect(path)
            if found is not None and found.is_a(version):
                return found
        raise PreparationError(
            f"Python {version}, which {wanted_by} needs, isn't on this machine (tried: "
            f"{self._looked(version)}). Install it, for instance with pyenv, "
            "name it in the setting pythons, or use another runtime version"
        )

    def _candidates(self, version: str) -> Iterator[str]:
        """Yields paths to try, programs before scripts: a pyenv shim is slow, and may stand for
        nothing.
        """
        for pattern in self._globs:
            yield from sorted(glob.glob(os.path.expanduser(pattern)))
        on_path = [
            os.path.join(directory, f"python{version}")
            for directory in self._environment.get("PATH", "").split(os.pathsep)
            if os.path.isabs(directory)
        ]
        scripts = [path for path in on_path if _is_script(path)]
        yield from (path for path in on_path if path not in scripts)
        yield from self._pyenv(version)
        yield from scripts
        yield os.path.join(sys.base_prefix, "bin", f"python{version}")  # what this runs on
        find = ["python", "find", "--no-project", "--no-python-downloads", version]
        with contextlib.suppress(UvFailed):
            yield from filter(os.path.isabs, self._uv.run(find).splitlines())

    def _pyenv(self, version: str) -> list[str]:
        pattern = os.path.join(glob.escape(self._pyenv_root()), "versions", f"{version}.*")
        directories = sorted(glob.glob(pattern), key=_numbers, reverse=True)
        return [os.path.join(directory, "bin", "python") for directory in directories]

    def _pyenv_root(self) -> str:
        home = self._environment.get("HOME") or os.path.expanduser("~")
        return self._environment.get("PYENV_ROOT") or os.path.join(home, ".pyenv")

    def _looked(self, version: str) -> str:
        pyenv = os.path.join(self._pyenv_root(), "versions", f"{version}.*")
        return ", ".join([*self._globs, f"python{version} on PATH", pyenv, "uv's own"])

    def _inspect(self, path: str) -> Interpreter | None:
        """Returns the interpreter's facts; runs it unless the same file was run before."""
        try:
            state = os.stat(path)
        except (FileNotFoundError, NotADirectoryError, PermissionError):
            return None
        key = make_key(path, str(state.st_ino), str(state.st_mtime_ns), str(state.st_size))
        remembered = os.path.join(self._cache, f"{key}.json")
        try:
            with open(remembered, encoding="utf-8") as file:
                return Interpreter(json.load(file))
        except (OSError, ValueError, KeyError):  # it is asked
            pass
        found = _probe(path)
        if found is None:
            return None
        if not _is_script(path):
            self._remember(remembered, found)
        return Interpreter(found)

    def _remember(self, path: str, found: Mapping[str, str]) -> None:
        os.makedirs(self._cache, exist_ok=True)
        part = f"{path}.{os.getpid()}.part"
        with open(part, "w", encoding="utf-8") as file:
            json.dump(found, file)
        os.replace(part, path)


def _probe(path: str) -> dict[str, str] | None:
    """Returns the facts that the interpreter prints about itself; None if ``path`` isn't an
    interpreter.
    """
    try:
        ended = subprocess.run(
            [path, "-I", "-S", "-c", PROBE],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            timeout=_PROBE_TIMEOUT_S,
            check=True,
        )
        found = json.loads(ended.stdout)
    except OSError as error:
        if error.errno in _NO_PROGRAM:
            return None
        raise
    except (subprocess.SubprocessError, ValueError):
        return None
    return {name: str(value) for name, value in found.items()}


def _is_script(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(2) == b"#!"
    except OSError:  # what can't be read is asked each time
        return False


def _numbers(path: str) -> list[int]:
    return [int(number) for number in re.findall(r"\d+", os.path.basename(path))]
