"""Rewrites a runtime's console scripts for the interpreter of a layer."""

from __future__ import annotations

import os
import shutil

_MAX_SHEBANG_BYTES = 127  # the shortest limit that is common: older Linux
_MAX_SCRIPT_BYTES = 1 << 20


def adopt_scripts(base_bin: str, layer_bin: str) -> None:
    """Give ``layer_bin`` each script of ``base_bin`` that it lacks, for its own interpreter."""
    for name in sorted(os.listdir(base_bin)):
        source, target = os.path.join(base_bin, name), os.path.join(layer_bin, name)
        body = _read_body(source, base_bin)
        if body is None or os.path.lexists(target):
            continue
        with open(target, "wb") as file:
            file.write(format_header(os.path.join(layer_bin, "python")) + body)
        shutil.copymode(source, target)


def format_header(python: str) -> bytes:
    """What a script begins with to be run by ``python``, however long its path is."""
    path = os.fsencode(python)
    if len(path) <= _MAX_SHEBANG_BYTES - 2 and b" " not in path:
        return b"#!" + path + b"\n"
    return b"#!/bin/sh\n'''exec' \"" + path + b'" "$0" "$@"\n' + b"' '''\n"


def _read_body(path: str, base_bin: str) -> bytes | None:
    """A script without its header; None if it is none that the base's interpreter runs."""
    if os.path.islink(path) or not os.path.isfile(path):
        return None
    if os.path.getsize(path) > _MAX_SCRIPT_BYTES:
        return None
    with open(path, "rb") as file:
        content = file.read()
    interpreter = os.fsencode(os.path.join(base_bin, "python"))
    first, _, rest = content.partition(b"\n")
    if first.startswith(b"#!" + interpreter):
        return rest
    if first == b"#!/bin/sh" and rest.startswith(b"'''exec'") and interpreter in rest[:4096]:
        return rest.partition(b"\n")[2].partition(b"\n")[2]
    return None
