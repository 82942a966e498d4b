"""Whether a failure was for want of processes, in words."""

from __future__ import annotations

import pytest

from footplate.replica.isolation.resource_limits import Limits
from footplate.replica.process_limit import describe

SMALL = Limits("small", 1 << 30, 1)
LARGE = Limits("large", 1 << 30, 8)
NO_FORK = "BlockingIOError: [Errno 11] Resource temporarily unavailable"


@pytest.mark.parametrize(
    ("limits", "refused", "cause", "words"),
    [
        (None, 7, NO_FORK, ""),
        (SMALL, 0, NO_FORK, ""),
        (SMALL, None, "ValueError: bad", ""),
        (
            SMALL,
            1,
            "",
            (
                "the kernel refused the program one more process once; its limit is 1536: 1024 "
                "and 512 for its vCPU"
            ),
        ),
        (
            LARGE,
            7,
            "ValueError: bad",
            (
                "the kernel refused the program one more process 7 times; its limit is 5120: "
                "1024 and 512 for each of its 8 vCPUs"
            ),
        ),
        (
            SMALL,
            None,
            NO_FORK,
            (
                "the kernel refused the program more processes; its limit is 1536: 1024 and 512 "
                "for its vCPU"
            ),
        ),
        (
            SMALL,
            None,
            "RuntimeError: can't start new thread",
            (
                "the kernel refused the program more processes; its limit is 1536: 1024 and 512 "
                "for its vCPU"
            ),
        ),
    ],
)
def test_the_end_names_the_limit(
    limits: Limits | None, refused: int | None, cause: str, words: str
) -> None:
    assert describe(limits, refused, cause) == words
