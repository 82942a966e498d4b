"""Engines as peers: each starts ``replicas`` programs that print a line, without Footplate.

A line is awaited in a file, which is as quick as a watcher of the engine's own could be.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import desk
from kubernetes import client as kubernetes_client
from kubernetes import config as kubernetes_config

from tests.support.client_environments import environment_of
from tests.support.kubernetes import IMAGE, describe_lack_of_kubernetes, private_kubernetes
from tests.support.kubernetes_rig import package_template, pod_template
from tests.support.ray_cluster import running_ray
from tests.support.short_folder import short_folder
from tests.support.slurm import PARTITION, describe_lack_of_slurm, running_slurm

if TYPE_CHECKING:
    from collections.abc import Iterator

PRINT = 'print("hello", flush=True)'
POLL_S = 0.002
TIMEOUT_S = 120.0
CPUS = 8
"""Of the Ray cluster: Slurm and Kubernetes are asked for nothing that could run out."""
DRIVER = """\
import sys
import ray
from ray.util.placement_group import placement_group
from ray.util.scheduling_strategies import PlacementGroupSchedulingStrategy as Place

def write(path):
    with open(path, "w") as file:
        file.write("hello\\n")

folder, replicas = sys.argv[1], int(sys.argv[2])
ray.init(log_to_driver=False)
group = placement_group([{"CPU": 0.1}] * replicas)
ray.get(group.ready())
write = ray.remote(write)
ray.get([
    write.options(num_cpus=0.1, scheduling_strategy=Place(group, rank)).remote(f"{folder}/{rank}")
    for rank in range(replicas)
])
"""


class Peer(Protocol):
    """``region`` are the lines of a region of this engine in Footplate's settings."""

    title: str
    region: str
    host: str
    """The address of this machine that nodes reach."""
    environment: dict[str, str]

    def start(self, replicas: int) -> float:
        """Seconds from the submit until the last replica has printed; then nothing is left."""
        ...


def wait_for_lines(files: list[Path], lines: int) -> None:
    deadline = time.monotonic() + TIMEOUT_S
    while sum(file.read_text().count("\n") for file in files if file.exists()) < lines:
        assert time.monotonic() < deadline, "this takes too long"
        time.sleep(POLL_S)


@dataclass
class Slurm:
    """``sbatch`` of a script, which has one command, or a step with a task for each replica."""

    folder: Path
    region: str
    environment: dict[str, str]
    title: str = "sbatch"
    host: str = "127.0.0.1"
    number: int = 0

    def start(self, replicas: int) -> float:
        started = time.perf_counter()
        wait_for_lines([self.submit(replicas)], replicas)
        took_s = time.perf_counter() - started
        while self.busy("--name=peer"):  # others may wait for jobs of ours
            time.sleep(0.05)
        return took_s

    def submit(self, replicas: int = 1) -> Path:
        """Returns the file of its output, once Slurm has taken it."""
        self.number += 1
        output = self.folder / f"{self.number}.out"
        step = "exec" if replicas == 1 else f"srun --ntasks={replicas}"
        script = f"#!/bin/sh\n{step} {sys.executable} -c '{PRINT}'\n"
        options = ("--parsable", f"--output={output}", "--mem-per-cpu=200", f"--ntasks={replicas}")
        self._run(("sbatch", "--job-name=peer", *options), script)
        return output

    def busy(self, *only: str) -> bool:
        return bool(self._run(("squeue", "-h", "-t", "PD,R,CG", *only)).strip())

    def _run(self, command: tuple[str, ...], text: str = "") -> str:
        environment = {**os.environ, **self.environment}
        done = subprocess.run(
            command, input=text, env=environment, check=True, capture_output=True, text=True
        )
        return done.stdout


@dataclass
class Kubernetes:
    """A bare Pod for each replica, made by the API, with the image of Footplate's Pods."""

    folder: Path
    region: str
    environment: dict[str, str]
    core: Any
    title: str = "bare Pods"
    host: str = "127.0.0.1"
    number: int = 0

    def start(self, replicas: int) -> float:
        self.number += 1
        names = [f"peer-{self.number}-{rank}" for rank in range(replicas)]
        started = time.perf_counter()
        for name in names:
            self.core.create_namespaced_pod("default", self._pod(name), _preload_content=False)
        wait_for_lines([self.folder / name for name in names], replicas)
        took_s = time.perf_counter() - started
        for name in names:
            self.core.delete_namespaced_pod(
                name, "default", grace_period_seconds=0, _preload_content=False
            )
        return took_s

    def _pod(self, name: str) -> dict[str, Any]:
        pod = pod_template(self.folder)
        container = pod["spec"]["containers"][0]
        command = ["python3", "-c", f'open("{self.folder}/{name}", "w").write("hello\\n")']
        container.update({"name": "replica", "image": IMAGE, "command": command})
        pod["spec"].update({"restartPolicy": "Never", "automountServiceAccountToken": False})
        return {"apiVersion": "v1", "kind": "Pod", "metadata": {"name": name}, **pod}


@dataclass
class Ray:
    """``ray job submit`` of a program that writes, or of a driver with a placement group."""

    folder: Path
    region: str
    environment: dict[str, str]
    python: Path
    address: str
    host: str
    title: str = "ray job submit"
    number: int = 0

    def start(self, replicas: int) -> float:
        self.number += 1
        lines = self.folder / str(self.number)
        lines.mkdir()
        driver = self.folder / "driver.py"
        driver.write_text(DRIVER)
        entry = [self.python, driver, lines, str(replicas)]
        if replicas == 1:
            entry = [self.python, "-c", f"open('{lines}/0', 'w').write('hello\\n')"]
        started = time.perf_counter()
        with subprocess.Popen(
            (self.python.parent / "ray", "job", "submit", "--", *entry),
            env={**os.environ, "RAY_ADDRESS": self.address},
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
        ):
            wait_for_lines([lines / str(rank) for rank in range(replicas)], replicas)
            return time.perf_counter() - started


@contextmanager
def slurm() -> Iterator[Slurm | None]:
    """None, of each of the three: it isn't installed here."""
    if describe_lack_of_slurm():
        yield None
        return
    with short_folder("slurm") as folder, running_slurm(folder) as cluster:
        out = folder / "out"
        out.mkdir()
        machines = '[regions.machines]\n"*" = "--cpus-per-task=1 --mem-per-cpu=200"\n'
        region = f'backend = "slurm"\npartition = "{PARTITION}"\nshared = "{desk.CACHE.parent}"\n'
        region += f'python = "{sys.executable}"\n'  # as the peer: the first in PATH may be slower
        yield Slurm(out, region + machines, cluster.environment)


@contextmanager
def kubernetes() -> Iterator[Kubernetes | None]:
    if describe_lack_of_kubernetes():
        yield None
        return
    with (
        short_folder("k8s") as folder,
        private_kubernetes(folder / "rig") as cluster,
    ):
        out = folder / "out"
        out.mkdir()
        template = folder / "pod.json"
        template.write_text(
            json.dumps(package_template(Path(tempfile.gettempdir()), desk.CACHE.parent))
        )
        region = (
            f'backend = "kubernetes"\nkubeconfig = "{cluster.kubeconfig}"\nnamespace = "default"\n'
            f'image = "{IMAGE}"\npod_template = "{template}"\nreserve = false\n'
            f'shared = "{desk.CACHE.parent}"\n'
        )
        configuration = kubernetes_client.Configuration()
        kubernetes_config.load_kube_config(
            str(cluster.kubeconfig), client_configuration=configuration
        )
        core = kubernetes_client.CoreV1Api(kubernetes_client.ApiClient(configuration))
        yield Kubernetes(out, region, {}, core)


@contextmanager
def offline_packages() -> Iterator[None]:
    """What builds a package, in a folder: the nodes of the cluster reach this machine only."""
    names = ("UV_FIND_LINKS", "UV_OFFLINE")
    with tempfile.TemporaryDirectory() as wheels:
        command = (sys.executable, "-m", "pip", "download", "--quiet", "--dest", wheels)
        subprocess.run((*command, "setuptools", "wheel"), check=True)
        os.environ.update(zip(names, (wheels, "1"), strict=True))
        try:
            yield
        finally:
            for name in names:
                del os.environ[name]


@contextmanager
def ray() -> Iterator[Ray | None]:
    if shutil.which("nsenter") is None or os.geteuid() != 0:
        yield None
        return
    python = Path(environment_of("ray-2.60.0"))
    with (
        offline_packages(),
        short_folder("ray") as folder,
        running_ray(python, folder, CPUS) as cluster,
        tempfile.TemporaryDirectory() as out,
    ):
        region = (
            f'backend = "ray"\naddress = "{cluster.address}"\nreserve = false\n'
            f'shared = "{desk.CACHE.parent}"\npython = "{python}"\n'
        )
        yield Ray(Path(out), region, {}, python, cluster.address, cluster.here)


ENGINES = {"slurm": slurm, "kubernetes": kubernetes, "ray": ray}
