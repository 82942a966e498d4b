"""Maps the drivers' GPU names to the cloud APIs' names.

Source: the names that NVML gives, as in the driver's list of supported products.
"""

from __future__ import annotations

import re

_TYPES = (
    (r"K80", "NVIDIA_TESLA_K80"),
    (r"P4", "NVIDIA_TESLA_P4"),
    (r"P100", "NVIDIA_TESLA_P100"),
    (r"V100", "NVIDIA_TESLA_V100"),
    (r"T4", "NVIDIA_TESLA_T4"),
    (r"A100.*\b80GB", "NVIDIA_A100_80GB"),
    (r"A100", "NVIDIA_TESLA_A100"),
    (r"L4", "NVIDIA_L4"),
    (r"H100", "NVIDIA_H100_80GB"),
    (r"H200", "NVIDIA_H200_141GB"),
    (r"B200", "NVIDIA_B200"),
    (r"GB200", "NVIDIA_GB200"),
    (r"RTX PRO 6000 Blackwell", "NVIDIA_RTX_PRO_6000"),
)
"""The first that fits counts. Each is a whole word after the maker's and the series' names."""


def accelerator_of(model: str) -> str | None:
    """The accelerator type of a GPU (``Tesla T4``, ``NVIDIA A100-SXM4-80GB``); None: none."""
    words = re.sub(r"^(NVIDIA |Tesla )+", "", model.strip())
    for pattern, name in _TYPES:
        if re.match(rf"{pattern}(?![A-Za-z0-9])", words):
            return name
    return None
