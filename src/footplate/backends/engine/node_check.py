"""Checks by a short job whether a node of a region has what jobs need."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass
from importlib import resources

from footplate.backends.engine.engine import (
    Engine,
    EngineRefused,
    EngineUnavailable,
    LauncherRequest,
)
from footplate.ports.engines import EngineReport

_PLAIN = LauncherRequest("probe", vcpus=1, memory_mb=256)


@dataclass(frozen=True)
class NodeNeeds:
    """The paths and addresses that a region's jobs use on nodes; empty: not needed there."""

    url: str
    authority: str
    scratch: str
    shared: str
    buckets: str
    uv: str
    program: str = ""
    """A further Python program, whose output goes to ``read_printed``."""


class NodeCheck:
    """Runs the probe job. ``samples`` are launchers with a GPU, of which the first one is tried.

    ``read_printed`` returns a fact and a problem from what the further program has printed.
    """

    def __init__(
        self,
        engine: Engine,
        needs: Callable[[], NodeNeeds],
        samples: Mapping[str, LauncherRequest],
        read_printed: Callable[[str], tuple[str, str]],
    ) -> None:
        self._engine = engine
        self._needs = needs
        self._with_gpu = next((each for each in samples.values() if each.accelerators), None)
        self._read_printed = read_printed

    def __call__(self) -> EngineReport:
        """Returns what a node has. Each problem is one of the node, or of the settings."""
        notes: tuple[str, ...] = ()
        if self._with_gpu is not None:
            try:
                return self._ask(self._with_gpu)
            except (EngineUnavailable, EngineRefused) as error:
                name = self._with_gpu.accelerator_type
                notes = (f"gpus: not checked: a job with one {name} did not run: {error}",)
        try:
            report = self._ask(_PLAIN)
        except EngineUnavailable as error:
            return EngineReport(True, (f"node: no node was free for a probe job: {error}",))
        except EngineRefused as error:
            return EngineReport(True, (f"node: not checked: {error}",))
        facts = [fact for fact in report.facts if not (notes and fact.startswith("gpus:"))]
        return EngineReport(True, (*facts, *notes), report.problems)

    def _ask(self, launcher: LauncherRequest) -> EngineReport:
        needs = self._needs()
        text = self._engine.run_on_node(make_program(needs, launcher), launcher)
        return self._read(text, needs)

    def _read(self, text: str, needs: NodeNeeds) -> EngineReport:
        try:
            found = json.loads(text.strip().splitlines()[-1])
            facts, problems = (tuple(map(str, found[name])) for name in ("facts", "problems"))
            printed = str(found["printed"])
        except (ValueError, IndexError, KeyError, TypeError):
            said = f"node: the probe job printed {text[-200:]!r}, which isn't its result"
            return EngineReport(True, (), (said,))
        if needs.program:
            fact, problem = self._read_printed(printed)
            facts, problems = (*facts, fact), (*problems, problem)
        return EngineReport(True, tuple(filter(None, facts)), tuple(filter(None, problems)))


def make_program(needs: NodeNeeds, launcher: LauncherRequest) -> bytes:
    """Returns the probe job's program."""
    gpu = launcher.accelerator_type if launcher.accelerators else ""
    config = json.dumps({**asdict(needs), "gpu": gpu})
    source = resources.files("footplate") / "backends" / "engine" / "node_probe.py"
    return source.read_bytes() + f"\nreport(json.loads({config!r}))\n".encode()
