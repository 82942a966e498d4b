"""Copies this Python into a folder, with all that it needs: ``python -I python_copy.py FOLDER``.

What comes out runs in any root directory in which it lies at FOLDER, also one without a libc. It
must be started with ``LD_LIBRARY_PATH=FOLDER/lib``. It imports nothing of ours, and runs with
Python 3.8 or later.
"""

from __future__ import annotations

import os
import re
import shutil
import struct
import subprocess
import sys
import sysconfig

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Iterator, Sequence

LOADER = "ld.so"
_UNWANTED = (
    *("test", "tests", "idlelib", "tkinter", "turtledemo", "lib2to3", "ensurepip"),
    *("site-packages", "dist-packages", "config-*", "_tkinter*", "_test*", "_dbm*", "_gdbm*"),
)
_LOADED_BY_NAME = ("libnss_files.so.2", "libnss_dns.so.2", "libresolv.so.2")
"""What an older libc opens to find hosts."""
_INTERPRETER = 3
"""PT_INTERP of elf(5)."""
_LISTED = re.compile(r"^\s*(?P<name>\S+) => (?P<path>/\S+) \(0x", re.MULTILINE)


class Uncopyable(Exception):
    """Error of a Python that can't be copied; the message says why."""


def copy_python(folder: str) -> str:
    """Copies this Python into ``folder`` and returns the path of the interpreter. Raises
    Uncopyable, OSError.
    """
    os.umask(0o022)
    interpreter = os.path.realpath(sys.executable)
    copied = os.path.join(folder, "bin", "python3")
    libraries = os.path.join(folder, "lib")
    for name in (os.path.dirname(copied), libraries):
        shutil.rmtree(name, ignore_errors=True)  # of a container that was ended while it copied
        os.makedirs(name)
    modules = _copy_modules(folder)
    shutil.copy(interpreter, copied)
    loader = find_loader(interpreter)
    if loader:
        place = os.path.join(folder, LOADER)
        shutil.copy(loader, place)
        set_loader(copied, place)
        _copy_libraries(loader, [interpreter, *_find_extensions(modules)], libraries)
    return copied


def _copy_modules(folder: str) -> str:
    """Copies the standard library to where an interpreter in ``bin`` looks for it; returns its
    path.
    """
    paths = sysconfig.get_paths()
    name = os.path.basename(paths["stdlib"])
    place = os.path.join(folder, getattr(sys, "platlibdir", "lib"), name)
    for source in dict.fromkeys((paths["stdlib"], paths["platstdlib"])):
        if os.path.isfile(os.path.join(source, "os.py")) or source != paths["stdlib"]:
            _copy_tree(source, place)
    if not os.path.isfile(os.path.join(place, "os.py")):
        raise Uncopyable(
            ("the standard library of %s isn't in a folder, and can't be copied") % sys.executable
        )
    return place


def _copy_tree(source: str, place: str) -> None:
    """Copies all files except those that can't be read: some links of distributions lead
    nowhere.
    """
    ignore = shutil.ignore_patterns(*_UNWANTED)
    if os.path.isdir(source) and not os.path.isdir(place):
        shutil.copytree(source, place, ignore=ignore, ignore_dangling_symlinks=True)
    elif os.path.isdir(os.path.join(source, "lib-dynload")):
        extensions = os.path.join(place, "lib-dynload")
        if not os.path.isdir(extensions):
            shutil.copytree(os.path.join(source, "lib-dynload"), extensions, ignore=ignore)


def _find_extensions(modules: str) -> list[str]:
    folder = os.path.join(modules, "lib-dynload")
    names = sorted(os.listdir(folder)) if os.path.isdir(folder) else []
    return [os.path.join(folder, name) for name in names if name.endswith(".so")]


def _copy_libraries(loader: str, files: Sequence[str], place: str) -> None:
    """Copies the libraries that the files need, as the system's loader finds them. Raises
    Uncopyable.
    """
    found: dict[str, str] = {}
    for number, file in enumerate(files):
        done = subprocess.run([loader, "--list", file], capture_output=True, text=True, check=False)
        if done.returncode and not number:
            raise Uncopyable("%s --list %s fails: %s" % (loader, file, done.stderr.strip()))
        for each in _LISTED.finditer(done.stdout):
            found[os.path.basename(each["name"])] = each["path"]
    folders = {os.path.dirname(path) for name, path in found.items() if name.startswith("libc.so")}
    for folder in folders:
        for name in _LOADED_BY_NAME:
            found.setdefault(name, os.path.join(folder, name))
    for name, path in found.items():
        if os.path.isfile(path):
            shutil.copy(path, os.path.join(place, name))


def find_loader(file: str) -> str:
    """Returns the loader that an ELF file names as its interpreter; '' if it needs none. Raises
    Uncopyable.
    """
    with open(file, "rb") as program:
        content = program.read()
    for start, size in _find_names(content, file):
        return content[start : start + size].rstrip(b"\0").decode()
    return ""


def set_loader(file: str, name: str) -> None:
    """Changes the loader that an ELF file names as its interpreter. Raises Uncopyable, OSError."""
    with open(file, "r+b") as program:
        content = program.read()
        for start, size in _find_names(content, file):
            text = name.encode() + b"\0"
            if len(text) > size:
                raise Uncopyable(
                    "the path of the loader %s is too long for the program file %s" % (name, file)
                )
            program.seek(start)
            program.write(text.ljust(size, b"\0"))


def _find_names(content: bytes, file: str) -> Iterator[tuple[int, int]]:
    """Yields offset and size of the name of the interpreter in an ELF file. Raises Uncopyable."""
    if content[:6] != b"\x7fELF\x02\x01":
        raise Uncopyable("%s is not a 64-bit little-endian program for Linux" % file)
    (offset,) = struct.unpack_from("<Q", content, 0x20)
    size, number = struct.unpack_from("<HH", content, 0x36)
    for index in range(number):
        kind, _, start = struct.unpack_from("<IIQ", content, offset + index * size)
        if kind == _INTERPRETER:
            (length,) = struct.unpack_from("<Q", content, offset + index * size + 0x20)
            yield start, length


if __name__ == "__main__":
    try:
        copy_python(sys.argv[1])
    except (Uncopyable, OSError) as error:
        sys.exit("the region's Python can't be copied: %s" % error)
