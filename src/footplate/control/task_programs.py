"""The program of a replica as its task describes it: a module or an image, its arguments, packages
and runtime.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import BinaryIO, TypedDict

from footplate.control.bucket_places import BucketPlaces
from footplate.control.images import Images
from footplate.control.node_places import NodePlaces
from footplate.control.package_digests import PackageDigests
from footplate.control.preparations import describe_runtime
from footplate.control.reduction_setup import ReductionKit
from footplate.control.wheels import Wheel
from footplate.domain import algorithms, program_arguments, variable_expansion
from footplate.domain.catalogue import Catalogue
from footplate.domain.containers import gcs_path
from footplate.domain.directory_form import DirectoryForm
from footplate.domain.errors import FailedPrecondition, NotFound, Unavailable
from footplate.domain.jobs import (
    ContainerProgram,
    Job,
    JobSpec,
    PythonProgram,
    WorkerPool,
)
from footplate.domain.names import GcsUri
from footplate.domain.sites import Site
from footplate.ports.buckets import Buckets
from footplate.ports.container_engine import ContainerEngine
from footplate.protocol import task as protocol
from footplate.protocol.task import (
    ContainerTask,
    Package,
    PythonTask,
)


class WhatRuns(TypedDict):
    program: PythonTask | ContainerTask
    packages: tuple[Package, ...]
    runtime: protocol.Runtime | None


@dataclass(frozen=True)
class TaskPrograms:
    """Describes the programs of replicas, with what is installed for them.

    ``site`` returns the capacity of a region.
    """

    places: BucketPlaces
    buckets: Buckets
    contents: PackageDigests
    catalogue: Catalogue
    site: Callable[[str], Site]
    reduction: ReductionKit
    algorithms_wheel: Wheel
    images: Images
    engine: ContainerEngine
    image_pull: str

    def describe(
        self, job: Job, pool: WorkerPool, variables: Mapping[str, str], node: NodePlaces
    ) -> WhatRuns:
        """Returns the program with its packages and its runtime."""
        program, form = pool.program, self.directory_form(job, pool, node)
        if isinstance(program, ContainerProgram):
            task = self.container(job, program, form, variables)
            return {"program": task, "packages": (), "runtime": None}
        args = program_arguments.arguments(
            job.spec, program, form, partial(self.places.path, job, node)
        )
        started = PythonTask(program.module, args)
        if program.command:
            words = _expand((*program.command, *args), variables) or ()
            started = PythonTask("", (), words)
        return {
            "program": started,
            "packages": self._packages(job.spec, pool, program),
            "runtime": describe_runtime(
                self.catalogue.runtimes.resolve(program.runtime, pool.field)
            ),
        }

    def directory_form(self, job: Job, pool: WorkerPool, node: NodePlaces) -> Callable[[str], str]:
        """Returns a function from a directory's URI to the form that the pool's programs get."""
        if job.spec.directory_form is DirectoryForm.URIS:
            return str
        if node.gcs or isinstance(pool.program, ContainerProgram):
            return gcs_path
        return partial(self.places.path, job, node)

    def container(
        self,
        job: Job,
        program: ContainerProgram,
        form: Callable[[str], str],
        variables: Mapping[str, str],
    ) -> ContainerTask:
        """Returns the task of a container; if the engine is down, the supervisor waits for it.

        Raises Unavailable: it is unknown where the engine's socket will be.
        """
        socket = self._find_socket(job.spec.region)
        args = program_arguments.container_arguments(job.spec, program, form)
        return ContainerTask(
            program.image_uri,
            _expand(program.command, variables),
            _expand(args, variables),
            socket,
            self.images.pinned(job, program.image_uri),
            self.image_pull,
        )

    def _find_socket(self, region: str) -> str:
        """Returns the engine's socket; '' if the node has its own engine. Raises Unavailable."""
        if self.site(region).engine is not None:
            return ""
        try:
            return self.engine.socket()
        except FailedPrecondition as error:
            socket = self.engine.expected_socket()
            if not socket:
                raise Unavailable(error.message) from None
            return socket

    def open_package(self, spec: JobSpec, pool: WorkerPool, replica: str, index: int) -> BinaryIO:
        """Opens a package of a replica; the caller closes it. Raises NotFound."""
        if not isinstance(pool.program, PythonProgram):
            raise NotFound("this replica runs a container, which has no packages")
        uris = pool.program.package_uris
        wheel = self._wheel(spec, pool)
        if wheel is not None and index == len(uris):
            return wheel.open()
        if not 0 <= index < len(uris):
            raise NotFound(f"replica {replica} has no package number {index}")
        uri = GcsUri.parse(uris[index], "packageUris")
        return self.buckets.read(uri.bucket, uri.path)

    def _packages(
        self, spec: JobSpec, pool: WorkerPool, program: PythonProgram
    ) -> tuple[Package, ...]:
        """Returns the user's own packages, then the service's."""
        own = tuple(self._package(uri) for uri in program.package_uris)
        wheel = self._wheel(spec, pool)
        return own if wheel is None else (*own, Package(wheel.name, wheel.sha256))

    def _wheel(self, spec: JobSpec, pool: WorkerPool) -> Wheel | None:
        """Returns the wheel that is installed beside the user's packages; None: none."""
        if algorithms.of_pool(pool) is not None:
            return self.algorithms_wheel
        return self.reduction.wheel_for(spec, pool, self.catalogue.runtimes)

    def _package(self, uri: str) -> Package:
        """Returns a package with its digest; the replica reports it if it is missing."""
        try:
            sha256 = self.contents.sha256(uri)
        except NotFound:
            sha256 = ""
        return Package(uri.rpartition("/")[2], sha256)


def _expand(words: tuple[str, ...] | None, variables: Mapping[str, str]) -> tuple[str, ...] | None:
    """Expands variables in the words of a command, as Kubernetes does; None stays None."""
    if words is None:
        return None
    return tuple(variable_expansion.expand_text(word, variables) for word in words)
