"""Slurm as an engine, by its own commands."""

from footplate.backends.slurm.job_script import SlurmSettings
from footplate.backends.slurm.slurm_engine import SlurmEngine

__all__ = ["SlurmEngine", "SlurmSettings"]
