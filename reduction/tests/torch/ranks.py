"""Ranks of PyTorch as processes, all forked from one that has imported it: that takes seconds."""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate.testing.service import outside

from reduction.tests.rig import SETTINGS

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from reduction.tests.rig import ReducerProcess

ROOT = Path(__file__).parents[3]
_LIMIT_S = 150.0
"""Of a whole program; on a busy machine each needs a fraction of it."""


@dataclass(frozen=True)
class Ended:
    """``status`` is the exit code, or the negative signal; ``value`` what the program returned."""

    status: int
    output: str
    value: Any


class Ranks:
    """Runs functions of ``programs`` as all ranks of a process group."""

    def __init__(self, python: Path, folder: Path) -> None:
        self._folder = folder
        self._runs = 0
        path = os.pathsep.join((str(ROOT / "reduction" / "src"), str(ROOT)))
        self._parent = subprocess.Popen(
            (python, "-m", "reduction.tests.torch.forking"),
            cwd=ROOT,
            env=outside(os.environ) | {"PYTHONPATH": path, "GLOO_SOCKET_IFNAME": "lo"},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )

    def __enter__(self) -> Ranks:
        return self

    def __exit__(self, *_: object) -> None:
        self._parent.communicate()

    def run(
        self,
        program: str,
        world: int,
        reducers: Sequence[ReducerProcess] = (),
        only_for: Sequence[int] | None = None,
        environment: Mapping[str, str] | None = None,
        **arguments: Any,
    ) -> list[Ended]:
        """``reducers`` are told to all ranks, or ``only_for`` some. What became of each rank."""
        self._runs += 1
        folder = self._folder / str(self._runs)
        folder.mkdir()
        named = {"FOOTPLATE_REDUCERS": ",".join(one.address for one in reducers)}
        chosen = range(world) if only_for is None else only_for
        each = [
            {**SETTINGS, **(named if rank in chosen else {}), **(environment or {})}
            for rank in range(world)
        ]
        order = {"program": program, "folder": str(folder), "environments": each}
        return self._ask({**order, "arguments": arguments, "limit_s": _LIMIT_S}, folder)

    def values(self, program: str, world: int, *args: Any, **options: Any) -> list[Any]:
        """As ``run``, of a program that ends well everywhere."""
        ended = self.run(program, world, *args, **options)
        assert [one.status for one in ended] == [0] * world, "\n".join(one.output for one in ended)
        return [one.value for one in ended]

    def _ask(self, order: Mapping[str, object], folder: Path) -> list[Ended]:
        assert self._parent.stdin is not None
        assert self._parent.stdout is not None
        self._parent.stdin.write(json.dumps(order) + "\n")
        self._parent.stdin.flush()
        statuses = json.loads(self._parent.stdout.readline())
        return [_ended(folder / str(rank), status) for rank, status in enumerate(statuses)]


def _ended(path: Path, status: int) -> Ended:
    written = path.with_suffix(".json")
    value = json.loads(written.read_text()) if written.exists() else None
    return Ended(status, path.with_suffix(".log").read_text(), value)
