"""A training job before it is submitted."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

from footplate.cli.ai_platform.jobs.submit.package_options import PackageArguments
from footplate.cli.ai_platform.jobs.submit.request import find_module, make_job

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.cli.ai_platform.jobs.submit.options import PackageOptions
    from footplate.cli.packaging.built_packages import PackageStore
    from footplate.client.records import Job
    from footplate.client.service import Service
    from footplate.client.validation import Checked
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class TrainingJobDraft:
    """``config`` is a Job of the API; what ``options`` say wins over it.

    ``user_args``: what the program gets, None: what ``config`` says.
    """

    project: str
    job_id: str
    config: JsonObject
    options: Mapping[str, object]
    packages: PackageOptions
    user_args: Sequence[str] | None

    def forecast_end(self) -> JsonObject:
        return self._request(self._given.forecast_end())

    def stage(self, storage: PackageStore) -> JsonObject:
        return self._request(self._given.stage(storage))

    def package(self, storage: PackageStore) -> JsonObject:
        return self.stage(storage)

    def check(self, service: Service, request: JsonObject) -> Checked:
        return service.validations.training_job(self.project, request, self._given.uploads())

    def check_packages(
        self, service: Service, request: JsonObject, built: Mapping[str, bytes]
    ) -> tuple[PackageCheck, ...]:
        return service.validations.training_job_packages(
            self.project, request, built, self._given.uploads()
        )

    def create(self, service: Service, request: JsonObject) -> Job:
        return service.training_jobs.create(self.project, request)

    @cached_property
    def _given(self) -> PackageArguments:
        job_dir = self.options.get("job_dir")
        return PackageArguments(
            self.job_id,
            self.packages,
            str(job_dir) if job_dir else None,
            find_module(self.config, self.options),
        )

    def _request(self, uris: Sequence[str]) -> JsonObject:
        return make_job(
            self.job_id, self.config, self.options, package_uris=uris, user_args=self.user_args
        )
