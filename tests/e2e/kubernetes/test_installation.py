"""The chart, installed with its own images: the service and its jobs are Pods of one cluster."""

from __future__ import annotations

import json
import re
import subprocess
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path

import pytest
import yaml

from tests.support.chart_images import SERVICE, save_chart_images
from tests.support.engines.requirements import require_engine
from tests.support.environments import make_wheel
from tests.support.kubernetes import require_kubernetes
from tests.support.kubernetes_pods import (
    PodNetwork,
    kubernetes_with_pod_network,
    require_pod_network,
)
from tests.support.machines import require_machines
from tests.support.short_folder import short_folder

RENDERED = Path(__file__).resolve().parents[3] / "deploy" / "rendered.yaml"
NAMESPACE = "training"
PATIENCE_S = 240
SERVER = "app.kubernetes.io/component=server"
IMAGES = "jsonpath={.items[*].spec.containers[0].image}"
COUNTS = """\
import socket, sys, time
print("runs in", socket.gethostname(), flush=True)
last = int(sys.argv[-1])
for number in range(last):
    print("line", number, flush=True)
    time.sleep(0.5)
"""
ASK = """\
import urllib.error, urllib.request
headers = {"Host": "train.example.com"}
call = urllib.request.Request("http://footplate:8470/healthz", headers=headers)
try:
    print(urllib.request.urlopen(call).status)
except urllib.error.HTTPError as error:
    print(error.code)
"""


class Installation:
    """What the chart makes, and a Pod beside it with the command line."""

    def __init__(self, network: PodNetwork) -> None:
        self._network = network

    def kubectl(self, *words: str, given: bytes | None = None) -> str:
        return self._network.cluster.kubectl("-n", NAMESPACE, *words, given=given)

    def apply(self, text: str) -> None:
        self.kubectl("apply", "-f", "-", given=text.encode())
        self.wait_until_rolled_out()

    def wait_until_rolled_out(self) -> None:
        for name in ("footplate-postgresql", "footplate"):
            self.kubectl("rollout", "status", f"statefulset/{name}", "--timeout=240s")

    def start_client(self, trainer: Path) -> None:
        variables = ("--env=FOOTPLATE_URL=http://footplate:8470", "--env=FOOTPLATE_TOKEN=a-token")
        image = (f"--image={SERVICE}", "--image-pull-policy=Never", *variables)
        self.kubectl("run", "client", *image, "--command", "--", "sleep", "infinity")
        self.kubectl("wait", "--for=condition=Ready", "pod/client", "--timeout=60s")
        place = f"/tmp/{trainer.name}"
        store = ("exec", "-i", "client", "--", "sh", "-c", f"cat > {place}")
        self.kubectl(*store, given=trainer.read_bytes())
        self._packages = f"--packages={place}"

    def footplate(self, *words: str) -> str:
        """The command, which reaches the service by the name of its Service."""
        return self.kubectl("exec", "client", "--", "footplate", *words)

    def submit(self, job: str, lines: int) -> None:
        target = ("--staging-bucket=gs://stage", "--region=us-central1")
        module = (self._packages, "--module-name=trainer.task")
        words = ("ai-platform", "jobs", "submit", "training", job)
        self.footplate(*words, *module, *target, "--", str(lines))

    def describe(self, job: str) -> dict[str, object]:
        words = ("ai-platform", "jobs", "describe", job, "--format=json")
        return dict(json.loads(self.footplate(*words)))

    def lines(self, job: str) -> Iterator[str]:
        """As they come, to the job's end."""
        command = ("timeout", str(PATIENCE_S), *self._network.cluster.command("-n", NAMESPACE))
        words = ("exec", "client", "--", "footplate", "ai-platform", "jobs", "stream-logs", job)
        with subprocess.Popen((*command, *words), stdout=subprocess.PIPE, text=True) as stream:
            assert stream.stdout is not None
            yield from stream.stdout

    def until(self, true: Callable[[], bool]) -> None:
        deadline = time.monotonic() + PATIENCE_S
        while not true():
            assert time.monotonic() < deadline, self.kubectl("describe", "pods")
            time.sleep(0.5)

    def uid(self, name: str) -> str:
        return self.kubectl("get", name, "-o", "jsonpath={.metadata.uid}")

    def pods_of_jobs(self) -> list[str]:
        selector = "app.kubernetes.io/managed-by=footplate"
        return self.kubectl("get", "pods", "-l", selector, "-o", "name").split()


pytestmark = pytest.mark.soak


@pytest.fixture(scope="module")
def installation(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Installation]:
    require_kubernetes()
    require_machines()
    require_pod_network()
    require_engine("podman")
    images = save_chart_images(tmp_path_factory.mktemp("images") / "made")
    with (
        short_folder("k8s") as folder,
        kubernetes_with_pod_network(folder / "rig", images) as network,
    ):
        network.add_volume("data", "ReadWriteMany")
        network.add_volume("postgresql", "ReadWriteOnce")
        found = Installation(network)
        network.cluster.kubectl("create", "namespace", NAMESPACE)
        found.apply(RENDERED.read_text())
        files = {"trainer/__init__.py": "", "trainer/task.py": COUNTS}
        found.start_client(make_wheel(folder, "trainer", files=files))
        found.footplate("storage", "buckets", "create", "gs://stage")
        yield found


def test_a_job_is_a_pod_of_the_same_cluster(installation: Installation) -> None:
    installation.submit("first", lines=3)
    lines = list(installation.lines("first"))
    assert installation.describe("first")["state"] == "SUCCEEDED", lines
    assert numbers(lines) == [0, 1, 2]
    (pod,) = installation.pods_of_jobs()
    assert any(f"runs in {pod.removeprefix('pod/')}" in line for line in lines)


def test_what_the_administrator_is_told_is_true(installation: Installation) -> None:
    said = installation.footplate("regions", "check")
    assert "1 of 1 are ready" in said
    assert "may not" not in said


def test_a_job_goes_on_while_the_pod_of_the_service_is_another(installation: Installation) -> None:
    installation.submit("second", lines=120)
    before = installation.uid("pod/footplate-0")
    lines = []
    for line in installation.lines("second"):
        lines.append(line)
        if numbers([line]) == [3]:
            installation.kubectl("delete", "pod", "footplate-0")
    assert installation.uid("pod/footplate-0") != before
    assert installation.describe("second")["state"] == "SUCCEEDED", lines
    assert numbers(lines) == list(range(120))


def test_an_upgrade_mends_one_whose_pod_never_gets_ready(installation: Installation) -> None:
    broken = RENDERED.read_text().replace(f'image: "{SERVICE}"', 'image: "example.com/nowhere:1"')
    installation.kubectl("apply", "-f", "-", given=broken.encode())
    installation.until(
        lambda: "nowhere" in installation.kubectl("get", "pods", "-l", SERVER, "-o", IMAGES)
    )
    installation.apply(RENDERED.read_text())
    assert installation.kubectl("get", "pods", "-l", SERVER, "-o", IMAGES) == SERVICE


def test_changed_values_are_taken_up_and_jobs_stay(installation: Installation) -> None:
    ask = ("exec", "client", "--", "python3", "-c", ASK)
    assert installation.kubectl(*ask) == "403\n"
    text = RENDERED.read_text().replace(
        "allowed_hosts = [", 'allowed_hosts = ["train.example.com",'
    )
    installation.apply(re.sub("(footplate.dev/settings: ).*", r"\1changed", text))
    assert installation.kubectl(*ask) == "200\n"
    assert installation.describe("first")["state"] == "SUCCEEDED"
    assert numbers(installation.lines("first")) == [0, 1, 2]


def test_volumes_are_kept_for_the_next_installation(installation: Installation) -> None:
    """As ``helm uninstall`` does it, but for what the chart tells it to keep."""
    objects = [each for each in yaml.safe_load_all(RENDERED.read_text()) if each]
    kept = [each for each in objects if "annotations" in each["metadata"]]
    assert [each["metadata"]["name"] for each in kept] == ["footplate-data"]
    gone = yaml.safe_dump_all(each for each in objects if each not in kept)
    installation.kubectl("delete", "-f", "-", given=gone.encode())
    installation.apply(RENDERED.read_text())
    assert numbers(installation.lines("first")) == [0, 1, 2]
    installation.submit("third", lines=1)
    assert numbers(installation.lines("third")) == [0]


def numbers(lines: Iterable[str]) -> list[int]:
    return [int(found[1]) for line in lines if (found := re.search(r"\bline (\d+)$", line))]
