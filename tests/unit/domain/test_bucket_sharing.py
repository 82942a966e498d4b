from __future__ import annotations

import pytest

from footplate.domain.bucket_sharing import EVERY, may_use


@pytest.mark.parametrize(
    ("owner", "shared", "whether"),
    [
        ("demo", (), True),
        (None, (), True),
        ("ads", (), False),
        ("", (), False),
        ("ads", ("stage",), True),
        ("ads", ("st*",), True),
        ("ads", ("stag", "*.stage", "STAGE"), False),
        ("ads", (EVERY,), True),
    ],
)
def test_a_bucket_is_its_projects_or_shared(
    owner: str | None,
    shared: tuple[str, ...],
    whether: bool,  # noqa: FBT001 - a case
) -> None:
    assert may_use("stage", owner, "demo", shared) is whether
