"""A tuning job before it is submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.cli.packaging.built_packages import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Checked
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class TuningJobDraft:
    """Its packages are in buckets already: nothing is built or uploaded."""

    project: str
    region: str
    request: JsonObject

    def forecast_end(self) -> JsonObject:
        return self.request

    def stage(self, storage: PackageStore) -> JsonObject:  # noqa: ARG002 - the protocol
        return self.request

    def package(self, storage: PackageStore) -> JsonObject:
        return self.stage(storage)

    def check(self, service: Service, request: JsonObject) -> Checked:
        return service.validations.tuning_job(self.project, self.region, request)

    def check_packages(
        self,
        service: Service,
        request: JsonObject,
        built: Mapping[str, bytes],  # noqa: ARG002
    ) -> tuple[PackageCheck, ...]:
        return service.validations.tuning_job_packages(self.project, self.region, request)

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.tuning_jobs.create(self.project, self.region, request)
