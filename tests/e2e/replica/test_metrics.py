"""What real programs report of their metrics, as the server gets it."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.support.supervisor_process import Supervised, python_task
from tests.unit.replica_metrics.event_writer import event, simple, write

HYPERTUNE = """
import json, os, time

class HyperTune:  # as cloudml-hypertune 0.1.0.dev6 does it
    def __init__(self):
        self.path, self.lines = os.environ["CLOUD_ML_HP_METRIC_FILE"], []
    def tell(self, tag, value, step):
        body = {"timestamp": time.time(), "trial": "0", tag: str(float(value))}
        self.lines = [*self.lines[-99:], {**body, "global_step": str(step)}]
        with open(self.path, "w") as file:
            file.writelines(json.dumps(line, sort_keys=True) + "\\n" for line in self.lines)

reporter = HyperTune()
for step, value in enumerate([0.5, "nan", "inf"]):
    reporter.tell("val acc", value, step)
    reporter.tell("loss", 2.0, step)
"""
WAITING = """
while not os.path.exists("go"):
    time.sleep(0.01)
"""
MEMORY_LIMIT_KB = 15 * 1024


def metrics(replica: Supervised) -> list[tuple[str, str, int, object]]:
    return [
        (record["tag"], record["source"], record["step"], record["value"])
        for record in replica.api.records
        if record["k"] == "metric"
    ]


def test_hypertune_on_every_containment_mode(
    make_replica: Callable[..., Supervised], containment_mode: str
) -> None:
    """Also what it reported last, before its end."""
    replica = make_replica(python_task(HYPERTUNE, metrics=["val acc"]), isolation=containment_mode)
    assert replica.supervise()["code"] == 0
    values = [0.5, "NaN", "Infinity"]
    found = [("val acc", "hypertune", step, value) for step, value in enumerate(values)]
    assert metrics(replica) == found
    assert [record["k"] for record in replica.api.records][-1] == "exit"


def test_event_files_where_a_program_writes_them(
    make_replica: Callable[..., Supervised], containment_mode: str, tmp_path: Path
) -> None:
    written = write(tmp_path / "tfevents", event(simple("loss", 0.5), step=3)).read_bytes()
    job_dir = tmp_path / "job-dir"
    code = f"""
import os, sys
for folder in ("logs/scalars", sys.argv[1] + "/eval"):
    os.makedirs(folder)
    with open(folder + "/events.out.tfevents.1", "wb") as file:
        file.write({written!r})
os._exit(3)
"""
    task = python_task(code, str(job_dir), directories=[str(job_dir)], metrics=["loss"])
    replica = make_replica(task, isolation=containment_mode)
    assert replica.supervise()["code"] == 3
    assert metrics(replica) == [("loss", "eval", 3, 0.5), ("loss", "logs/scalars", 3, 0.5)]


def test_metrics_are_told_while_the_program_runs(
    make_replica: Callable[..., Supervised], tmp_path: Path
) -> None:
    replica = make_replica(python_task(HYPERTUNE + WAITING, metrics=["loss"]))
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: len(metrics(replica)) == 3)
    write(replica.home / "work" / "tfevents", event(simple("loss", 0.5), step=9))
    replica.api.wait_for(lambda: len(metrics(replica)) == 4)
    (replica.home / "work" / "go").touch()
    replica.finish()
    assert [step for _, _, step, _ in metrics(replica)] == [0, 1, 2, 9]


def test_the_tags_that_there_were_instead(make_replica: Callable[..., Supervised]) -> None:
    replica = make_replica(python_task(HYPERTUNE, metrics=["accuracy"]))
    replica.supervise()
    assert metrics(replica) == []
    (tags, end) = replica.api.records[-2:]
    assert (tags["k"], tags["tags"], end["k"]) == ("tags", ["loss", "val acc"], "exit")


def test_nobody_asks_for_metrics(make_replica: Callable[..., Supervised]) -> None:
    replica = make_replica(python_task(HYPERTUNE))
    replica.supervise()
    assert not {"metric", "tags"} & {record["k"] for record in replica.api.records}


HOSTILE = """
import os, struct, sys
path = os.environ["CLOUD_ML_HP_METRIC_FILE"]
os.mkfifo(path)
os.mkfifo("tfevents.pipe")
os.symlink("/dev/zero", "tfevents.zero")
os.symlink("/", "root")
with open("tfevents.huge", "wb") as file:
    file.truncate(1 << 40)
with open("tfevents.bad", "wb") as file:
    file.write(os.urandom(1 << 20))
deep = "deep"
for _ in range(200):
    os.mkdir(deep)
    deep += "/x"
for number in range(3000):
    os.symlink("tfevents.bad", "tfevents.%d" % number)
os._exit(0)
"""


def test_a_hostile_program_ends_all_the_same(make_replica: Callable[..., Supervised]) -> None:
    replica = make_replica(python_task(HOSTILE, metrics=["loss"]))
    end = replica.supervise()
    assert (end["kind"], end["code"]) == ("EXITED", 0)
    notes = [record["m"] for record in replica.api.records if record.get("kind") == "METRICS"]
    assert len(notes) == 2
    assert all("the service stops reading" in note for note in notes)


@pytest.mark.skipif(not sys.platform.startswith("linux"), reason="reads /proc")
@pytest.mark.parametrize("asked", [(), ("loss",)], ids=["without", "with"])
def test_memory_while_a_program_reports(
    make_replica: Callable[..., Supervised], asked: tuple[str, ...]
) -> None:
    """Resident at most, while 20,000 measurements are read; says how much."""
    code = f"print('here', flush=True)\n{HYPERTUNE}{WAITING}"
    replica = make_replica(python_task(code, metrics=list(asked), usage_s=0.1))
    write(
        replica.home / "work" / "tfevents",
        *(event(simple("loss", float(step)), step=step + 10) for step in range(20_000)),
    )
    replica.api.start()
    replica.run()
    replica.api.wait_for(lambda: replica.api.lines() == ["here"])
    replica.api.wait_for(lambda: len(metrics(replica)) == (20_003 if asked else 0))
    status = Path(f"/proc/{replica.process.pid}/status").read_text()
    (replica.home / "work" / "go").touch()
    replica.finish()
    resident_kb, highest_kb = (read_kb(status, name) for name in ("VmRSS", "VmHWM"))
    print(f"{asked}: resident {resident_kb} kB, at most {highest_kb} kB")
    assert highest_kb < MEMORY_LIMIT_KB


def read_kb(status: str, name: str) -> int:
    return int(status.partition(f"{name}:")[2].split()[0])
