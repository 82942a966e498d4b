"""A custom job before it is submitted."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from footplate.cli.ai.custom_jobs.request import make_job

if TYPE_CHECKING:
    from collections.abc import Mapping

    from footplate.cli.ai.custom_jobs.pool_options import PoolArguments
    from footplate.cli.packaging.built_packages import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Checked
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class CustomJobDraft:
    """``config`` is a CustomJobSpec; what ``options`` and ``pools`` say wins over it."""

    project: str
    region: str
    display_name: str
    config: JsonObject
    options: Mapping[str, object]
    pools: PoolArguments

    def forecast_end(self) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.forecast_end())

    def stage(self, storage: PackageStore) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.stage(storage))

    def package(self, storage: PackageStore) -> JsonObject:
        return make_job(self.display_name, self.config, self.options, self.pools.package(storage))

    def check(self, service: Service, request: JsonObject) -> Checked:
        uploads = self.pools.uploads()
        return service.validations.custom_job(self.project, self.region, request, uploads)

    def check_packages(
        self, service: Service, request: JsonObject, built: Mapping[str, bytes]
    ) -> tuple[PackageCheck, ...]:
        return service.validations.custom_job_packages(
            self.project, self.region, request, built, self.pools.uploads()
        )

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.custom_jobs.create(self.project, self.region, request)
