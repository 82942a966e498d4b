"""Children of a program under test, found by a word in their command lines."""

from __future__ import annotations

BEAR = """
import os, sys, time

def is_ours(process):
    try:
        with open(f"/proc/{process}/cmdline", "rb") as file:
            return sys.argv[1].encode() in file.read()
    except OSError:  # it ended meanwhile
        return False

def bear(children):
    for _ in range(children):
        if os.fork() == 0:
            os.setsid()
            argv = [sys.executable, "-c", "import time; time.sleep(600)", sys.argv[1]]
            os.execve(sys.executable, argv, {})
    others = lambda: (p for p in os.listdir("/proc") if p.isdigit() and p != str(os.getpid()))
    while sum(map(is_ours, others())) < children:
        time.sleep(0.01)
"""
"""Code that defines ``bear(children)``, which returns once it sees so many others.

Each has a session of its own, no environment, and the program's first argument in its command line.
"""
