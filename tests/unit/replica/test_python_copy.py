"""A Python that needs no file of the system that it runs on."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.replica.launcher import python_copy
from footplate.replica.launcher.python_copy import Uncopyable, find_loader, set_loader
from tests.support.short_folder import short_folder

USE = """
import asyncio, ctypes, json, socket, ssl, sys, zlib
asyncio.run(asyncio.sleep(0))
socket.getaddrinfo("localhost", 80)
ctypes.CDLL(None).getpid()
with open("/proc/self/maps") as file:
    mapped = {line.split()[-1] for line in file if "/" in line}
print(json.dumps({"prefix": sys.prefix, "mapped": sorted(mapped)}))
"""


def test_a_copy_opens_no_library_of_the_system() -> None:
    with short_folder("fp") as folder:
        command = (sys.executable, "-I", python_copy.__file__, folder)
        subprocess.run(command, check=True)
        (folder / "lib" / "old").write_text("of a copy that was not completed")
        subprocess.run(command, check=True)
        copied = subprocess.run(
            (folder / "bin" / "python3", "-I", "-S", "-c", USE),
            env={"LD_LIBRARY_PATH": str(folder / "lib")},
            check=True,
            capture_output=True,
            text=True,
        )
        found = json.loads(copied.stdout)
        assert found["prefix"] == str(folder)
        code = [path for path in found["mapped"] if ".so" in path or "bin/" in path]
        assert code
        assert all(Path(path).is_relative_to(folder) for path in code)
        assert not (folder / "lib" / "old").exists()


def test_a_loader_whose_name_does_not_fit_is_refused(tmp_path: Path) -> None:
    program = tmp_path / "python"
    program.write_bytes(Path(os.path.realpath(sys.executable)).read_bytes())
    before = find_loader(str(program))
    set_loader(str(program), "/a/b")
    assert find_loader(str(program)) == "/a/b"
    with pytest.raises(Uncopyable, match="too long for the program file"):
        set_loader(str(program), before + "x" * 100)


@pytest.mark.parametrize("content", [b"", b"#!/bin/sh\n", b"\x7fELF\x01\x01"])
def test_what_is_no_program_for_64_bits_is_refused(tmp_path: Path, content: bytes) -> None:
    program = tmp_path / "python"
    program.write_bytes(content)
    with pytest.raises(Uncopyable, match="is not a 64-bit"):
        find_loader(str(program))
