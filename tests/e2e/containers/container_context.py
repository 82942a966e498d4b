"""A user whose programs are images: the same trainers as those of packages, in a container."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from footplate.domain.names import CustomJobName, GcsUri, TrainingJobName
from tests.e2e.service.conftest import BUCKET, Context
from tests.support.supervisor_process import wait_until

if TYPE_CHECKING:
    from footplate.domain.names import JobName
    from footplate.testing.service import RunningService
    from footplate.wire.footplate_v1.events import Event
    from tests.support.engines import PrivateEngine

IMAGE = "trainers/python:dev"
"""Python 3 and a user ``trainer``; its command is ``python3``, and it has no entry point."""
RUN = ("python3", "-u", "-m", "trainer.task")


@dataclass(frozen=True)
class Engine:
    """An engine that has ``IMAGE``."""

    running: PrivateEngine
    kind: str

    @property
    def socket(self) -> str:
        return str(self.running.socket)

    def containers(self) -> list[dict[str, Any]]:
        """Whatever their state."""
        with self.running.client() as client:
            return list(client.containers(all=True))

    def volumes(self) -> list[str]:
        with self.running.client() as client:
            return [volume["Name"] for volume in client.volumes()["Volumes"] or ()]

    def derive(self, name: str, *changes: str, image: str = IMAGE) -> str:
        """An image like ``image``, with instructions of a Dockerfile that run nothing."""
        repository, _, tag = name.rpartition(":")
        with self.running.client() as client:
            made = client.create_container(image, ["true"])["Id"]
            try:
                client.commit(made, repository, tag, changes=list(changes))
            finally:
                client.remove_container(made)
        return name


class ContainerContext(Context):
    """``submit`` sends the trainer as a file of the bucket, which an image of Python runs."""

    image = IMAGE

    def __init__(self, service: RunningService, engine: Engine) -> None:
        super().__init__(service)
        self.engine = engine

    def submit(
        self,
        source: str,
        *args: str,
        setup: str | None = None,
        **training_input: object,
    ) -> TrainingJobName:
        assert setup is None, "an image is built before it is sent"
        self.sent += 1
        name = TrainingJobName("demo", f"job_{self.sent}")
        place = self.keep(source, f"programs/{name.job_id}")
        given: Any = {"scaleTier": "CUSTOM", "masterType": "n1-standard-4", **training_input}
        if given["scaleTier"] != "CUSTOM":
            del given["masterType"]
        container = {
            "imageUri": self.image,
            "containerCommand": ["env", f"PYTHONPATH={place}", *RUN],
            "containerArgs": list(args),
        }
        job: Any = {
            "jobId": name.job_id,
            "trainingInput": {
                "region": "us-central1",
                "jobDir": f"gs://{BUCKET}/out/{name.job_id}",
                **given,
                "masterConfig": {**container, **given.get("masterConfig", {})},
            },
        }
        with self.client() as client:
            client.training_jobs.create("demo", job)
        return name

    def submit_custom(self, *pools: dict[str, Any], **spec: object) -> CustomJobName:
        """A custom job with these worker pools; each has its ``containerSpec``."""
        machine = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
        body: Any = {
            "displayName": "a container",
            "jobSpec": {"workerPoolSpecs": [{**machine, **pool} for pool in pools], **spec},
        }
        with self.client() as client:
            made = client.custom_jobs.create("demo", "us-central1", body)
        name = made.name
        assert isinstance(name, CustomJobName)
        return name

    def run_custom(
        self, *command: str, image: str | None = None, **container: object
    ) -> CustomJobName:
        """A custom job of one replica."""
        spec = {"imageUri": image or self.image, **container}
        if command:
            spec["command"] = list(command)
        return self.submit_custom({"containerSpec": spec})

    def keep(self, source: str, folder: str) -> str:
        """``source`` as ``trainer/task.py`` in a folder of the bucket; returns where it is seen."""
        with self.client() as client:
            for file, text in (("__init__.py", ""), ("task.py", source)):
                place = GcsUri(BUCKET, f"{folder}/trainer/{file}")
                client.storage.upload(place, text.encode())
        return f"/gcs/{BUCKET}/{folder}"

    def events(self, name: JobName, kind: str | None = None) -> list[Event]:
        with self.client() as client:
            return [e for e in client.events(name) if kind is None or e.kind == kind]

    def told(self, name: JobName, kind: str) -> list[str]:
        return [event.message for event in self.events(name, kind)]

    def said(self, name: JobName) -> Any:
        """The one line that the job printed, as JSON."""
        [line] = self.messages(name)
        return json.loads(line)

    def check_nothing_is_left(self) -> None:
        wait_until(lambda: not self.engine.containers(), "the end of all containers")
        assert self.engine.volumes() == []
