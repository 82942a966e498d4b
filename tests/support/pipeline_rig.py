"""A training pipeline with everything that it stands on, and a job that does what a test says."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from footplate.control.job_updates import apply
from footplate.control.models import ModelRegistry
from footplate.control.pipelines import PipelineAdvance
from footplate.domain.errors import ServiceError
from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, Job, JobEvent
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import TrainingPipelineName, backing_uid, pipeline_model_name
from footplate.domain.pipelines import InputData, ModelUpload, Pipeline
from tests.support.clock import FakeClock
from tests.support.crashes import Crash, CrashPoint, mortal
from tests.support.jobs import make_job
from tests.support.models import MemoryFiles
from tests.support.store import MemoryStore
from tests.support.vizier import CountingIds

if TYPE_CHECKING:
    from footplate.control.data_exports import ExportedData
    from footplate.domain.errors import Code
    from footplate.domain.names import JobUid
    from footplate.domain.studies.records import TrialRecord
    from footplate.domain.tuning.search import Search

UPLOAD = ModelUpload('{"displayName": "mymodel"}', "gs://b/out/model/")
JOB = "projects/demo/locations/us-central1/customJobs/17"
_REST = 50


class FakeData:
    """``control.pipelines.DataWriter``: what it writes is there once ``written`` is set."""

    def __init__(self) -> None:
        self.written: ExportedData | ServiceError | None = None
        self.taken = 0
        self.stays = False
        """A cancelled export hasn't ended yet."""

    def take(self, job: Job, data: InputData) -> ExportedData | None:
        self.taken += 1
        if isinstance(self.written, ServiceError):
            raise self.written
        return self.written

    def cancel(self, uid: JobUid) -> bool:
        return not self.stays


class PipelineRig:
    """``crash_point``: where it is armed for, the service dies, and is born again by the next
    step.
    """

    def __init__(
        self,
        upload: ModelUpload | None = UPLOAD,
        search: Search | None = None,
        data: InputData | None = None,
    ) -> None:
        """``search``: the pipeline tunes hyperparameters."""
        self.data = FakeData()
        self.clock = FakeClock()
        self.store = MemoryStore()
        self.files = MemoryFiles()
        self.crash_point = CrashPoint()
        self.woken = 0
        self.trials: tuple[TrialRecord, ...] = ()
        spec = make_job(JOB).spec
        pipeline = Pipeline("a-custom-job", '{"jobSpec":{}}', upload, data)
        name = TrainingPipelineName("demo", "us-central1", "17")
        job = make_job(JOB, uid="abc", spec=replace(spec, pipeline=pipeline, search=search))
        job = replace(job, name=name, author="ann")
        self.store.create(job, (JobEvent(self.clock.now(), "QUEUED", ""),))
        self.be_reborn()

    def be_reborn(self) -> None:
        jobs = mortal(self.store, self.crash_point, "create", "update", "append")
        models = mortal(self.store.models, self.crash_point, "create", "write")
        registry = ModelRegistry(models, self.files, self.clock, CountingIds())
        self.advance = PipelineAdvance(
            jobs, registry, self.data, lambda _: self.trials, self.clock, self._wake
        )

    def _wake(self) -> None:
        self.woken += 1

    @property
    def job(self) -> Job:
        return next(iter(self.store.list(self.collection, where=None, limit=9, after=None).jobs))

    collection = "projects/demo/locations/us-central1/trainingPipelines"

    @property
    def backing(self) -> Job:
        return self.store.get_by_uid(backing_uid(self.job.uid))

    @property
    def pipeline(self) -> Pipeline:
        assert self.job.spec.pipeline is not None
        return self.job.spec.pipeline

    def settle(self) -> Job:
        """Until nothing follows of what is; the service dies where the fuse is armed for."""
        for _ in range(_REST):
            before = self.job
            if before.state.terminal:
                return before
            try:
                self.advance.inspect(before, self.pipeline)
            except Crash:
                self.be_reborn()
                continue
            if self.job == before:
                return before
        raise AssertionError("the pipeline does not come to rest")

    def begin(self) -> Job:
        now = self.clock.now()
        self._put(replace(self.backing, state=State.RUNNING, attempt=1, start_time=now))
        return self.settle()

    def end(self, state: State, code: Code, message: str = "") -> Job:
        ending = Ending(state, code, message)
        self._put(replace(self.backing, state=state, ending=ending, end_time=self.clock.now()))
        return self.settle()

    def cancel(self) -> None:
        apply(self.store, self.job.uid, CancelRequested(self.clock.now(), "me"))

    def model_versions(self) -> int:
        return len(self.store.models.get(pipeline_model_name(self.job.name)).versions)

    def _put(self, job: Job) -> None:
        self.store.update(replace(job, version=job.version + 1), ())
