"""gcloud's lists and dictionaries."""

from __future__ import annotations

import pytest

from footplate.cli.option_values import enum_name, split_list


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("", []),
        ("a", ["a"]),
        ("a,b c,", ["a", "b c", ""]),
        ("^;^a,b;c", ["a,b", "c"]),
        ("^::^a:b::c", ["a:b", "c"]),
        ("--x=1,--y", ["--x=1", "--y"]),
    ],
)
def test_lists(text: str, expected: list[str]) -> None:
    assert split_list(text) == expected


def test_accelerators_as_people_write_them() -> None:
    assert enum_name("nvidia-tesla-t4") == enum_name("NVIDIA_TESLA_T4") == "NVIDIA_TESLA_T4"
