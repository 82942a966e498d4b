"""The process that ``ranks`` starts, in a Python with PyTorch: a rank is a fork of it.

Reads orders, one JSON object a line; answers with the statuses of all ranks.
"""

from __future__ import annotations

import faulthandler
import gc
import importlib
import json
import os
import select
import signal
import sys
import time
from pathlib import Path
from typing import Any

from reduction.tests.torch import programs


def main() -> None:
    importlib.import_module("torch._dynamo")  # else each DistributedDataParallel's rank does
    gc.collect()
    gc.freeze()  # else the collections of each rank, and its end, copy all pages
    for line in sys.stdin:
        order = json.loads(line)
        children = []
        for rank in range(len(order["environments"])):
            child = os.fork()
            if not child:
                run(rank, order)
                return
            children.append(child)
        print(json.dumps(ends(children, order["limit_s"])), flush=True)


def run(rank: int, order: dict[str, Any]) -> None:
    """As this rank. It ends as any program does: by its end, or by an exception."""
    written = Path(order["folder"]) / str(rank)
    log = os.open(written.with_suffix(".log"), os.O_WRONLY | os.O_CREAT)
    for stream in (1, 2):
        os.dup2(log, stream)
    faulthandler.dump_traceback_later(0.9 * order["limit_s"])  # where it hangs, if it does
    environments = order["environments"]
    os.environ.update(environments[rank])
    place = programs.Place(rank, len(environments), order["folder"])
    value = getattr(programs, order["program"])(place, **order["arguments"])
    written.with_suffix(".json").write_text(json.dumps(value))


def ends(children: list[int], limit_s: float) -> list[int]:
    """Their exit codes, or negative signals; those that don't end in time are killed."""
    deadline = time.monotonic() + limit_s
    for child in children:
        watched = os.pidfd_open(child)
        if not select.select([watched], [], [], max(0.0, deadline - time.monotonic()))[0]:
            os.kill(child, signal.SIGKILL)
        os.close(watched)
    return [os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]) for child in children]


if __name__ == "__main__":
    main()
