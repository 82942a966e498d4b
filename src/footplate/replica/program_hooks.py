"""Puts the hook where each Python of a program runs it at its start, with the files it needs."""

from __future__ import annotations

import os

from footplate import safe_path
from footplate.replica import program_hook_start
from footplate.replica.file_io import write_readable
from footplate.replica.program_hook import PROXY, ROOTS, TRUSTED, has_stand_in
from footplate.replica.program_hook_start import HOOK, PRODUCTS
from footplate.replica.tensorflow_storage import MACHINE_ROOTS, write_roots

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

_PYTHON_PATH = "PYTHONPATH"
_WANTED = "STORAGE_EMULATOR_HOST"
"""Empty where a job wants Google's own storage."""
_SEARCHABLE = 0o755
_SOURCES: dict[str, bytes] = {}
_FOLDER, _ROOTS, _GRPC_ROOTS = "hook", "roots.pem", "grpc_roots.pem"


def make_hook(
    environment: Mapping[str, str],
    authority: str,
    directory: str,
    seen: str = "",
    machine: str = MACHINE_ROOTS,
    *,
    replaced: bool = False,
) -> dict[str, str]:
    """Returns more variables for a program with this ``environment``; none if it needs no hook.

    The hook lies below ``directory``, which the program sees as ``seen``. ``replaced`` says that in
    place of the ``machine``'s certificates the program sees these and ours (``make_roots``). Raises
    OSError.
    """
    led = bool(authority and environment.get(PROXY) and environment.get(_WANTED))
    if not (led or has_stand_in(environment)):
        return {}
    folder, shown = (os.path.join(place, _FOLDER) for place in (directory, seen or directory))
    with safe_path.directory(directory, (_FOLDER,), create=True) as opened:
        os.chmod(opened, _SEARCHABLE)
    files: dict[str, str | bytes] = {**read_sources()}
    found = {}
    if led:
        files[_ROOTS] = authority
        found[ROOTS] = os.path.join(shown, _ROOTS)
    if led and TRUSTED not in environment and os.path.isfile(machine):  # gRPC has its own, else
        found[TRUSTED] = machine if replaced else os.path.join(shown, _GRPC_ROOTS)
        if not replaced:
            write_roots(os.path.join(folder, _GRPC_ROOTS), authority, machine)
    for name, text in files.items():
        write_readable(os.path.join(folder, name), text)
    path = [shown, *filter(None, [environment.get(_PYTHON_PATH)])]
    return {**found, _PYTHON_PATH: os.pathsep.join(path)}


def read_sources() -> dict[str, bytes]:
    """Returns the hook's files by their names. They are read once: a fork server does it for all
    its supervisors.
    """
    if not _SOURCES:
        _SOURCES["sitecustomize.py"] = _read("replica", "program_hook_start.py")
        _SOURCES[f"{HOOK}.py"] = _read("replica", "program_hook.py")
        _SOURCES[f"{PRODUCTS}.py"] = _read("domain", "google_products.py")
    return _SOURCES


def _read(*parts: str) -> bytes:
    """Returns a file of the supervisor's archive, or of the folder in which this package lies.

    The file isn't imported: the process would keep that in memory.
    """
    loader: Any = program_hook_start.__loader__
    path = os.path.join(os.path.dirname(os.path.dirname(__file__)), *parts)
    found: bytes = loader.get_data(path)
    return found
