"""Rules for training jobs of ml v1 beyond their schema.

Source: the service's API reference for Job and TrainingInput.
"""

from footplate.wire.training_v1.rules.jobs import check_job

__all__ = ["check_job"]
