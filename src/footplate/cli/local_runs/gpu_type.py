"""What each GPU of this machine is called in a private service: any type would do."""

from __future__ import annotations

GPU_TYPE = "NVIDIA_TESLA_T4"
