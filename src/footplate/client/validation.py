"""Client of job validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.domain.errors import InvalidArgument, UnknownError
from footplate.domain.names import CustomJobName, TrainingJobName, TuningJobName
from footplate.wire.footplate_v1 import (
    encode_check_request,
    read_package_checks,
    read_verdict,
)

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.client.http_client import Connection
    from footplate.domain.names import GcsUri
    from footplate.domain.preview.package_check import PackageCheck
    from footplate.domain.preview.source_patterns import Use
    from footplate.domain.preview.verdict import Verdict
    from footplate.wire.json_text import JsonObject


@dataclass(frozen=True)
class Uploads:
    """Files that the caller will put below ``prefix`` before it submits, so the server doesn't look
    there.

    ``makes_bucket``: the caller may have to create the bucket too. ``uses`` are the uses of
    TensorFlow in the files.
    """

    prefix: GcsUri
    makes_bucket: bool = False
    uses: tuple[Use, ...] = ()

    def parameters(self) -> dict[str, str | Sequence[str]]:
        made: dict[str, str | Sequence[str]] = {"staging": str(self.prefix)}
        if self.makes_bucket:
            made["makesBucket"] = "true"
        if self.uses:
            made["uses"] = [f"{use.pattern}:{use.place}" for use in self.uses]
        return made


@dataclass(frozen=True)
class Checked:
    """A verdict on a job; ``resource`` is the server's JSON."""

    verdict: Verdict
    resource: JsonObject


class Validations:
    """The client for ``.../jobs:validate`` and the like. For a job that would be refused it
    raises no error.
    """

    def __init__(self, connection: Connection) -> None:
        self._connection = connection

    def training_job(
        self, project: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Checked:
        return self._check(TrainingJobName(project, "").collection, job, uploads)

    def custom_job(
        self, project: str, location: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Checked:
        return self._check(CustomJobName(project, location, "").collection, job, uploads)

    def tuning_job(
        self, project: str, location: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Checked:
        return self._check(TuningJobName(project, location, "").collection, job, uploads)

    def training_job_packages(
        self, project: str, job: JsonObject, given: Mapping[str, bytes], uploads: Uploads | None
    ) -> tuple[PackageCheck, ...]:
        return self._check_packages(TrainingJobName(project, "").collection, job, given, uploads)

    def custom_job_packages(
        self,
        project: str,
        location: str,
        job: JsonObject,
        given: Mapping[str, bytes],
        uploads: Uploads | None,
    ) -> tuple[PackageCheck, ...]:
        collection = CustomJobName(project, location, "").collection
        return self._check_packages(collection, job, given, uploads)

    def tuning_job_packages(
        self, project: str, location: str, job: JsonObject
    ) -> tuple[PackageCheck, ...]:
        collection = TuningJobName(project, location, "").collection
        return self._check_packages(collection, job, {}, None)

    def _check_packages(
        self,
        collection: str,
        job: JsonObject,
        given: Mapping[str, bytes],
        uploads: Uploads | None,
    ) -> tuple[PackageCheck, ...]:
        """Returns the checks of packages. ``given`` has those that aren't in a bucket yet, by URI.

        The request has no timeout here, since the server has a time limit.
        """
        resource = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:checkPackages",
            params=uploads.parameters() if uploads else None,
            body=encode_check_request(job, given),
            unlimited=True,
        )
        try:
            return read_package_checks(resource)
        except InvalidArgument as error:
            raise UnknownError(f"the server sent an invalid answer: {error}") from None

    def _check(self, collection: str, job: JsonObject, uploads: Uploads | None) -> Checked:
        resource = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:validate",
            params=uploads.parameters() if uploads else None,
            body=job,
        )
        try:
            return Checked(read_verdict(resource), resource)
        except InvalidArgument as error:
            raise UnknownError(f"the server sent an invalid answer: {error}") from None
