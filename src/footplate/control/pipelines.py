"""Brings a training pipeline forward: its data, its job, its model, its end.

Every step can be the last one of this process: all that is to be done follows from the records of
the pipeline, its job and its model, and doing it twice is doing it once.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Protocol

from footplate.control.data_exports import ExportedData
from footplate.control.job_updates import apply
from footplate.control.models import ModelRegistry
from footplate.domain.errors import (
    Aborted,
    AlreadyExists,
    Code,
    NotFound,
    ServiceError,
    Unavailable,
)
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job, JobEvent, JobSpec
from footplate.domain.lifecycle import CancelRequested, SearchEnds, TrialsBegin, TrialsGone
from footplate.domain.model_registry import Upload
from footplate.domain.names import JobUid, backing_job_name, backing_uid, pipeline_model_name
from footplate.domain.pipelines import (
    DATA_FORMAT,
    MODEL_LEAF,
    WRITES_DATA,
    InputData,
    ModelUpload,
    Pipeline,
    data_variables,
)
from footplate.domain.studies.ranking import best
from footplate.domain.studies.records import TrialRecord
from footplate.domain.tuning.search import Search
from footplate.domain.tuning.trial_spec import numbered
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.wire.vertex_v1.model_requests import version_of


class DataWriter(Protocol):
    """Writes the data of pipelines, and never blocks; see ``control.pipeline_data``."""

    def take(self, job: Job, data: InputData) -> ExportedData | None: ...

    def cancel(self, uid: JobUid) -> bool: ...


class PipelineAdvance:
    """Advances training pipelines.

    ``trials`` returns the trials of a tuning job. ``wake`` is called when jobs should be looked at.
    """

    def __init__(
        self,
        store: Store,
        registry: ModelRegistry,
        data: DataWriter,
        trials: Callable[[JobUid], Sequence[TrialRecord]],
        clock: Clock,
        wake: Callable[[], None],
    ) -> None:
        self._store = store
        self._registry = registry
        self._data = data
        self._trials = trials
        self._clock = clock
        self._wake = wake

    def inspect(self, job: Job, pipeline: Pipeline) -> Job:
        """Advances the pipeline, and returns it in its new state.

        Raises:
            Aborted: another server wrote the pipeline meanwhile; call again.
            NotFound: the pipeline was deleted meanwhile.
        """
        backing = self._find(job)
        if backing is None and job.ending is None:
            spec, job = self._prepare(job, pipeline)
            backing = None if spec is None else self._start(job, pipeline, spec)
        if backing is None:
            gone = job.ending is not None and self._data.cancel(job.uid)
            return self._happen(job, TrialsGone(self._clock.now())) if gone else job
        if job.ending is None:
            job = self._begin(job, backing)
        elif not backing.state.terminal and backing.ending is None:
            why = f"{job.name} was cancelled"
            apply(self._store, backing.uid, CancelRequested(self._clock.now(), why=why))
            self._wake()
            backing = self._store.get_by_uid(backing.uid)
        return self._end(job, pipeline, backing) if backing.state.terminal else job

    def _find(self, job: Job) -> Job | None:
        try:
            return self._store.get_by_uid(backing_uid(job.uid))
        except NotFound:
            return None

    def _prepare(self, job: Job, pipeline: Pipeline) -> tuple[JobSpec | None, Job]:
        """Returns the spec of the job that runs the program, once its data is written.

        None: the data is being written, or the pipeline, which is returned as well, has failed.
        """
        spec = replace(job.spec, pipeline=None)
        if pipeline.data is None:
            return spec, job
        dataset = f"dataset {pipeline.data.dataset.rpartition('/')[2]}"
        self._tell(job, WRITES_DATA, f"writing the data of {dataset} to {pipeline.data.prefix}")
        try:
            data = self._data.take(job, pipeline.data)
        # The loop tries again, as with models.
        except (Aborted, Unavailable):
            raise
        except ServiceError as error:
            said = f"the data of {dataset} can't be used: {error.message}"
            ending = Ending(State.FAILED, error.code, said)
            return None, self._happen(job, SearchEnds(self._clock.now(), ending))
        if data is None:
            return None, job
        self._tell(job, "DATA_WRITTEN", data.describe())
        own = dict(spec.environment) | {DATA_FORMAT: data.format}
        variables = data_variables(data.patterns)
        return replace(spec, environment=tuple(own.items()), data=variables), job

    def _tell(self, job: Job, kind: str, text: str) -> None:
        self._store.append(job.uid, (JobEvent(self._clock.now(), kind, text, key=kind),))

    def _start(self, job: Job, pipeline: Pipeline, spec: JobSpec) -> Job:
        """Creates the job that runs the program, or returns it if it exists."""
        now = self._clock.now()
        backing = Job(
            uid=backing_uid(job.uid),
            name=backing_job_name(job.name, tunes=job.spec.search is not None),
            display_name=pipeline.job_display_name,
            spec=spec,
            request=pipeline.job_request,
            create_time=now,
            update_time=now,
            labels=job.labels,
            author=job.author,
        )
        try:
            self._store.create(backing, (JobEvent(now, "QUEUED", f"created by {job.name}"),))
        except AlreadyExists:
            return self._store.get_by_uid(backing.uid)
        self._wake()
        return backing

    def _begin(self, job: Job, backing: Job) -> Job:
        """Makes the pipeline follow the beginning of its job: being prepared, then running."""
        now = self._clock.now()
        if backing.state is not State.QUEUED:
            job = self._happen(job, TrialsBegin(now, running=False))
        if backing.start_time is not None:
            job = self._happen(job, TrialsBegin(now, running=True, since=backing.start_time))
        return job

    def _end(self, job: Job, pipeline: Pipeline, backing: Job) -> Job:
        if job.ending is None:
            ending = _ending(backing)
            if ending.state is State.SUCCEEDED and pipeline.upload is not None:
                job, ending = self._upload(job, pipeline, pipeline.upload)
            while job.ending is None:  # one state at a time, up to RUNNING
                job = self._happen(job, SearchEnds(self._clock.now(), ending))
        return self._happen(job, TrialsGone(self._clock.now()))

    def _upload(self, job: Job, pipeline: Pipeline, upload: ModelUpload) -> tuple[Job, Ending]:
        """Makes the model. Returns the pipeline's job, with its model, and the ending."""
        # An earlier step has made the model, but could not end the pipeline.
        if pipeline.model:
            return job, Ending(State.SUCCEEDED)
        who, directory = "the job", upload.directory
        if job.spec.search is not None:
            number = self._best_trial(job, job.spec.search)
            if number is None:
                said = "the training made no model: no trial has reported its metric"
                return job, Ending(State.SUCCEEDED, message=said)
            who, directory = f"the best trial, {number},", numbered(directory, number, MODEL_LEAF)
        if not self._registry.has_files(directory):
            said = f"the training made no model: {who} left no file in AIP_MODEL_DIR, {directory}"
            return job, Ending(State.SUCCEEDED, message=said)
        name = pipeline_model_name(job.name, upload.model_id)
        version = version_of(upload.request, self._clock.now())
        version = replace(version, artifact_uri=directory, pipeline=str(job.name))
        try:
            made = self._registry.upload_once(name, Upload(version, parent=upload.parent))
        # The loop tries again: a pipeline doesn't fail because a bucket or the database can't be
        # reached.
        except Unavailable:
            raise
        except ServiceError as error:
            said = f"the job succeeded, but the service can't make its model: {error.message}"
            return job, Ending(State.FAILED, error.code, said)
        text = f"{upload.parent or name}@{made.number}"
        return self._note_model(job, pipeline, text), Ending(State.SUCCEEDED)

    def _best_trial(self, job: Job, search: Search) -> int | None:
        trials = self._trials(backing_uid(job.uid))
        good = [each.trial() for each in trials if each.verdict is State.SUCCEEDED]
        found = best(good, search.study.metrics[0])
        return None if found is None else found.trial.number

    def _note_model(self, job: Job, pipeline: Pipeline, model: str) -> Job:
        now = self._clock.now()
        spec = replace(job.spec, pipeline=replace(pipeline, model=model))
        noted = replace(job, spec=spec, update_time=now, version=job.version + 1)
        self._store.update(noted, (JobEvent(now, "MODEL", f"made {model}", key="MODEL"),))
        return noted

    def _happen(self, job: Job, event: TrialsBegin | SearchEnds | TrialsGone) -> Job:
        return apply(self._store, job.uid, event).job


def _ending(backing: Job) -> Ending:
    """Returns the pipeline's ending: its job's, whose code is OK only if it succeeded."""
    ending = backing.ending or Ending(backing.state)
    if ending.state is State.SUCCEEDED:
        return Ending(State.SUCCEEDED)
    code = ending.code or Code.UNKNOWN
    said = ending.message or f"it ended {ending.state.value}"
    return Ending(ending.state, code, f"{backing.name}: {said}")
