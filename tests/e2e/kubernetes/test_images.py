"""Jobs whose programs are images, in the Pods of a real Kubernetes.

The image has one static program, and no Python, shell or libc.
"""

from __future__ import annotations

import io
import json
import os
import signal
import subprocess
import tarfile
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import CustomJobName
from footplate.testing.service import running_service
from tests.e2e.kubernetes.test_service import REGION, make_data
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.support.engines import PrivateRegistry, push_archive
from tests.support.engines.python_image import LIBRARIES, PATHS, python_files
from tests.support.engines.registry import private_registry
from tests.support.engines.requirements import require_registry
from tests.support.kubernetes import Kubernetes
from tests.support.kubernetes_rig import pod_template

SOURCE = Path(__file__).parents[2] / "support" / "static_program.c"
OWN = {
    "Entrypoint": ["/bin/train", "first"],
    "Cmd": ["$(HOME) and $$"],
    "Env": [
        "PATH=/bin",
        "COLOUR=red",
        "LD_LIBRARY_PATH=/own/libraries",
        "LD_PRELOAD=/footplate/evil.so",
        "FOOTPLATE_IMAGE={}",
    ],
    "WorkingDir": "/srv/model",
    "User": "1000:1000",
}


class ImageContext(Context):
    image: str

    def run(
        self, *pools: dict[str, Any], shells: bool = False, **container: object
    ) -> CustomJobName:
        """A custom job of one replica with this ``containerSpec``, and further pools."""
        machine = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
        spec = {"imageUri": self.image, **container}
        found = [{**machine, "containerSpec": spec}, *({**machine, **pool} for pool in pools)]
        job = {"workerPoolSpecs": found, "enableWebAccess": shells}
        body: Any = {"displayName": "an image", "jobSpec": job}
        with self.client() as client:
            made = client.custom_jobs.create("demo", REGION, body)
        assert isinstance(made.name, CustomJobName)
        return made.name

    def events(self, name: CustomJobName, words: str) -> list[str]:
        """Those with these words."""
        with self.client() as client:
            return [each.message for each in client.events(name) if words in each.message]

    def variables(self, name: CustomJobName, replica: str = "workerpool0-0") -> dict[str, str]:
        texts = [line.message for line in self.lines(name) if line.replica == replica]
        pairs = (each.removeprefix("variable ").partition("=") for each in texts)
        return {key: value for key, equals, value in pairs if equals}


@pytest.fixture(scope="module")
def registry(tmp_path_factory: pytest.TempPathFactory) -> Iterator[PrivateRegistry]:
    require_registry()
    with private_registry(tmp_path_factory.mktemp("images") / "registry") as registry:
        yield registry


@pytest.fixture(scope="module")
def image(registry: PrivateRegistry, tmp_path_factory: pytest.TempPathFactory) -> str:
    program = tmp_path_factory.mktemp("program") / "train"
    command = ("gcc", "-static", "-O1", "-o", program, SOURCE)
    subprocess.run(command, check=True, capture_output=True)
    file = io.BytesIO()
    with tarfile.open(fileobj=file, mode="w") as archive:
        archive.add(program, "bin/train")
        # What the image has where ours is to lie.
        for name in ("footplate/bin/python3", "footplate/ld.so", "footplate/evil.so"):
            archive.add(SOURCE, name)
    file.seek(0)
    roots = {name: value for name, value in OWN.items() if name != "User"}
    push_archive(registry, "team/root", file, roots)
    file.seek(0)
    return push_archive(registry, "team/static", file, OWN)


@pytest.fixture(scope="module")
def python(registry: PrivateRegistry) -> str:
    """An image with a Python and a shell of its own."""
    settings = {"Env": [PATHS, LIBRARIES], "Cmd": ["python3"], "WorkingDir": "/home"}
    return push_archive(registry, "team/python", python_files(), settings)


@pytest.fixture
def context(kubernetes: Kubernetes, image: str, tmp_path: Path) -> Iterator[ImageContext]:
    template = pod_template(tmp_path)
    template["spec"]["containers"][0]["imagePullPolicy"] = "IfNotPresent"
    data = make_data(kubernetes, tmp_path, template)
    with running_service(data, CACHE, stop_grace_s=5) as service:
        context = ImageContext(service)
        context.image = image
        yield context
    kubernetes.delete_all()


def test_an_image_without_python_runs_as_it_was_made(context: ImageContext) -> None:
    name = context.run()
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    lines = context.messages(name)
    assert [line for line in lines if line.startswith("argument ")] == [
        "argument first",
        "argument $(HOME) and $$",
    ]
    assert "folder /srv/model" in lines
    assert "user 1000" in lines
    variables = context.variables(name)
    assert variables["COLOUR"] == "red"
    assert variables["LD_LIBRARY_PATH"] == "/own/libraries"
    assert variables["LD_PRELOAD"] == "/footplate/evil.so"
    assert variables["PATH"] == "/bin"
    assert "CLUSTER_SPEC" in variables
    assert variables["CLOUD_ML_PROJECT_ID"] == "demo"
    assert not {"FOOTPLATE_IMAGE", "FOOTPLATE_SCRATCH", "FOOTPLATE_RANK"} & variables.keys()
    assert context.events(name, f"runs the image {context.image} as sha256:")


def test_arguments_variables_and_buckets_reach_the_program(context: ImageContext) -> None:
    (context.bucket / "note.txt").write_text("from the bucket\n")
    name = context.run(
        imageUri=context.image.replace("static", "root"),  # who may read the buckets of this test
        command=["train"],
        args=["$(COLOUR)", f"read=/gcs/{BUCKET}/note.txt"],
        env=[{"name": "COLOUR", "value": "blue"}, {"name": "LD_LIBRARY_PATH", "value": "/job"}],
    )
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    lines = context.messages(name)
    assert "argument blue" in lines
    assert "argument first" not in lines
    assert "read from the bucket" in lines
    variables = context.variables(name)
    assert (variables["COLOUR"], variables["LD_LIBRARY_PATH"]) == ("blue", "/job")


def test_an_exit_code_is_the_programs(context: ImageContext) -> None:
    name = context.run(args=["exit=3"])
    ended = context.wait_for(name, State.FAILED)
    assert "3" in (ended.error_message or "")
    assert "the model is too small" in context.messages(name)


def test_a_gang_of_two_starts_together(context: ImageContext) -> None:
    """Neither ends: with the first one its job would, and the other be stopped."""
    name = context.run(
        {"containerSpec": {"imageUri": context.image, "args": ["sleep"]}}, args=["sleep"]
    )
    context.until(lambda: context.messages(name).count("sleeps") == 2)
    found = [context.variables(name, f"workerpool{n}-0") for n in (0, 1)]
    with context.client() as client:
        client.custom_jobs.cancel(name)
    clusters = [json.loads(each["CLUSTER_SPEC"]) for each in found]
    assert clusters[0]["cluster"] == clusters[1]["cluster"]
    assert [each["RANK"] for each in found] == ["0", "1"]
    context.wait_for(name, State.CANCELLED)


def test_a_job_that_is_cancelled_stops_its_program(context: ImageContext) -> None:
    name = context.run(args=["sleep"])
    context.until(lambda: "sleeps" in context.messages(name))
    with context.client() as client:
        client.custom_jobs.cancel(name)
    context.wait_for(name, State.CANCELLED)
    assert "told to stop" in context.messages(name)


def test_an_image_that_is_not_there_makes_the_job_wait_and_say_so(context: ImageContext) -> None:
    absent = context.image.replace("static", "absent")
    name = context.run(imageUri=absent)
    context.until(lambda: bool(context.events(name, f"has no image {absent}")))
    with context.client() as client:
        client.custom_jobs.cancel(name)
    context.wait_for(name, State.CANCELLED)


def test_shells_and_restarts_are_those_of_other_replicas(
    context: ImageContext, python: str
) -> None:
    source = (
        "import os, time\n"
        "print('up', os.environ['FOOTPLATE_RESTART'], flush=True)\n"
        "while os.environ['FOOTPLATE_RESTART'] == '0': time.sleep(0.05)"
    )
    name = context.run(shells=True, imageUri=python, command=["python3", "-c", source])
    context.until(lambda: "up 0" in context.messages(name))
    with context.client() as client:
        context.until(lambda: bool(client.job(name).resource.get("webAccessUris")))
    command = ("ai", "custom-jobs", "ssh", name.job_id, f"--region={REGION}")
    said = context.run_cli(*command, "--command=pwd; echo $LD_LIBRARY_PATH")
    assert said.split() == ["/home", "/usr/local/lib"]
    os.kill(find_supervisor(), signal.SIGKILL)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert [line for line in context.messages(name) if line.startswith("up")] == ["up 0", "up 1"]


def find_supervisor() -> int:
    """The one of the Pod that runs."""
    for folder in Path("/proc").glob("[0-9]*"):
        with suppress(OSError):
            words = (folder / "cmdline").read_bytes().split(b"\0")
            if b"run" in words and any(w.startswith(b"/footplate/scratch/l") for w in words):
                return int(folder.name)
    raise AssertionError("there is no supervisor")
