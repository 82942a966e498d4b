"""Slurm as an engine, by its own commands or by slurmrestd."""

from footplate.backends.slurm.job_script import RestServer, SlurmSettings
from footplate.backends.slurm.slurm_engine import SlurmEngine

__all__ = ["RestServer", "SlurmEngine", "SlurmSettings"]
