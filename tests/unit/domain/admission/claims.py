"""Claims for tests: on one machine with eight T4, unless said otherwise."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.domain.admission import Claim, Scheduler
from footplate.domain.names import JobUid
from footplate.domain.quotas import Quotas
from footplate.domain.resources import JOBS, VCPUS

if TYPE_CHECKING:
    from footplate.domain.quotas import Quota
    from footplate.domain.resources import Amounts

T4 = "NVIDIA_TESLA_T4"
V100 = "NVIDIA_TESLA_V100"
SITE = "this machine"
REGION = "us-central1"
HOUR = 3600.0
NOON = 1_700_049_600.0
"""2023-11-15 12:00 UTC."""


def a_claim(
    name: str,
    t4: int = 1,
    *,
    holds: Amounts | None = None,
    project: str = "ads",
    line: str = T4,
    priority: int = 0,
    arrived: float = NOON,
    longest_s: float = HOUR,
    bounded: bool = True,
    site: str = SITE,
    region: str = REGION,
) -> Claim:
    held = {T4: t4} if holds is None else holds
    return Claim(
        uid=JobUid(name),
        name=name,
        project=project,
        region=region,
        site=site,
        accelerator=line,
        priority=priority,
        arrived=arrived,
        longest_s=longest_s,
        holds=held,
        counts={**held, JOBS: 1},
        bounded=bounded,
    )


def a_scheduler(*quotas: Quota, patience_s: float = HOUR, **capacity: int) -> Scheduler:
    """``capacity`` beside, or in place of, 8 T4 and 4 V100."""
    there = {T4: 8, V100: 4, VCPUS: 64, **capacity}
    return Scheduler({SITE: there}, Quotas(quotas), patience_s)
