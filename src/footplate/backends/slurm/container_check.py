"""Asks a node of a region whether it can run containers, in the probe job."""

from __future__ import annotations

import json
from importlib import resources


def make_program(socket: str) -> str:
    """Returns a program that prints a node's container engine. ``socket`` is its path or empty, or
    the name of a command.
    """
    source = resources.files("footplate") / "containers" / "discovery.py"
    return source.read_text() + f"\nreport({socket!r})\n"


def read_answer(text: str) -> tuple[str, str]:
    """Returns the result in the program's output as a fact and a problem, one of which is ''."""
    try:
        found = json.loads(text.strip().splitlines()[-1])
        node, socket, fault = (str(found[name]) for name in ("node", "socket", "fault"))
    except (ValueError, IndexError, KeyError, TypeError):
        return (
            "",
            f"containers: the check on a node printed {text[:200]!r}, which isn't its result",
        )
    if not fault and "version" in found:
        return f"containers: node {node} has {found['version']} at {socket}", ""
    if not fault:
        return f"containers: node {node} has a container engine at {socket}", ""
    if socket:
        fault = f"node {node} can't run images by {socket}: {fault}"
    return "", f"containers: {fault}"
