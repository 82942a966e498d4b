"""The accelerator type of this machine's GPUs in a private service, where any type works."""

from __future__ import annotations

GPU_TYPE = "NVIDIA_TESLA_T4"
