"""The setting ``program_users``, resolved on this machine."""

from __future__ import annotations

import os
import pwd
from pathlib import Path

import pytest

from footplate.domain.errors import FailedPrecondition
from footplate.server import program_users

of_root = pytest.mark.skipif(os.geteuid() != 0, reason="is about what root starts")


@of_root
def test_a_range_is_two_ids() -> None:
    assert program_users.resolve("1999000000-1999000063") == (1999000000, 1999000063)


@of_root
def test_by_default_it_is_a_range_that_nobody_has() -> None:
    first, last = program_users.resolve(None) or (0, 0)
    assert isinstance(first, int)
    assert isinstance(last, int)
    assert first < last
    assert not [user for user in pwd.getpwall() if first <= user.pw_uid <= last]


@of_root
@pytest.mark.parametrize(
    ("given", "reason"),
    [
        ("nosuchuser", "this machine has no such user"),
        ("root", "'root' is root; to let programs run as root, set allow_root"),
        ("0-100", r"without 0 \(root\)"),
        ("2000000001-2000000000", "two ids or more"),
        ("1-70000", "contains the user"),
    ],
)
def test_what_is_somebody_elses_is_refused(given: str, reason: str) -> None:
    with pytest.raises(FailedPrecondition, match=reason):
        program_users.resolve(given)


@of_root
def test_a_name_is_that_user() -> None:
    nobody = pwd.getpwnam("nobody")
    assert program_users.resolve("nobody") == (nobody.pw_uid, nobody.pw_gid, "nobody")


@pytest.mark.parametrize(
    ("bits", "allow_root", "said"),
    [
        ("1ffffffffff", (), []),
        ("1ffffffffff", ("*",), ["Programs of all projects run as root (setting allow_root)."]),
        ("1ffffffffff", ("a", "b"), ["Programs of projects a, b run as root"]),
        ("a80425fb", (), ["The service runs as root without CAP_SYS_ADMIN, so programs can see"]),
        (
            "0",
            (),
            ["Programs run as root, because the service runs as root without CAP_SETUID"],
        ),
    ],
)
def test_root_is_warned_of_power_that_programs_have(
    tmp_path: Path, bits: str, allow_root: tuple[str, ...], said: list[str]
) -> None:
    status = tmp_path / "status"
    status.write_text(f"Name:\tfootplate\nCapEff:\t{bits}\n")
    notes = program_users.describe_power(allow_root, 0, status)
    assert len(notes) == len(said)
    for note, beginning in zip(notes, said, strict=True):
        assert note.startswith(beginning)
    assert program_users.describe_power(allow_root, 1000, status) == ()


def test_users_of_a_service_that_is_not_roots_are_warned_of() -> None:
    (note,) = program_users.describe_power((), 1000, users="trainer")
    assert note.startswith("The setting program_users has no effect")
    assert "Start the service as root" in note
