"""The ml v1 output of jobs with built-in algorithms."""

from __future__ import annotations

from footplate.domain.algorithms import model_path, of_pool
from footplate.domain.job_states import State
from footplate.domain.jobs import Job
from footplate.domain.studies.records import TrialRecord
from footplate.domain.tuning.trial_spec import numbered
from footplate.wire.json_text import JsonObject
from footplate_algorithms.algorithms import Algorithm


def algorithm_output(job: Job) -> JsonObject:
    """Returns the algorithm's part of ``trainingOutput``, with the model if the job has succeeded.

    A tuning job has no model here, as each of its trials has one.
    """
    algorithm = of_pool(job.spec.primary)
    if algorithm is None:
        return {}
    has_model = job.state is State.SUCCEEDED and job.spec.search is None
    output = _output(algorithm, job.spec.job_dir if has_model else None)
    return {"isBuiltInAlgorithmJob": True, "builtInAlgorithmOutput": output}


def trial_output(job: Job, trial: TrialRecord) -> JsonObject:
    """Returns the location of the model of a successful trial; empty: there is none."""
    algorithm, job_dir = of_pool(job.spec.primary), job.spec.job_dir
    if algorithm is None or trial.verdict is not State.SUCCEEDED or job_dir is None:
        return {}
    return {"builtInAlgorithmOutput": _output(algorithm, numbered(job_dir, trial.number))}


def _output(algorithm: Algorithm, job_dir: str | None) -> JsonObject:
    output: JsonObject = {
        "framework": algorithm.framework,
        "runtimeVersion": algorithm.runtime_version,
        "pythonVersion": algorithm.python_version,
    }
    return output if job_dir is None else {**output, "modelPath": model_path(job_dir)}
