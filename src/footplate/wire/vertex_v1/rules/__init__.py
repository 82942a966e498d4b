"""Rules for jobs of aiplatform v1 beyond their schema.

Source: the service's API reference for CustomJob, HyperparameterTuningJob and what is in them.
"""

from footplate.wire.vertex_v1.rules.jobs import check_custom_job, check_tuning_job

__all__ = ["check_custom_job", "check_tuning_job"]
