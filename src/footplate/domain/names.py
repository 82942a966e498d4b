"""Parses and formats every resource name of the service."""

from __future__ import annotations

import re
from collections.abc import Collection
from dataclasses import dataclass
from typing import ClassVar, NewType

from footplate.domain.errors import InvalidArgument, NotFound, Violation
from footplate.domain.formatting import nearest, quoted

JobUid = NewType("JobUid", str)
"""The service's own id of a job, unique for ever, in no URL of the faces."""

StudyUid = NewType("StudyUid", str)
"""The service's own id of a study; that of a tuning job's study is the job's."""

AttemptId = NewType("AttemptId", str)
"""One gang start of a job: ``<job uid>-<attempt number>``."""

_TRAINING_JOB_ID = re.compile(r"[A-Za-z][A-Za-z0-9_]{0,127}")
_PROJECT = re.compile(r"(?=.{1,100}\Z)([a-z0-9][a-z0-9.-]*\.[a-z]+:)?[A-Za-z0-9][A-Za-z0-9._-]*")
_LOCATION = re.compile(r"(?=.{1,63}\Z)[a-z]+(-[a-z]+)*[0-9]*")
_SEGMENT = r"[^/:]+"
_PROJECT_SEGMENT = rf"(?:{_SEGMENT}:)?{_SEGMENT}"
"""An id may have a domain before it, as ``example.com:my-project``."""


@dataclass(frozen=True)
class TrainingJobName:
    """The name of a job of the API ml v1: ``projects/{project}/jobs/{job_id}``."""

    project: str
    job_id: str

    @property
    def parent(self) -> str:
        return f"projects/{self.project}"

    @property
    def collection(self) -> str:
        return f"{self.parent}/jobs"

    def __str__(self) -> str:
        return f"{self.collection}/{self.job_id}"


@dataclass(frozen=True)
class _LocatedJobName:
    """The name of a job: ``projects/{project}/locations/{location}/{KIND}/{job_id}``."""

    KIND: ClassVar[str]
    project: str
    location: str
    job_id: str

    @property
    def parent(self) -> str:
        return f"projects/{self.project}/locations/{self.location}"

    @property
    def collection(self) -> str:
        return f"{self.parent}/{self.KIND}"

    def __str__(self) -> str:
        return f"{self.collection}/{self.job_id}"


class CustomJobName(_LocatedJobName):
    KIND = "customJobs"


class TuningJobName(_LocatedJobName):
    KIND = "hyperparameterTuningJobs"


class TrainingPipelineName(_LocatedJobName):
    KIND = "trainingPipelines"


JobName = TrainingJobName | CustomJobName | TuningJobName | TrainingPipelineName


def backing_job_name(pipeline: JobName, *, tunes: bool) -> CustomJobName | TuningJobName:
    """Returns the name of the job that runs a pipeline's program, with the pipeline's number."""
    made = TuningJobName if tunes else CustomJobName
    return made(*_parts(pipeline))


def pipeline_name(backing: JobName) -> TrainingPipelineName:
    """Returns the pipeline whose program a job runs: the inverse of ``backing_job_name``."""
    return TrainingPipelineName(*_parts(backing))


def pipelines_beside(collection: str) -> str | None:
    """Returns the collection of the pipelines that run jobs in ``collection``; None: none do."""
    parent, _, kind = collection.rpartition("/")
    runs = kind in (CustomJobName.KIND, TuningJobName.KIND)
    return f"{parent}/{TrainingPipelineName.KIND}" if runs else None


def pipeline_model_name(pipeline: JobName, model_id: str = "") -> ModelName:
    """Returns the name of the new model that a pipeline makes; the default id is the pipeline's."""
    project, location, job_id = _parts(pipeline)
    return ModelName(project, location, model_id or job_id)


def _parts(name: JobName) -> tuple[str, str, str]:
    if isinstance(name, TrainingJobName):
        raise TypeError(f"{name} is neither a training pipeline nor a part of one")
    return name.project, name.location, name.job_id


_BACKING = "p"
"""Uids are hexadecimal: none ends with it by itself."""


def backing_uid(pipeline: JobUid) -> JobUid:
    """Returns the uid of a pipeline's job: the same for every caller, so one job is created."""
    return JobUid(f"{pipeline}{_BACKING}")


def pipeline_uid(job: JobUid) -> JobUid | None:
    """Returns the uid of the pipeline whose program this job runs; None: it has no pipeline."""
    return JobUid(job.removesuffix(_BACKING)) if job.endswith(_BACKING) else None


def trial_run_name(job: JobName, number: int) -> JobName:
    """Returns the name of the job that runs a trial of a tuning job.

    No request can make a job with such an id: ids of ml v1 have no dash, other ids are numbers.
    """
    job_id = f"{job.job_id}-{number}"
    if isinstance(job, TrainingJobName):
        return TrainingJobName(job.project, job_id)
    return CustomJobName(job.project, job.location, job_id)


def tuning_job_name(run: JobName) -> JobName:
    """Returns the tuning job whose trial a job runs: the inverse of ``trial_run_name``."""
    job_id = run.job_id.rpartition("-")[0]
    if isinstance(run, TrainingJobName):
        return TrainingJobName(run.project, job_id)
    return TuningJobName(run.project, run.location, job_id)


_RUN_UID = re.compile(r"(.+)_([1-9][0-9]{0,8})")


def run_uid(tuning_job: JobUid, number: int) -> JobUid:
    """Returns the uid of a trial's job: the same for every caller, so one job is created."""
    return JobUid(f"{tuning_job}_{number}")


def parse_run_uid(uid: JobUid) -> tuple[JobUid, int] | None:
    """Returns the uid of the tuning job and the trial's number; None: the job runs no trial."""
    match = _RUN_UID.fullmatch(uid)
    return None if match is None else (JobUid(match[1]), int(match[2]))


@dataclass(frozen=True)
class StudyName:
    """The name of a study: ``projects/{project}/locations/{location}/studies/{study_id}``."""

    project: str
    location: str
    study_id: str

    @property
    def collection(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/studies"

    @property
    def chosen(self) -> bool:
        """Returns whether a client chose the id, as in ml v1. aiplatform v1 numbers its studies."""
        return not self.study_id.isdigit()

    def __str__(self) -> str:
        return f"{self.collection}/{self.study_id}"


@dataclass(frozen=True)
class TrialName:
    """The name of a trial of a Vizier study: ``.../studies/{study_id}/trials/{number}``."""

    study: StudyName
    number: int

    def __str__(self) -> str:
        return f"{self.study}/trials/{self.number}"


@dataclass(frozen=True)
class ModelName:
    """The name of a model: ``projects/{project}/locations/{location}/models/{model_id}``.

    It doesn't include a version.
    """

    project: str
    location: str
    model_id: str

    @property
    def collection(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/models"

    def __str__(self) -> str:
        return f"{self.collection}/{self.model_id}"


@dataclass(frozen=True)
class DatasetName:
    """The name of a dataset: ``projects/{project}/locations/{location}/datasets/{dataset_id}``."""

    project: str
    location: str
    dataset_id: str

    @property
    def collection(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/datasets"

    def __str__(self) -> str:
        return f"{self.collection}/{self.dataset_id}"


@dataclass(frozen=True)
class PersistentResourceName:
    """The name of a persistent resource.

    ``projects/{project}/locations/{location}/persistentResources/{resource_id}``.
    """

    project: str
    location: str
    resource_id: str

    @property
    def collection(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/persistentResources"

    def __str__(self) -> str:
        return f"{self.collection}/{self.resource_id}"


@dataclass(frozen=True)
class OperationName:
    """The name of an operation: ``projects/.../locations/.../operations/{operation_id}``."""

    project: str
    location: str
    operation_id: str

    def __str__(self) -> str:
        return f"projects/{self.project}/locations/{self.location}/operations/{self.operation_id}"


@dataclass(frozen=True)
class StudyOperationName:
    """The name of an operation on a study or a trial: ``{study}/operations/{operation_id}``."""

    of: StudyName | TrialName
    operation_id: str

    def __str__(self) -> str:
        return f"{self.of}/operations/{self.operation_id}"


_TRAINING_JOB = re.compile(rf"projects/({_PROJECT_SEGMENT})/jobs/({_SEGMENT})")
_LOCATED = rf"projects/({_PROJECT_SEGMENT})/locations/({_SEGMENT})"
_CUSTOM_JOB = re.compile(rf"{_LOCATED}/customJobs/({_SEGMENT})")
_TUNING_JOB = re.compile(rf"{_LOCATED}/hyperparameterTuningJobs/({_SEGMENT})")
_PIPELINE = re.compile(rf"{_LOCATED}/trainingPipelines/({_SEGMENT})")
_STUDY = re.compile(rf"{_LOCATED}/studies/({_SEGMENT})")
_MODEL = re.compile(rf"{_LOCATED}/models/([^/:@]+)")
_DATASET = re.compile(rf"{_LOCATED}/datasets/({_SEGMENT})")
_PERSISTENT_RESOURCE = re.compile(rf"{_LOCATED}/persistentResources/({_SEGMENT})")


def parse_job_name(text: str) -> JobName:
    """Parses a job's name.

    Raises:
        NotFound: no job could ever have this name.
    """
    if match := _TRAINING_JOB.fullmatch(text):
        return TrainingJobName(*match.groups())
    if match := _CUSTOM_JOB.fullmatch(text):
        return CustomJobName(*match.groups())
    if match := _TUNING_JOB.fullmatch(text):
        return TuningJobName(*match.groups())
    if match := _PIPELINE.fullmatch(text):
        return TrainingPipelineName(*match.groups())
    raise NotFound(f"{text!r} is not the name of a job")


def parse_model_name(text: str) -> ModelName:
    """Parses a model's name. Raises NotFound: no model could ever have this name."""
    if match := _MODEL.fullmatch(text):
        return ModelName(*match.groups())
    raise NotFound(f"{text!r} is not the name of a model")


def parse_dataset_name(text: str) -> DatasetName:
    """Parses a dataset's name. Raises NotFound: no dataset could ever have this name."""
    if match := _DATASET.fullmatch(text):
        return DatasetName(*match.groups())
    raise NotFound(f"{text!r} is not the name of a dataset")


def is_dataset_id(text: str) -> bool:
    return re.fullmatch(_SEGMENT, text) is not None


def parse_persistent_resource_name(text: str) -> PersistentResourceName:
    """Parses the name of a persistent resource.

    Raises NotFound: no persistent resource could ever have this name.
    """
    if match := _PERSISTENT_RESOURCE.fullmatch(text):
        return PersistentResourceName(*match.groups())
    raise NotFound(f"{text!r} is not the name of a persistent resource")


def parse_study_name(text: str) -> StudyName:
    """Parses a study's name. Raises NotFound: no study could ever have this name."""
    if match := _STUDY.fullmatch(text):
        return StudyName(*match.groups())
    raise NotFound(f"{text!r} is not the name of a study")


def check_training_job_id(job_id: str) -> None:
    """Checks a job id by the rules of ml v1 (source: its reference page for jobs.create).

    Raises:
        InvalidArgument: naming ``jobId``, what was given and what is allowed.
    """
    if not _TRAINING_JOB_ID.fullmatch(job_id):
        rule = "letters, digits and underscores, first a letter, at most 128 characters"
        raise InvalidArgument.of((Violation("jobId", f"{job_id[:200]!r} given; allowed: {rule}"),))


PROJECT_NUMBER = "0"
"""Of all projects: the Vertex SDK uses a bucket only if it has the number of the project."""


def check_project(project: str) -> None:
    """Checks that a text can be the id or number of a project.

    Raises:
        InvalidArgument: naming ``project``, what was given and what is allowed.
    """
    if not _PROJECT.fullmatch(project):
        rule = (
            "letters, digits, dots, underscores and dashes, at most 100 characters; a domain "
            "and a colon may come first (example.com:ID)"
        )
        raise InvalidArgument.of(
            (Violation("project", f"{project[:200]!r} given; allowed: {rule}"),)
        )


def check_location(location: str) -> None:
    """Checks that a text can be the name of a region.

    Raises:
        InvalidArgument: naming ``location``, what was given and what is allowed.
    """
    if not _LOCATION.fullmatch(location):
        rule = "the name of a region, such as us-central1"
        violation = Violation("location", f"{location[:200]!r} given; allowed: {rule}")
        raise InvalidArgument.of((violation,))


def unknown_region(field: str, region: str, known: Collection[str]) -> InvalidArgument:
    """Makes the error for a region that is not among ``known``."""
    text = f"unknown region {quoted(region)}; {nearest(region, known, 'regions')}"
    return InvalidArgument.of((Violation(field, text),))


def attempt_id(uid: JobUid, attempt: int) -> AttemptId:
    return AttemptId(f"{uid}-{attempt}")


def parse_attempt_id(text: str) -> tuple[JobUid, int]:
    """Parses an attempt id into the job and the attempt's number, which counts from 1.

    Raises:
        NotFound: no attempt could ever have this id.
    """
    uid, dash, number = text.rpartition("-")
    if not (uid and dash and number.isascii() and number.isdigit() and len(number) < 10):
        raise NotFound(f"{text!r} is not the id of an attempt")
    return JobUid(uid), int(number)


@dataclass(frozen=True)
class GcsUri:
    """A location in a bucket, ``gs://{bucket}/{path}``; the path may be empty or end in a slash."""

    bucket: str
    path: str

    @classmethod
    def parse(cls, text: str, field: str) -> GcsUri:
        """Parses a gs:// URI.

        Raises:
            InvalidArgument: it isn't a gs:// URI; the violation names ``field``.
        """
        scheme, separator, rest = text.partition("://")
        bucket, _, path = rest.partition("/")
        if scheme != "gs" or not separator or not bucket:
            violation = Violation(field, f"{quoted(text)} given; allowed: gs://BUCKET/PATH")
            raise InvalidArgument.of((violation,))
        return cls(bucket, path)

    def __str__(self) -> str:
        return f"gs://{self.bucket}/{self.path}"
