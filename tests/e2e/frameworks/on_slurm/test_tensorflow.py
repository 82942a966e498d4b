"""TensorFlow on machines of a real Slurm: a cluster by their addresses, and its own ``gs://``."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
import yaml

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from tests.e2e.frameworks.conftest import EXAMPLES, Clusters, read_report
from tests.e2e.frameworks.on_slurm.conftest import upload_trainer
from tests.e2e.frameworks.test_idioms import PYTHONS, TENSORS, require_python
from tests.e2e.service.conftest import BUCKET
from tests.support import idioms
from tests.support.slurm import NODES, SlurmMachines

pytestmark = pytest.mark.soak

HERE, THERE = "europe-west4", "us-central1"
FOLDER = EXAMPLES / "tf_mirrored"
SAYS = f"""
    config = json.loads(os.environ["TF_CONFIG"])
    print("CLUSTER", json.dumps(config["cluster"]), flush=True)
    with tf.io.gfile.GFile("gs://{BUCKET}/in/rows.csv") as file:
        print("READ", file.read(), flush=True)
    with tf.io.gfile.GFile("gs://{BUCKET}/by/" + config["task"]["type"], "w") as file:
        file.write("written on a node")
"""
"""What each replica does before it trains."""


def test_a_cluster_on_two_machines_trains_and_opens_buckets(
    clusters: Clusters, machines: SlurmMachines, tmp_path: Path
) -> None:
    with clusters.client() as client:
        client.storage.upload(GcsUri(BUCKET, "in/rows.csv"), b"1,2")
    task = (FOLDER / "trainer" / "task.py").read_text()
    begin = task.index("def main():\n") + len("def main():\n")
    source = task[:begin] + SAYS + task[begin:]
    config = yaml.safe_load((FOLDER / "config.yaml").read_text())["trainingInput"]
    config["packageUris"] = [str(upload_trainer(clusters, tmp_path, source))]
    here = clusters.submit("", region=HERE, **config)  # builds what machines can't download
    assert clusters.wait_for(here).state is State.SUCCEEDED, clusters.messages(here)
    for path in (clusters.bucket / "by").iterdir():
        path.unlink()

    name = clusters.submit("", region=THERE, **config)
    job = clusters.wait_for(name)
    assert job.state is State.SUCCEEDED, (job.error_message, clusters.messages(name))
    report = read_report(clusters.out(name))
    assert report["replicas"] == 2
    assert report["ranks"] == [0, 1]
    assert report["losses"][-1] < report["losses"][0] / 100

    said = clusters.messages(name)
    first, second = (json.loads(line.split(" ", 1)[1]) for line in said if "CLUSTER {" in line)
    assert first == second
    (chief,), (worker,) = first["chief"], first["worker"]
    hosts = {address.partition(":")[0] for address in (chief, worker)}
    assert len(hosts) == 2
    assert hosts < {machines.node_address(node) for node in NODES}
    assert said.count("READ 1,2") == 2
    written = {path.name: path.read_text() for path in (clusters.bucket / "by").iterdir()}
    assert written == dict.fromkeys(("chief", "worker"), "written on a node")


@pytest.mark.parametrize("version", PYTHONS)
def test_idioms_on_a_machine(clusters: Clusters, tmp_path: Path, version: str) -> None:
    """All that is tried on the service's machine, too."""
    with clusters.client() as client:
        client.storage.create_bucket("other", "theirs")
    trainer = upload_trainer(clusters, tmp_path, idioms.make_trainer(TENSORS))
    config: Any = {
        "runtimeVersion": version,
        "pythonVersion": PYTHONS[version],
        "packageUris": [str(trainer)],
    }
    for region in (HERE, THERE):
        name = clusters.submit("", region=region, **config)
        outcome = idioms.wait(clusters, name, clusters.out(name) / "0")
        require_python(outcome.error)
        for _, case in idioms.cases({region: TENSORS}):
            outcome.check(case)
