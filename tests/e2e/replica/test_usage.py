"""Real programs, and what their supervisors tell of what they use."""

from __future__ import annotations

import os
import signal
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path

from tests.support.replica_api import Record
from tests.support.supervisor_process import Supervised, python_task, wait_until

BURN = """
import os, sys, subprocess
child = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
while os.times().user + os.times().system < 1.0:
    pass
child.communicate(b"\\n")
open("out", "wb").write(b"x" * 4_000_000)
os.sync()
print("done")
"""


def samples(replica: Supervised) -> list[Record]:
    return [record for record in replica.api.records if record["k"] == "usage"]


def test_all_that_a_program_used_is_told_at_its_end(
    make_replica: Callable[..., Supervised], containment_mode: str
) -> None:
    replica = make_replica(python_task(BURN, usage_s=0.2), isolation=containment_mode)
    end = replica.supervise()
    assert end["code"] == 0
    found = samples(replica)
    last = found[-1]
    assert replica.api.records[-2] == last, "before the exit"
    assert 0.9 <= last["cpu_s"] < 3.0
    assert last["written_bytes"] >= 4_000_000
    assert "memory_bytes" not in last
    assert max(sample.get("memory_bytes", 0) for sample in found) > 1 << 20
    assert max(sample["processes"] for sample in found[:-1]) == 2
    for name in ("s", "cpu_s", "written_bytes"):
        values = [sample[name] for sample in found]
        assert values == sorted(values), name


def test_without_the_setting_there_are_none(make_replica: Callable[..., Supervised]) -> None:
    replica = make_replica(python_task("print('hello')"))
    replica.supervise()
    assert samples(replica) == []


def test_a_program_that_a_signal_has_stopped(
    make_replica: Callable[..., Supervised], containment_mode: str
) -> None:
    code = "import time; time.sleep(600)"
    replica = make_replica(python_task(code, usage_s=0.05, hang_s=0.2), isolation=containment_mode)
    replica.api.start()
    replica.run()
    wait_until(lambda: bool(samples(replica)), "a sample")
    pid = program_of(replica)
    os.kill(pid, signal.SIGSTOP)
    wait_until(lambda: samples(replica)[-1]["stopped"], "the stop to be told")
    os.kill(pid, signal.SIGCONT)
    wait_until(lambda: not samples(replica)[-1]["stopped"], "the program to go on")
    wait_until(lambda: samples(replica)[-1]["quiet_s"] > 0.3, "silence")
    replica.api.stop_wanted = True
    replica.process.send_signal(signal.SIGTERM)
    assert replica.finish()["kind"] == "STOPPED"


def test_what_is_written_breaks_a_silence(
    make_replica: Callable[..., Supervised], tmp_path: Path
) -> None:
    code = """
import sys, time, pathlib
place = pathlib.Path(sys.argv[1])
for number in range(100_000):
    (place / "checkpoint").write_text(str(number))
    time.sleep(0.02)
"""
    out = tmp_path / "out"
    task = python_task(code, str(out), directories=[str(out)], usage_s=0.05, hang_s=1.0)
    replica = make_replica(task)
    replica.api.start()
    replica.run()
    wait_until(lambda: bool(samples(replica)) and samples(replica)[-1]["s"] > 3, "3 seconds")
    last = samples(replica)[-1]
    assert last["quiet_s"] < last["s"] - 1, "not quiet since its start"
    replica.process.send_signal(signal.SIGTERM)
    replica.finish()


def test_gpus_are_asked_and_may_give_no_answer(
    make_replica: Callable[..., Supervised], tmp_path: Path
) -> None:
    tool = tmp_path / "bin" / "nvidia-smi"
    tool.parent.mkdir()
    tool.write_text("#!/bin/sh\necho 1, 42, 100\n")
    tool.chmod(0o755)
    environment = [["CUDA_VISIBLE_DEVICES", "1"]]
    code = "import sys, time; time.sleep(600)"
    task = python_task(code, usage_s=0.05, gpus=True, environment=environment)
    replica = make_replica(task)
    replica.api.start()
    replica.run(PATH=f"{tool.parent}:{os.environ['PATH']}")
    expected = [{"id": "1", "percent": 42, "memory_bytes": 100 << 20}]
    wait_until(lambda: any(s.get("gpus") == expected for s in samples(replica)), "GPUs")
    tool.write_text("#!/bin/sh\nexit 1\n")
    wait_until(lambda: "gpus" not in samples(replica)[-1], "samples without GPUs")
    replica.process.send_signal(signal.SIGTERM)
    replica.finish()


def program_of(replica: Supervised) -> int:
    """The process that works in the replica's directory."""
    work = (replica.home / "work").resolve()
    for directory in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            if (directory / "cwd").readlink() == work:
                return int(directory.name)
    raise AssertionError("no process of the program was found")
