"""The replicas of a job that trains one model together, and the rows that each of them reads."""

from __future__ import annotations

import json
import os
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from footplate_algorithms.csv_rows import CsvFiles

TIMEOUT_S = 300
_PRIMARY = ("chief", "master")


@dataclass(frozen=True)
class Cluster:
    """This replica's place among the ``size`` replicas of a job.

    ``index`` is 0 for the primary one, whose address is ``host:port``.
    """

    index: int = 0
    size: int = 1
    host: str = ""
    port: int = 0

    @property
    def primary(self) -> bool:
        return self.index == 0

    def files(self, data: CsvFiles) -> tuple[Sequence[str], int, int]:
        """Returns the files to read, the first row to use, and the distance to the next.

        Each replica reads files of its own if there are enough, otherwise a share of all rows.
        """
        if len(data.paths) >= self.size:
            return data.paths[self.index :: self.size], 0, 1
        return data.paths, self.index, self.size


def read_cluster(text: str | None) -> Cluster:
    """Reads the value of TF_CONFIG; without one the job has one replica."""
    config = json.loads(text) if text else {}
    described = config.get("cluster") or {}
    task = config.get("task") or {}
    members = [
        (role, number, address)
        for role in (*_PRIMARY, "worker")
        for number, address in enumerate(described.get(role, ()))
    ]
    if len(members) < 2:
        return Cluster()
    own = task.get("type"), int(task.get("index", 0))
    index = next(i for i, (role, number, _) in enumerate(members) if (role, number) == own)
    host, _, port = members[0][2].rpartition(":")
    return Cluster(index, len(members), host.strip("[]"), int(port))


@contextmanager
def joined(cluster: Cluster) -> Iterator[None]:
    """Context manager in which XGBoost sums over all replicas; the primary one connects them."""
    if cluster.size == 1:
        yield
        return
    import xgboost.collective  # in the runtimes; a job with one replica does without
    import xgboost.tracker

    tracker = None
    if cluster.primary:
        tracker = xgboost.tracker.RabitTracker(
            n_workers=cluster.size,
            host_ip=cluster.host,
            port=cluster.port,
            sortby="task",
            timeout=TIMEOUT_S,
        )
        tracker.start()
    arguments = {
        "dmlc_communicator": "rabit",
        "dmlc_tracker_uri": cluster.host,
        "dmlc_tracker_port": cluster.port,
        "dmlc_task_id": f"{cluster.index:06d}",
        "dmlc_retry": 30,
        "dmlc_timeout": TIMEOUT_S,
    }
    with xgboost.collective.CommunicatorContext(**arguments):
        yield
    if tracker is not None:
        tracker.wait_for()


def own_cluster() -> Cluster:
    return read_cluster(os.environ.get("TF_CONFIG"))
