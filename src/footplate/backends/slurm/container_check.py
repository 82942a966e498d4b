"""Asks a node of a region whether it can run containers, by a short job there."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from importlib import resources

from footplate.backends.engine.engine import EngineUnavailable
from footplate.ports.engines import EngineReport

RunOnNode = Callable[[bytes], str]

AGE_S = 300.0
"""The time for which an answer counts: each is a job."""


def make_program(socket: str) -> bytes:
    """Returns a program that prints a node's container engine. ``socket`` is its path, or empty."""
    source = resources.files("footplate") / "containers" / "discovery.py"
    return source.read_bytes() + f"\nreport({socket!r})\n".encode()


class ContainerCheck:
    """Checks which container engine a node has. ``run`` runs a Python program on a node.

    ``run`` returns the program's output, and raises EngineUnavailable if no node is free for it.
    """

    def __init__(self, run: RunOnNode, socket: str, monotonic: Callable[[], float]) -> None:
        self._run = run
        self._program = make_program(socket)
        self._monotonic = monotonic
        self._asked: tuple[float, str, str] | None = None

    def extend(self, report: EngineReport) -> EngineReport:
        """Returns ``report`` with the container engine of a node, or the lack of one."""
        if not report.reachable or report.problems:
            return report
        now = self._monotonic()
        if self._asked is None or now - self._asked[0] >= AGE_S:
            self._asked = (now, *self._ask())
        _, fact, problem = self._asked
        facts = (*report.facts, *filter(None, (fact,)))
        return replace(report, facts=facts, problems=tuple(filter(None, (problem,))))

    def _ask(self) -> tuple[str, str]:
        """Returns the check's result as a fact and a problem, one of which is ''."""
        try:
            text = self._run(self._program)
        except EngineUnavailable as error:
            return f"containers: no node was free to check its container engine ({error})", ""
        return read_answer(text)


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
    if not fault:
        return f"containers: node {node} has a container engine at {socket}", ""
    if socket:
        fault = f"node {node} can't use its container engine at {socket}: {fault}"
    return "", f"containers: {fault}"
