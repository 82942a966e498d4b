"""By which name a job's image is kept: its digest, or the id of one that was built here."""

from __future__ import annotations

import pytest

from footplate.replica.container.image import refer

ID = "a" * 64
DIGEST = f"sha256:{'b' * 64}"


@pytest.mark.parametrize(
    ("name", "digests", "reference"),
    [
        ("gcr.io/team/x:1", [f"gcr.io/team/x@{DIGEST}"], f"gcr.io/team/x@{DIGEST}"),
        ("localhost:5000/x:1", [f"localhost:5000/x@{DIGEST}"], f"localhost:5000/x@{DIGEST}"),
        (
            "python:3.11",
            [f"docker.io/library/python@{DIGEST}"],
            f"docker.io/library/python@{DIGEST}",
        ),
        ("python:3.11", [f"python@{DIGEST}"], f"python@{DIGEST}"),
        ("team/x", [f"team/x@{DIGEST}"], f"team/x@{DIGEST}"),
        ("gcr.io/team/x:1", [f"gcr.io/other/x@{DIGEST}"], f"sha256:{ID}"),
        ("trainer:dev", [], f"sha256:{ID}"),
    ],
)
def test_an_image_is_referred_to_by_its_digest(
    name: str, digests: list[str], reference: str
) -> None:
    assert refer({"Id": ID, "RepoDigests": digests}, name) == reference
