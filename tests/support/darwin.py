"""Lets a Python of Linux look like one of macOS to what it imports and runs afterwards.

``python -m tests.support.darwin MODULE WORDS...`` runs the ``main`` of a module so.

What Python has on Linux alone is taken away: the names come from typeshed, which says of each on
which platforms it exists. Files below ``/proc`` and ``/sys`` don't exist, and libraries of C have
no functions of Linux. What macOS does otherwise under the same name can't be shown here.
"""

from __future__ import annotations

import ast
import ctypes
import importlib
import os
import sys
import sysconfig
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

_MYPY = find_spec("mypy")
assert _MYPY is not None
assert _MYPY.origin is not None
_STUBS = Path(_MYPY.origin).parent / "typeshed" / "stdlib"
MODULES = {
    "os": "os/__init__.pyi",
    "errno": "errno.pyi",
    "fcntl": "fcntl.pyi",
    "mmap": "mmap.pyi",
    "resource": "resource.pyi",
    "select": "select.pyi",
    "signal": "signal.pyi",
    "socket": "_socket.pyi",
    "time": "time.pyi",
}
"""Modules that differ from one system to another, and their stubs."""
_FOLDERS = ("/proc", "/sys")
_ABSENT = frozenset(
    ("prctl", "pidfd_open", "unshare", "setns", "renameat2", "mount", "umount2", "fanotify_init")
)
"""Functions of Linux's libc."""
_NAME = os.uname_result(("Darwin", "mac.local", "24.6.0", "Darwin Kernel Version 24.6.0", "arm64"))


def pretend() -> None:
    """Makes this process look as if it ran on macOS, for good."""
    sysconfig.get_config_vars()  # Python keeps them; macOS's are in a file that isn't here
    for name in MODULES:
        module = importlib.import_module(name)
        for attribute in find_absent(name):
            if hasattr(module, attribute):
                delattr(module, attribute)
    sys.platform = "darwin"
    os.uname = lambda: _NAME
    proxies: Any = ModuleType("_scproxy")  # urllib asks it for the proxies of macOS
    proxies._get_proxies = proxies._get_proxy_settings = dict
    sys.modules["_scproxy"] = proxies
    _hide_folders()
    _hide_functions()


@cache
def find_absent(module: str) -> frozenset[str]:
    """Returns what a module of Python's has on Linux, and not on macOS."""
    tree = ast.parse((_STUBS / MODULES[module]).read_text("utf-8"))
    return frozenset(_find_names(tree.body, "linux")).difference(_find_names(tree.body, "darwin"))


def _find_names(body: list[ast.stmt], platform: str) -> list[str]:
    """Returns the names that statements of a stub define on a platform, those of enums, too."""
    found: list[str] = []
    for node in body:
        if isinstance(node, ast.If):
            found += _find_names(
                node.body if _holds(node.test, platform) else node.orelse, platform
            )
        elif isinstance(node, ast.ClassDef):
            members = _find_names(node.body, platform) if _is_enum(node) else []
            found += [node.name, *members]
        elif isinstance(node, ast.FunctionDef):
            found.append(node.name)
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found.append(node.target.id)
        elif isinstance(node, ast.Assign):
            found += [target.id for target in node.targets if isinstance(target, ast.Name)]
    return found


def _is_enum(node: ast.ClassDef) -> bool:
    return any(isinstance(base, ast.Name) and "Enum" in base.id for base in node.bases)


def _holds(test: ast.expr, platform: str) -> bool:
    """Returns whether a stub's condition on platform and version holds."""
    names = {"sys": _System(platform)}
    return bool(eval(compile(ast.Expression(test), "stub", "eval"), names))  # noqa: S307 - a condition of typeshed


class _System:
    """What conditions of stubs read of ``sys``."""

    version_info = sys.version_info

    def __init__(self, platform: str) -> None:
        self.platform = platform


def _hide_folders() -> None:
    def check(event: str, arguments: tuple[Any, ...]) -> None:
        if event in ("open", "os.listdir", "os.scandir") and _is_hidden(arguments[0]):
            raise FileNotFoundError(2, "No such file or directory", arguments[0])

    sys.addaudithook(check)
    for name in ("stat", "lstat", "readlink", "access"):
        setattr(os, name, _hidden(getattr(os, name)))


def _hidden(function: Any) -> Any:
    def call(path: Any, *args: Any, **options: Any) -> Any:
        if _is_hidden(path):
            raise FileNotFoundError(2, "No such file or directory", path)
        return function(path, *args, **options)

    return call


def _is_hidden(path: object) -> bool:
    return isinstance(path, str | os.PathLike) and f"{os.fspath(path)!s}/".startswith(
        tuple(f"{folder}/" for folder in _FOLDERS)
    )


def _hide_functions() -> None:
    load = ctypes.CDLL.__getattr__

    def find(library: ctypes.CDLL, name: str) -> Any:
        if name in _ABSENT:
            raise AttributeError(f"dlsym: {name}: symbol not found")
        return load(library, name)

    ctypes.CDLL.__getattr__ = find  # type: ignore[method-assign]  # it looks like another system


if __name__ == "__main__":
    pretend()
    program = importlib.import_module(sys.argv[1])
    sys.argv = sys.argv[1:]
    program.main()
