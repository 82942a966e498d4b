"""Converts an ml v1 job to a submission."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from types import MappingProxyType

from footplate.domain import algorithms
from footplate.domain.catalogue import Catalogue, Family
from footplate.domain.errors import InvalidArgument
from footplate.domain.jobs import (
    DEFAULT_RUNNING_TIME_S,
    ClusterVariable,
    ContainerProgram,
    Directory,
    DiskSpec,
    JobSpec,
    Program,
    PythonProgram,
    Scheduling,
    WorkerPool,
)
from footplate.domain.names import JobName, StudyName, TrainingJobName
from footplate.domain.studies.metrics import Goal, Selection
from footplate.domain.studies.parameters import (
    CategoricalParameter,
    DiscreteParameter,
    DoubleParameter,
    IntegerParameter,
    Parameter,
    Scale,
)
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.stopping import HalvingSpec
from footplate.domain.studies.study import Algorithm
from footplate.domain.submission import Submission, Tuning
from footplate.domain.tuning.search import DEFAULT_TAG, SearchRequest, TrialCounts
from footplate.wire.durations import seconds
from footplate.wire.json_text import JsonObject, format_object
from footplate.wire.learn_from_label import learned_from
from footplate.wire.training_v1 import enums
from footplate.wire.training_v1.enums import GoalType, ParameterType, ScaleType
from footplate.wire.training_v1.job_warnings import parity, warnings
from footplate.wire.training_v1.models import HyperparameterSpec, Job, ParameterSpec, TrainingInput
from footplate.wire.training_v1.models import Scheduling as WireScheduling
from footplate.wire.training_v1.prebuilt_images import (
    has_prebuilt_image,
    master_image,
    prebuilt_runtime,
)
from footplate.wire.training_v1.roles import Role, Staffed, staffed
from footplate.wire.training_v1.rules import check_job
from footplate.wire.training_v1.rules.programs import pythons
from footplate.wire.trial_regions_label import trial_regions
from footplate.wire.uris import MAX_PACKAGES
from footplate_algorithms.algorithms import ALGORITHMS

# Converts the search of an ml v1 tuning job.

_SCALES = MappingProxyType(
    {
        ScaleType.NONE: Scale.NONE,
        ScaleType.UNIT_LINEAR_SCALE: Scale.LINEAR,
        ScaleType.UNIT_LOG_SCALE: Scale.LOG,
        ScaleType.UNIT_REVERSE_LOG_SCALE: Scale.REVERSE_LOG,
    }
)
_GOALS = MappingProxyType({GoalType.MAXIMIZE: Goal.MAXIMIZE, GoalType.MINIMIZE: Goal.MINIMIZE})
_ALGORITHMS = MappingProxyType(
    {
        enums.Algorithm.ALGORITHM_UNSPECIFIED: Algorithm.BAYESIAN,
        enums.Algorithm.GRID_SEARCH: Algorithm.GRID,
        enums.Algorithm.RANDOM_SEARCH: Algorithm.RANDOM,
    }
)


def search_request(
    search: HyperparameterSpec,
    name: TrainingJobName,
    labels: Mapping[str, str] | None,
    region: str,
) -> SearchRequest:
    """Makes the search of a valid request, in which the last measurement of a trial counts.

    If the job resumes another one, missing fields stay None, and come from the resumed job.
    """
    resumed, learned = search.resume_previous_job_id, learned_from(labels)
    goal = _GOALS.get(search.goal or GoalType.GOAL_TYPE_UNSPECIFIED)
    return SearchRequest(
        counts=_counts(search),
        space=_space(search),
        tag=search.hyperparameter_metric_tag or (None if resumed else DEFAULT_TAG),
        goal=goal or (None if resumed else Goal.MAXIMIZE),
        algorithm=_ALGORITHMS[search.algorithm or enums.Algorithm.ALGORITHM_UNSPECIFIED],
        selection=Selection.LAST,
        stopping=HalvingSpec() if search.enable_trial_early_stopping else None,
        resumes=TrainingJobName(name.project, resumed) if resumed else None,
        learns_from=_earlier(learned, name.project, region) if learned else None,
        regions=trial_regions(labels),
    )


def _earlier(given: str, project: str, region: str) -> JobName | StudyName:
    """Returns the name of a job, whose id begins with a letter, or of a study, with a digit."""
    if given[0].isdigit():
        return StudyName(project, region, given)
    return TrainingJobName(project, given)


def _counts(search: HyperparameterSpec) -> TrialCounts:
    """Returns the numbers of trials; 0 or absent means the default."""
    return TrialCounts(
        trials=search.max_trials or 1,
        parallel=search.max_parallel_trials or 1,
        failed=search.max_failed_trials or 0,
    )


def _space(search: HyperparameterSpec) -> SearchSpace | None:
    if not search.params:
        return None
    return SearchSpace(tuple(_parameter(parameter) for parameter in search.params))


def _parameter(given: ParameterSpec) -> Parameter:
    """Makes a parameter; an absent bound is 0, and repeated categories count once."""
    name, scale = given.parameter_name or "", _SCALES[given.scale_type or ScaleType.NONE]
    low, high = given.min_value or 0.0, given.max_value or 0.0
    if given.type is ParameterType.DOUBLE:
        return DoubleParameter(name, low, high, scale)
    if given.type is ParameterType.INTEGER:
        return IntegerParameter(name, int(low), int(high), scale)
    if given.type is ParameterType.DISCRETE:
        return DiscreteParameter(name, tuple(given.discrete_values or ()), scale)
    return CategoricalParameter(name, tuple(dict.fromkeys(given.categorical_values or ())))


CHIEF_SINCE = (2, 1)
"""The first runtime version whose TF_CONFIG says ``chief`` where older ones say ``master``."""


def read_submission(body: JsonObject, project: str, catalogue: Catalogue) -> Submission:
    """Reads the job of a ``projects.jobs.create`` request, with all its violations.

    Raises:
        InvalidArgument: the request has no training input, so no job can be made of it.
    """
    understood = Job.understand(body)
    job, training = understood.message, understood.message.training_input
    violations = understood.with_rules(check_job(understood, catalogue))
    if training is None:
        raise InvalidArgument.of(violations)
    name = TrainingJobName(project, job.job_id or "")
    request = job.encode()
    request.pop("labels", None)
    return Submission(
        name=name,
        display_name=name.job_id,
        spec=training_spec(training, name, catalogue),
        request=format_object(request),
        labels=tuple((job.labels or {}).items()),
        warnings=() if understood.wrong else tuple(warnings(training, catalogue)),
        parity=() if understood.wrong else tuple(parity(training, catalogue)),
        violations=violations,
        understood=not understood.wrong,
        tuning=_tuning(training),
        search=None if violations else _search(training, name, job),
    )


def _search(training: TrainingInput, name: TrainingJobName, job: Job) -> SearchRequest | None:
    search = training.hyperparameters
    if search is None:
        return None
    return search_request(search, name, job.labels, training.region or "")


def _tuning(training: TrainingInput) -> Tuning | None:
    search = training.hyperparameters
    if search is None:
        return None
    return Tuning(parameters=len(search.params or ()), max_trials=max(search.max_trials or 1, 1))


def training_spec(training: TrainingInput, name: TrainingJobName, catalogue: Catalogue) -> JobSpec:
    """Makes the job spec of a training input; from an invalid one as much as could be parsed."""
    region = training.region or ""
    job_dir = training.job_dir or None
    return JobSpec(
        region=region,
        pools=tuple(_pools(training, catalogue)),
        scheduling=_scheduling(training),
        job_dir=job_dir,
        directories=(Directory(None, job_dir, "trainingInput.jobDir"),) if job_dir else (),
        environment=(
            ("CLOUD_ML_JOB_ID", name.job_id),
            ("CLOUD_ML_PROJECT_ID", name.project),
            ("CLOUD_ML_REGION", region),
        ),
        cluster_variables=_cluster_variables(training),
        chief_role=_chief_role(training),
        cluster_job=format_object(training.encode()),
        service_account=training.service_account or None,
        network=training.network or None,
        web_access=bool(training.enable_web_access),
    )


def _pools(training: TrainingInput, catalogue: Catalogue) -> Iterator[WorkerPool]:
    runtime = _runtime(training, catalogue)
    for each in staffed(training, catalogue):
        program = _program(each.role, training, runtime)
        if isinstance(program, ContainerProgram) or not _serves_tpus(each, catalogue):
            yield _pool(each, program)


def _serves_tpus(each: Staffed, catalogue: Catalogue) -> bool:
    """Returns whether the machine hosts a TPU, and so runs Google's server instead of a trainer.

    Source: the page on using TPUs, "the master runs your training application".
    """
    kind = catalogue.machine_types.get(each.request.machine.machine_type)
    return not each.role.primary and kind is not None and kind.family is Family.TPU


def _pool(each: Staffed, program: Program) -> WorkerPool:
    role = each.role
    in_image = isinstance(program, ContainerProgram)
    disk = role.config.disk_config
    return WorkerPool(
        cluster_role=role.cluster_role,
        replica_prefix=role.replica_prefix,
        machine=each.request.machine,
        replica_count=each.count,
        program=program,
        disk=DiskSpec(
            (disk and disk.boot_disk_type) or DiskSpec.boot_disk_type,
            (disk and disk.boot_disk_size_gb) or DiskSpec.boot_disk_size_gb,
        ),
        field=role.config_field if in_image else "trainingInput",
    )


def _program(role: Role, training: TrainingInput, runtime: str) -> Program:
    """Returns the program of a role; an empty command or list counts as none, as in proto3."""
    config = role.config
    name = algorithms.image_name(master_image(training))
    if name in ALGORITHMS:
        return algorithms.program(name, tuple(training.args or ()))
    image = config.image_uri or master_image(training)
    if has_prebuilt_image(training):
        runtime = prebuilt_runtime(training, config, f"{role.name}Config")
    elif image:
        args = training.args or config.container_args
        command = config.container_command
        return ContainerProgram(
            image, tuple(command) if command else None, tuple(args) if args else None
        )
    return PythonProgram(
        runtime=runtime,
        package_uris=tuple((training.package_uris or ())[:MAX_PACKAGES]),
        module=training.python_module or "",
        args=tuple(training.args or ()),
    )


def _runtime(training: TrainingInput, catalogue: Catalogue) -> str:
    """Returns the runtime's name; leaves out a Python version that the runtime lacks."""
    version, python = training.runtime_version or "", training.python_version or ""
    known = pythons(version, catalogue)
    return f"version:{version}/{python if not known or python in known else ''}"


def _scheduling(training: TrainingInput) -> Scheduling:
    """Returns the limits of a job.

    Replicas of a built-in algorithm connect only once, so none of them can restart alone.
    """
    given = training.scheduling or WireScheduling()
    running, waiting = given.max_running_time, given.max_wait_time
    return Scheduling(
        max_running_time_s=seconds(running) if running else DEFAULT_RUNNING_TIME_S,
        max_wait_time_s=seconds(waiting) if waiting else None,
        priority=given.priority or 0,
        restarts_together=algorithms.image_name(master_image(training)) in ALGORITHMS,
    )


def _cluster_variables(training: TrainingInput) -> frozenset[ClusterVariable]:
    """Returns the program's cluster variables: TF_CONFIG; custom containers get both."""
    if master_image(training):
        return frozenset(ClusterVariable)
    return frozenset({ClusterVariable.TF_CONFIG})


def _chief_role(training: TrainingInput) -> str:
    if master_image(training):
        return "chief" if training.use_chief_in_tf_config else "master"
    version = re.match(r"([0-9]{1,9})\.([0-9]{1,9})", training.runtime_version or "")
    if version is None:
        return "chief"
    return "chief" if (int(version[1]), int(version[2])) >= CHIEF_SINCE else "master"
