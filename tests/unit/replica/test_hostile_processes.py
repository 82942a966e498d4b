"""What a process says of itself neither fills nor stops the process that reads it."""

from __future__ import annotations

import os
import resource
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from footplate.replica.isolation import procfs
from footplate.server import api_callers as calling_process

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="needs /proc and prctl")

LONG = """
import ctypes, struct, sys, time
SIZE = 1 << 36
libc = ctypes.CDLL(None, use_errno=True)
libc.mmap.restype = ctypes.c_void_p
libc.mmap.argtypes = [ctypes.c_void_p, ctypes.c_size_t, *[ctypes.c_int] * 3, ctypes.c_long]
start = libc.mmap(None, SIZE, 1, 0x4022, -1, 0)  # PROT_READ; private, anonymous, not reserved
fields = open("/proc/self/stat").read().rpartition(")")[2].split()
code_start, code_end, stack = map(int, fields[23:26])
data_start, data_end, brk = map(int, fields[42:45])
place = (start, start + SIZE)
parts = (code_start, code_end, data_start, data_end, brk, brk, stack, *place, *place)
struct_mm_map = ctypes.create_string_buffer(struct.pack("11QQIi", *parts, 0, 0, -1))
assert libc.prctl(35, 14, struct_mm_map, ctypes.c_ulong(104), 0) == 0, ctypes.get_errno()
print("ready", flush=True)
time.sleep(600)
"""
DEEP = """
import os, sys, time
os.chdir(sys.argv[1])
for _ in range(30):
    os.mkdir("d" * 200)
    os.chdir("d" * 200)
held = os.open(".", os.O_RDONLY)
print("ready", flush=True)
time.sleep(600)
"""


@contextmanager
def process(code: str, *args: str) -> Iterator[int]:
    with subprocess.Popen([sys.executable, "-c", code, *args], stdout=subprocess.PIPE) as popen:
        try:
            assert popen.stdout is not None
            assert popen.stdout.readline() == b"ready\n"
            yield popen.pid
        finally:
            popen.kill()


def test_an_environment_of_any_length_is_read_in_part() -> None:
    """By ``PR_SET_MM_MAP`` any process chooses where its own begins and ends: 64 GiB here."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with process(LONG) as pid:
        assert procfs.read_marks(pid) == []
        assert sum(map(len, procfs.read_arguments(pid))) <= 8 << 20
        assert pid in calling_process.read_facts(pid).lineage
        assert pid not in [each.pid for each in procfs.find_marked("ab")]
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 100 << 10


def test_a_file_too_deep_to_be_named_hides_no_socket(tmp_path: Path) -> None:
    with process(DEEP, str(tmp_path)):
        assert calling_process.find_holder(1, os.getuid()) is None
