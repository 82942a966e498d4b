"""Puts the hook where each Python of a program runs it at its start, with the files it needs."""

from __future__ import annotations

import os

from footplate import safe_path
from footplate.replica import program_hook_start
from footplate.replica.file_io import write_readable
from footplate.replica.program_hook import PROXY, ROOTS, TRUSTED, has_stand_in
from footplate.replica.program_hook_start import HOOK, PRODUCTS
from footplate.replica.tensorflow_storage import MACHINE_ROOTS, read_roots

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

_PYTHON_PATH = "PYTHONPATH"
_WANTED = "STORAGE_EMULATOR_HOST"
"""Empty where a job wants Google's own storage."""
_SEARCHABLE = 0o755
_SOURCES: dict[str, str] = {}
_FOLDER, _ROOTS, _GRPC_ROOTS = "hook", "roots.pem", "grpc_roots.pem"


def make_hook(
    environment: Mapping[str, str],
    authority: str,
    directory: str,
    seen: str = "",
    machine: str = MACHINE_ROOTS,
) -> dict[str, str]:
    """Returns more variables for a program with this ``environment``; none if it needs no hook.

    The hook lies below ``directory``, which the program sees as ``seen``. Raises OSError.
    """
    led = bool(authority and environment.get(PROXY) and environment.get(_WANTED))
    if not (led or has_stand_in(environment)):
        return {}
    folder, shown = (os.path.join(place, _FOLDER) for place in (directory, seen or directory))
    with safe_path.directory(directory, (_FOLDER,), create=True) as opened:
        os.chmod(opened, _SEARCHABLE)
    files = dict(read_sources())
    found = {}
    if led:
        files[_ROOTS] = authority
        found[ROOTS] = os.path.join(shown, _ROOTS)
    if led and TRUSTED not in environment and os.path.isfile(machine):  # gRPC has its own, else
        files[_GRPC_ROOTS] = read_roots(authority, machine)
        found[TRUSTED] = os.path.join(shown, _GRPC_ROOTS)
    for name, text in files.items():
        write_readable(os.path.join(folder, name), text)
    path = [shown, *filter(None, [environment.get(_PYTHON_PATH)])]
    return {**found, _PYTHON_PATH: os.pathsep.join(path)}


def read_sources() -> dict[str, str]:
    """Returns the hook's files by their names. They are read once: a fork server does it for all
    its supervisors.
    """
    if not _SOURCES:
        _SOURCES["sitecustomize.py"] = _read("replica", "program_hook_start.py")
        _SOURCES[f"{HOOK}.py"] = _read("replica", "program_hook.py")
        _SOURCES[f"{PRODUCTS}.py"] = _read("domain", "google_products.py")
    return _SOURCES


def _read(*parts: str) -> str:
    """Returns a file of the supervisor's archive, or of the folder in which this package lies.

    The file isn't imported: the process would keep that in memory.
    """
    loader: Any = program_hook_start.__loader__
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), *parts)
    return str(loader.get_data(path), "utf-8")
