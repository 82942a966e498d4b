"""Ports for what takes a while to listen on them."""

from __future__ import annotations

import itertools
import os
import socket

FIRST, LAST, STEP = 12000, 32000, 10
"""Below those that the kernel gives to connections and to listeners on port 0."""
_taken = itertools.count()


def free_port() -> int:
    """A port of the loopback address that nobody listens on, or is given by chance."""
    return free_ports(1)


def free_ports(count: int) -> int:
    """The first of so many successive ones, at most ten. No call gives those of an earlier one."""
    places = (LAST - FIRST) // STEP
    for _ in range(places):
        # Processes of tests that start one after the other begin at places far from each other.
        first = FIRST + (os.getpid() * 97 + next(_taken)) % places * STEP
        if all(_is_free(port) for port in range(first, first + count)):
            return first
    raise AssertionError("no ports are free")


def _is_free(port: int) -> bool:
    with socket.socket() as trial:
        try:
            trial.bind(("127.0.0.1", port))
        except OSError:
            return False
        return True
