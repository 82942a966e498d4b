"""Checks whether the packages of a job can be installed, before it is submitted."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from io import BytesIO
from typing import BinaryIO

from footplate.control.preflight import Staging
from footplate.control.submission_checks import SubmissionChecks
from footplate.domain.catalogue import Catalogue
from footplate.domain.jobs import JobSpec, PythonProgram, WorkerPool
from footplate.domain.names import GcsUri
from footplate.domain.preview.package_check import PackageCheck, assign_errors
from footplate.domain.sites import Site, gpu_assignment
from footplate.domain.submission import Submission
from footplate.ports.buckets import Buckets
from footplate.ports.package_resolver import EnvironmentRequest, PackageResolver
from footplate.protocol.task import SLICE_VARIABLE


@dataclass(frozen=True)
class PoolPackages:
    """An environment, and the roles of the replicas that would share it."""

    request: EnvironmentRequest
    roles: tuple[str, ...]


@dataclass(frozen=True)
class PackageChecks:
    """Checks packages before a submit; ``site`` returns the site of a region."""

    submission_checks: SubmissionChecks
    buckets: Buckets
    catalogue: Catalogue
    site: Callable[[str], Site]
    resolver: PackageResolver

    def plan(self, submission: Submission, staging: Staging) -> tuple[PoolPackages, ...]:
        """Returns the environments of the job that contain the user's packages, each once.

        Raises what a submit of the job would raise.
        """
        refusal = self.submission_checks.refusal(submission, staging)
        if refusal is not None:
            raise refusal
        roles: dict[EnvironmentRequest, list[str]] = {}
        spec = self.submission_checks.spec(submission)
        for pool in spec.pools:
            program = pool.program
            if pool.replica_count and isinstance(program, PythonProgram) and program.package_uris:
                request = EnvironmentRequest(
                    runtime=self.catalogue.runtimes.resolve(program.runtime, pool.field),
                    module=program.module,
                    packages=program.package_uris,
                    slice=dict(pool.environment).get(SLICE_VARIABLE, ""),
                    gpus=self._finds_gpus(spec, pool),
                )
                roles.setdefault(request, []).append(pool.cluster_role)
        return tuple(PoolPackages(request, tuple(names)) for request, names in roles.items())

    async def check(
        self, planned: Iterable[PoolPackages], uploads: Mapping[str, bytes]
    ) -> tuple[PackageCheck, ...]:
        """Returns a check for each package of each environment; ``uploads`` has contents by URI.

        Raises what ``PackageResolver.resolve`` raises.
        """

        def open_package(uri: str) -> BinaryIO:
            return BytesIO(uploads[uri]) if uri in uploads else self._open(uri)

        found: list[PackageCheck] = []
        for each in planned:
            request, runtime = each.request, each.request.runtime.name
            resolution = await self.resolver.resolve(request, open_package)
            if resolution.error:
                found += assign_errors(request.packages, each.roles, runtime, resolution.error)
                continue
            found += [
                PackageCheck(uri, each.roles, runtime, resolution.added) for uri in request.packages
            ]
        return tuple(found)

    def _finds_gpus(self, spec: JobSpec, pool: WorkerPool) -> bool:
        """Returns whether the pool would find GPUs if nothing else ran."""
        site = self.site(spec.region)
        if site.engine is not None:
            return gpu_assignment.finds_gpus(pool.machine, (), self.catalogue, site)
        held = (gpu_assignment.assign(spec, self.catalogue, site, ()) or {}).get(
            pool.replica_names()[0], ()
        )
        wanted = dict(pool.environment).get(gpu_assignment.VISIBLE)
        return site.shows_gpus and gpu_assignment.are_real(
            gpu_assignment.visible(held, wanted), site
        )

    def _open(self, text: str) -> BinaryIO:
        uri = GcsUri.parse(text, "packageUris")
        return self.buckets.read(uri.bucket, uri.path)
