"""Jobs that are container images, run by Apptainer on the nodes of a real Slurm."""

from __future__ import annotations

import base64
import json
import secrets
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import httpx
import pytest

from footplate.domain.job_states import State
from footplate.domain.names import JobName
from footplate.testing.service import running_service
from tests.e2e.containers.test_slurm import end_at_once, processes_of
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.support.engines import PrivateRegistry, private_registry, push_archive
from tests.support.engines.apptainer import require_apptainer
from tests.support.engines.python_image import small_python_files
from tests.support.engines.requirements import require_registry
from tests.support.slurm import PARTITION, SlurmCluster

REGION = "europe-west4"
SETTINGS = """\
[[regions]]
name = "{region}"
backend = "slurm"
partition = "{partition}"
scratch = "{folder}/scratch"
shared = "{folder}/shared"
containers = "apptainer"

[regions.machines]
"*" = "--cpus-per-task=1 --mem-per-cpu=200"
"""
LOGIN = ("ada", "pass word")
IMAGE_SETTINGS = {
    "Cmd": ["python3", "-c", "print('the image says so')"],
    "Env": [
        "PATH=/usr/local/bin:/usr/bin:/bin",
        "LD_LIBRARY_PATH=/usr/local/lib",
        "ODD=a b'\"$HOME `id`",
        "GIVEN=by the image",
    ],
    "WorkingDir": "/home/trainer",
}
HOSTILE = "$(touch /gcs/stage/owned) `id` \"';\\ \n$HOME"
SEES = """\
import json, os, sys
for name in ("made", "/root/made", "/usr/made", "/tmp/made", "/gcs/stage/made"):
    with open(name, "w") as file:
        file.write("x")
said = {name: os.environ.get(name) for name in ("ODD", "GIVEN", "HOSTILE", "HOME", "TF_CONFIG")}
said.update(args=sys.argv[1:], cwd=os.getcwd(), user=os.getuid(), host=os.path.exists(sys.argv[1]))
print(json.dumps(said))
"""
MEETS = """\
import json, os, time
os.makedirs("/gcs/stage/peers", exist_ok=True)
open("/gcs/stage/peers/" + json.loads(os.environ["CLUSTER_SPEC"])["task"]["type"], "w").close()
while len(os.listdir("/gcs/stage/peers")) < 2:
    time.sleep(0.1)
print("all are there")
"""
SLEEPS = "import time; print('sleeps', flush=True); time.sleep(600)"


@dataclass
class Rig:
    context: Context
    registry: PrivateRegistry
    image: str
    folder: Path

    def run(
        self, *command: str, image: str = "", env: dict[str, str] | None = None, **spec: object
    ) -> JobName:
        container: dict[str, Any] = {"imageUri": image or self.image}
        if command:
            container["command"] = list(command)
        if env:
            container["env"] = [{"name": name, "value": value} for name, value in env.items()]
        pool = {
            "containerSpec": container,
            "machineSpec": {"machineType": "n1-standard-4"},
            "replicaCount": "1",
        }
        body: Any = {"displayName": "an image", "jobSpec": {"workerPoolSpecs": [pool], **spec}}
        with self.context.client() as client:
            return client.custom_jobs.create("demo", REGION, body).name

    def told(self, name: JobName, kind: str) -> list[str]:
        with self.context.client() as client:
            return [event.message for event in client.events(name) if event.kind == kind]


@pytest.fixture(scope="module")
def rig(slurm: SlurmCluster, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Rig]:
    """A region whose nodes have Apptainer, and a registry that wants a password."""
    require_apptainer()
    require_registry()
    folder = tmp_path_factory.mktemp("apptainer")
    data, home = folder / "data", folder / "home"
    (home / ".docker").mkdir(parents=True)
    data.mkdir()
    text = SETTINGS.format(region=REGION, partition=PARTITION, folder=folder)
    (data / "footplate.toml").write_text(text)
    settings = {
        "stop_grace_s": 1,
        "cluster_address": "127.0.0.1:0",
        "container_engine": "none",
        "max_retries": 0,
    }
    with (
        pytest.MonkeyPatch.context() as patch,
        private_registry(folder / "registry", dict([LOGIN])) as registry,
    ):
        image = push_archive(
            registry, "trainers/python", small_python_files(), IMAGE_SETTINGS, login=LOGIN
        )
        auth = base64.b64encode(":".join(LOGIN).encode()).decode()
        config = {"auths": {registry.host: {"auth": auth}}}
        (home / ".docker" / "config.json").write_text(json.dumps(config))
        patch.setenv("SLURM_CONF", slurm.environment["SLURM_CONF"])
        patch.setenv("HOME", str(home))
        with running_service(data, CACHE, **settings) as service:
            rig = Rig(Context(service), registry, image, folder)
            rig.context.wait_for(rig.run("true"))  # makes the image's file, which takes long
            yield rig
            slurm.cancel_all()


def test_an_image_runs_as_it_would_in_an_engine(rig: Rig) -> None:
    secret = rig.folder / "secret"
    secret.write_text("of the node")
    words = [str(secret), "two words", "$HOME", ""]
    env = {"GIVEN": "by the job", "HOSTILE": HOSTILE}
    name = rig.run("python3", "-c", SEES, *words, env=env)
    assert rig.context.wait_for(name).state is State.SUCCEEDED, rig.context.messages(name)
    [line] = rig.context.messages(name)
    assert json.loads(line) == {
        "ODD": "a b'\"$HOME `id`",
        "GIVEN": "by the job",
        "HOSTILE": HOSTILE,
        "HOME": "/root",
        "TF_CONFIG": None,
        "args": words,
        "cwd": "/home/trainer",
        "user": 0,
        "host": False,
    }
    bucket = rig.folder / "data/buckets" / BUCKET
    assert (bucket / "made").exists()
    assert not (bucket / "owned").exists(), "a value has met a shell"
    assert any("runs the image" in text for text in rig.told(name, "IMAGE")), "its digest"
    assert any("apptainer version" in text for text in rig.told(name, "ISOLATION"))


def test_the_image_says_what_runs_and_its_end_is_the_jobs(rig: Rig) -> None:
    own, bad, killed = rig.run(), rig.run("sh", "-c", "exit 7"), rig.run("sh", "-c", "kill -11 $$")
    assert rig.context.wait_for(own).state is State.SUCCEEDED
    assert rig.context.messages(own) == ["the image says so"]
    assert "7" in (rig.context.wait_for(bad, State.FAILED).error_message or "")
    assert "SIGSEGV" in (rig.context.wait_for(killed, State.FAILED).error_message or "")
    files = sorted(path.suffix for path in (rig.folder / "shared/footplate/sif").iterdir())
    assert files == [".json", ".lock", ".sif"], "one image, downloaded once"


def test_the_replicas_of_a_gang_find_each_other(rig: Rig) -> None:
    pool: Any = {
        "containerSpec": {"imageUri": rig.image, "command": ["python3", "-c", MEETS]},
        "machineSpec": {"machineType": "n1-standard-4"},
        "replicaCount": "1",
    }
    body: Any = {"displayName": "a gang", "jobSpec": {"workerPoolSpecs": [pool, pool]}}
    with rig.context.client() as client:
        name = client.custom_jobs.create("demo", REGION, body).name
    assert rig.context.wait_for(name).state is State.SUCCEEDED
    assert "all are there" in rig.context.messages(name)


def test_a_program_that_is_not_in_the_image_is_named(rig: Rig) -> None:
    failed = rig.context.wait_for(rig.run("/no/program"), State.FAILED)
    assert "/no/program" in (failed.error_message or "")


def test_an_image_that_is_in_no_registry_is_named(rig: Rig) -> None:
    image = f"{rig.registry.host}/trainers/none:1"
    failed = rig.context.wait_for(rig.run(image=image), State.FAILED)
    assert f"has no image {image}" in (failed.error_message or "")


def test_a_container_ends_with_its_job(rig: Rig, slurm: SlurmCluster) -> None:
    source = f"{SLEEPS} # {secrets.token_hex(8)}"
    name = rig.run("python3", "-c", source)
    rig.context.until(lambda: "sleeps" in rig.context.messages(name))
    assert processes_of(source)
    with rig.context.client() as client:
        client.cancel(name)
    assert rig.context.wait_for(name, State.CANCELLED).state is State.CANCELLED
    assert not processes_of(source)
    rig.context.until(lambda: not slurm.command("squeue", "-h", "-o", "%i").strip())


def test_a_program_hears_that_it_is_to_end(rig: Rig) -> None:
    source = (
        "import signal, sys, time\n"
        "signal.signal(signal.SIGTERM, lambda *_: (print('hears', flush=True), sys.exit(0)))\n"
        "print('sleeps', flush=True)\ntime.sleep(600)"
    )
    name = rig.run("python3", "-c", source)
    rig.context.until(lambda: "sleeps" in rig.context.messages(name))
    with rig.context.client() as client:
        client.cancel(name)
    rig.context.wait_for(name, State.CANCELLED)
    assert rig.context.messages(name) == ["sleeps", "hears"]


def test_no_container_outlives_the_kill_of_all_processes_of_its_job(rig: Rig) -> None:
    source = f"{SLEEPS} # {secrets.token_hex(8)}"
    name = rig.run("python3", "-c", source)
    rig.context.until(lambda: "sleeps" in rig.context.messages(name))
    inside = processes_of(source)
    end_at_once(processes_of(f"{rig.folder}/scratch/launchers/") - inside)
    rig.context.until(lambda: rig.context.messages(name).count("sleeps") == 2)
    assert not inside & processes_of(source)
    with rig.context.client() as client:
        client.cancel(name)
    rig.context.wait_for(name, State.CANCELLED)


def test_the_check_of_the_region_names_the_command(rig: Rig) -> None:
    url = f"{rig.context.url}/footplate/v1/regions/{REGION}/check"
    found = httpx.get(url, timeout=60).json()
    assert "has apptainer version" in str(found), found
