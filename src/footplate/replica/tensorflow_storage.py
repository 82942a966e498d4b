"""Leads TensorFlow's own ``gs://`` in a program to the buckets, through the service's proxy.

A hook sets TensorFlow's variables in Python programs (``tensorflow_hook``). TensorFlow 1 trusts
only the authorities in a file of the machine: the program sees one with ours in its place.
"""

from __future__ import annotations

import os

from footplate import safe_path
from footplate.replica import tensorflow_hook
from footplate.replica.file_io import read_text, write_text
from footplate.replica.tensorflow_hook import PROXY, ROOTS

TYPE_CHECKING = False  # without the module typing, which would cost memory
if TYPE_CHECKING:
    from typing import Any, Mapping

MACHINE_ROOTS = "/etc/ssl/certs/ca-certificates.crt"
"""It is compiled into TensorFlow 1."""
_PYTHON_PATH = "PYTHONPATH"
_WANTED = "STORAGE_EMULATOR_HOST"
"""Empty where a job wants Google's own storage."""
_FLAGS = os.O_WRONLY | os.O_CREAT | os.O_TRUNC
_READABLE, _SEARCHABLE = 0o644, 0o755
_FOLDER, _ROOTS = "tensorflow", "roots.pem"


def make_hook(
    environment: Mapping[str, str], authority: str, directory: str, seen: str = ""
) -> dict[str, str]:
    """More variables for a program with this ``environment``; none where it isn't led.

    The hook lies below ``directory``, which the program sees as ``seen``. Raises OSError.
    """
    if not (authority and environment.get(PROXY) and environment.get(_WANTED)):
        return {}
    folder = os.path.join(directory, _FOLDER)
    with safe_path.directory(directory, (_FOLDER,), create=True) as opened:
        os.chmod(opened, _SEARCHABLE)
    write_text(os.path.join(folder, _ROOTS), authority, _FLAGS, _READABLE)
    write_text(os.path.join(folder, "sitecustomize.py"), _read_hook(), _FLAGS, _READABLE)
    shown = os.path.join(seen or directory, _FOLDER)
    path = [shown, *filter(None, [environment.get(_PYTHON_PATH)])]
    return {ROOTS: os.path.join(shown, _ROOTS), _PYTHON_PATH: os.pathsep.join(path)}


def _read_hook() -> str:
    """From the archive of the supervisor, or from the folder that it was imported from."""
    loader: Any = tensorflow_hook.__loader__
    path = os.path.join(os.path.dirname(__file__), "tensorflow_hook.py")
    return str(loader.get_data(path), "utf-8")


def make_roots(
    authority: str, directory: str, machine: str = MACHINE_ROOTS
) -> list[tuple[str, str]]:
    """What a program is to see instead of a file of the machine, and of which.

    Raises OSError.
    """
    if not authority or not os.path.isfile(machine):
        return []
    path = os.path.join(directory, "ca-certificates.crt")
    write_text(path, read_roots(authority, machine), _FLAGS, _READABLE)
    return [(path, machine)]


def read_roots(authority: str, machine: str = MACHINE_ROOTS) -> str:
    """Those of the machine, as far as they are where TensorFlow looks, and ours. Raises OSError."""
    if not os.path.isfile(machine):
        return authority
    return f"{read_text(machine).rstrip()}\n{authority}"
