"""Client of job validation."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.domain.names import CustomJobName, TrainingJobName, TuningJobName
from footplate.wire.footplate_v1.package_checks import PackageChecks, encode_check_request
from footplate.wire.footplate_v1.verdicts import Verdict

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from footplate.client.http_client import Connection
    from footplate.domain.names import GcsUri
    from footplate.domain.preview.source_patterns import Use
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
class Validations:
    """The client for ``.../jobs:validate`` and the like. For a job that would be refused it
    raises no error.
    """

    _connection: Connection

    def training_job(
        self, project: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Verdict:
        return self._check(TrainingJobName(project, "").collection, job, uploads)

    def custom_job(
        self, project: str, location: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Verdict:
        return self._check(CustomJobName(project, location, "").collection, job, uploads)

    def tuning_job(
        self, project: str, location: str, job: JsonObject, uploads: Uploads | None = None
    ) -> Verdict:
        return self._check(TuningJobName(project, location, "").collection, job, uploads)

    def training_job_packages(
        self, project: str, job: JsonObject, given: Mapping[str, bytes], uploads: Uploads | None
    ) -> PackageChecks:
        return self._check_packages(TrainingJobName(project, "").collection, job, given, uploads)

    def custom_job_packages(
        self,
        project: str,
        location: str,
        job: JsonObject,
        given: Mapping[str, bytes],
        uploads: Uploads | None,
    ) -> PackageChecks:
        collection = CustomJobName(project, location, "").collection
        return self._check_packages(collection, job, given, uploads)

    def tuning_job_packages(self, project: str, location: str, job: JsonObject) -> PackageChecks:
        collection = TuningJobName(project, location, "").collection
        return self._check_packages(collection, job, {}, None)

    def _check_packages(
        self,
        collection: str,
        job: JsonObject,
        given: Mapping[str, bytes],
        uploads: Uploads | None,
    ) -> PackageChecks:
        """``given``: by URI, packages that aren't in a bucket yet. The server has a time limit."""
        answer = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:checkPackages",
            params=uploads.parameters() if uploads else None,
            body=encode_check_request(job, given),
            unlimited=True,
        )
        return PackageChecks.decode(answer)

    def _check(self, collection: str, job: JsonObject, uploads: Uploads | None) -> Verdict:
        answer = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:validate",
            params=uploads.parameters() if uploads else None,
            body=job,
        )
        return Verdict.decode(answer)
