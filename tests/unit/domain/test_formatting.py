"""What is offered in place of an unknown name."""

from __future__ import annotations

import pytest

from footplate.domain.formatting import nearest

REGIONS = ("us-central2", "us-central1", "us-east1", "europe-west1")
GPUS = ("NVIDIA_TESLA_T4", "NVIDIA_TESLA_P4", "NVIDIA_L4")


@pytest.mark.parametrize(
    ("name", "known", "said"),
    [
        ("us-eastt1", REGIONS, "did you mean us-east1"),
        ("us-centrall", REGIONS, "did you mean us-central1 or us-central2"),
        ("T4", GPUS, "did you mean NVIDIA_TESLA_T4?"),
        ("tesla", GPUS, "did you mean NVIDIA_TESLA_P4 or NVIDIA_TESLA_T4?"),
        ("mars", REGIONS, "there are 4 regions, such as europe-west1, us-central1, us-central2"),
        ("", REGIONS, "there are 4 regions, such as"),
        ("4", (), "there are 0 regions, such as "),
    ],
)
def test_what_is_offered(name: str, known: tuple[str, ...], said: str) -> None:
    assert nearest(name, known, "regions").startswith(said)


def test_no_more_than_three_are_offered() -> None:
    assert nearest("us-central", [f"us-central{n}" for n in range(9)], "regions") == (
        "did you mean us-central0 or us-central1 or us-central2?"
    )
