"""Clusters and searches whose replicas are containers."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import JobName
from tests.e2e.containers.container_context import ContainerContext
from tests.e2e.service.tuning_helpers import search, trials
from tests.unit.replica_metrics import event_writer

MEET = """
import json, os, socket, time

cluster = json.loads(os.environ["CLUSTER_SPEC"])
config = json.loads(os.environ["TF_CONFIG"])
task = cluster["task"]
me = "%s-%d" % (task["type"], task["index"])
places = {
    "%s-%d" % (role, index): place.split(":")
    for role, members in cluster["cluster"].items()
    for index, place in enumerate(members)
}

def greet(host, port):
    end = time.monotonic() + 60
    while True:
        try:
            with socket.create_connection((host, int(port))) as peer:
                peer.sendall(me.encode())
            return
        except ConnectionRefusedError:
            assert time.monotonic() < end, (host, port)
            time.sleep(0.02)

with socket.socket() as server:
    server.bind(("", int(places[me][1])))
    server.listen()
    for name in places.keys() - {me}:
        greet(*places[name])
    met = sorted(server.accept()[0].makefile().read() for _ in range(len(places) - 1))
shown = {
    "me": me, "met": met, "roles": sorted(config["cluster"]), "as": config["task"]["type"],
    "rank": os.environ["RANK"], "world": os.environ["WORLD_SIZE"],
}
print(json.dumps(shown), flush=True)
"""


def met(context: ContainerContext, name: JobName) -> dict[str, dict[str, object]]:
    """What each replica of a job has printed, which is one line of JSON."""
    return {line.replica: json.loads(line.message) for line in context.lines(name)}


def test_a_gang_of_three_meets_over_sockets(each: ContainerContext) -> None:
    container = {"imageUri": each.image, "command": ["python3", "-c", MEET]}
    name = each.submit_custom(
        {"containerSpec": container}, {"containerSpec": container, "replicaCount": "2"}
    )
    each.wait_for(name, State.SUCCEEDED)

    found = met(each, name)
    assert {replica: said["met"] for replica, said in found.items()} == {
        "workerpool0-0": ["workerpool1-0", "workerpool1-1"],
        "workerpool1-0": ["workerpool0-0", "workerpool1-1"],
        "workerpool1-1": ["workerpool0-0", "workerpool1-0"],
    }
    assert [found[replica]["rank"] for replica in sorted(found)] == ["0", "1", "2"]
    assert all(said["roles"] == ["chief", "worker"] for said in found.values())


@pytest.mark.parametrize("chief", [False, True])
def test_the_roles_of_an_ml_job_inherit_the_masters_image(
    shared: ContainerContext,
    chief: bool,  # noqa: FBT001  parametrized
) -> None:
    workers = {"workerType": "n1-standard-4", "workerCount": "1"}
    command = {"containerCommand": ["python3", "-c", MEET], "containerArgs": []}
    name = shared.submit(
        "",
        masterConfig=command,
        workerConfig=command,
        useChiefInTfConfig=chief,
        **workers,
    )
    shared.wait_for(name, State.SUCCEEDED)

    found = met(shared, name)
    first = "chief" if chief else "master"
    assert found["master-replica-0"]["as"] == first
    assert found["worker-replica-0"]["as"] == "worker"
    assert all(said["roles"] == sorted([first, "worker"]) for said in found.values())
    assert all(said["world"] == "2" for said in found.values())


MEASURE = """
import argparse, json, os, time
parser = argparse.ArgumentParser()
parser.add_argument("--x", type=float)
given, _ = parser.parse_known_args()
trial = int(os.environ["CLOUD_ML_TRIAL_ID"])
place = os.environ["CLOUD_ML_HP_METRIC_FILE"]
if trial % 2:  # cloudml-hypertune's own default
    place = "/tmp/hypertune/output.metrics"
with open(place, "w") as file:
    body = {"timestamp": time.time(), "trial": str(trial), "global_step": "1", "loss": str(given.x)}
    file.write(json.dumps(body) + chr(10))
"""


def test_a_search_of_eight_trials(shared: ContainerContext) -> None:
    name = shared.submit(MEASURE, hyperparameters=search(8, 4))
    shared.wait_for(name, State.SUCCEEDED)

    found = trials(shared, name)
    assert [trial.number for trial in found] == list(range(1, 9))
    for trial in found:
        assert trial.final is not None
        assert trial.final.values["loss"] == pytest.approx(trial.parameters["x"])


def test_a_trial_measured_by_an_event_file_in_its_working_directory(
    shared: ContainerContext, tmp_path: Path
) -> None:
    point = event_writer.event(event_writer.simple("loss", 0.25), step=3)
    written = event_writer.write(tmp_path / "events", point).read_bytes()
    image = shared.engine.derive("trainers/user:2", "USER trainer", "WORKDIR /home/trainer")
    source = (
        "import os, pathlib\n"
        "pathlib.Path('runs/1').mkdir(parents=True)\n"
        f"pathlib.Path('runs/1/events.out.tfevents.1.host').write_bytes({written!r})\n"
    )
    name = shared.submit(source, masterConfig={"imageUri": image}, hyperparameters=search(1, 1))
    shared.wait_for(name, State.SUCCEEDED)

    [trial] = trials(shared, name)
    assert trial.final is not None
    assert trial.final.values["loss"] == pytest.approx(0.25)
