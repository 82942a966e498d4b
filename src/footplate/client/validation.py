"""Client of job validation."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from urllib.parse import quote

from footplate.client.http_client import Connection
from footplate.domain.names import GcsUri
from footplate.domain.preview.source_patterns import Use
from footplate.wire.footplate_v1.package_checks import PackageChecks, encode_check_request
from footplate.wire.footplate_v1.verdicts import Verdict
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
    """The client of ``.../jobs:validate`` and its like; a job that would be refused is no error."""

    _connection: Connection

    def check(self, collection: str, job: JsonObject, uploads: Uploads | None = None) -> Verdict:
        """Validates a job of ``collection``, such as ``projects/P/jobs``."""
        answer = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:validate",
            params=uploads.parameters() if uploads else None,
            body=job,
        )
        return Verdict.decode(answer)

    def check_packages(
        self,
        collection: str,
        job: JsonObject,
        given: Mapping[str, bytes],
        uploads: Uploads | None = None,
    ) -> PackageChecks:
        """Checks whether the job's packages can be installed. The server has a time limit.

        ``given``: by URI, packages that aren't in a bucket yet.
        """
        answer = self._connection.call(
            "POST",
            f"/footplate/v1/{quote(collection)}:checkPackages",
            params=uploads.parameters() if uploads else None,
            body=encode_check_request(job, given),
            unlimited=True,
        )
        return PackageChecks.decode(answer)
