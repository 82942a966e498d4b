"""The jobs that run trials."""

from __future__ import annotations

import json
from collections.abc import Callable

from footplate.control.evaluations import BEHIND, STEP
from footplate.control.job_updates import apply
from footplate.domain.cluster_roles import ClusterRole, role_of
from footplate.domain.errors import AlreadyExists, NotFound
from footplate.domain.jobs import Job, JobEvent
from footplate.domain.lifecycle import CancelRequested
from footplate.domain.names import TrainingJobName, run_uid, trial_run_name
from footplate.domain.studies.records import TrialRecord
from footplate.domain.tuning.search import Search
from footplate.domain.tuning.trial_spec import flags, trial_spec
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.wire.training_v1.trial_runs import trial_request as training_request
from footplate.wire.vertex_v1.trial_runs import trial_request as vertex_request

TAGS = "METRIC_TAGS"
"""The event of a run that says, as a JSON list, what tags its program reported in vain."""
NOTES = "METRICS"
"""The event of a run that says what went wrong with looking for what it reports."""
_ALL = 100_000


class TrialJobs:
    """The jobs that run trials, one for each; ``find`` and ``start`` may be repeated."""

    def __init__(self, store: Store, clock: Clock, wake: Callable[[], None]) -> None:
        """Stores the dependencies; ``wake`` is called after changes that others must act on."""
        self._store = store
        self._clock = clock
        self._wake = wake

    def find(self, job: Job, number: int) -> Job | None:
        try:
            return self._store.get_by_uid(run_uid(job.uid, number))
        except NotFound:
            return None

    def start(self, job: Job, search: Search, trial: TrialRecord) -> Job:
        """Creates the job that runs the trial, or returns it if it exists."""
        now = self._clock.now()
        name = trial_run_name(job.name, trial.number)
        run = Job(
            uid=run_uid(job.uid, trial.number),
            name=name,
            display_name=f"{job.display_name}-{trial.number}",
            spec=trial_spec(job.spec, search, trial.number, trial.point, job.name.job_id),
            request=_request(job, search, trial),
            create_time=now,
            update_time=now,
            labels=job.labels,
            tuning_job=job.uid,
        )
        try:
            self._store.create(run, (JobEvent(now, "QUEUED", ""),))
        except AlreadyExists:
            return self._store.get_by_uid(run.uid)
        self._wake()
        return run

    def cancel(self, run: Job, why: str) -> None:
        """Requests the run's end, unless it has ended or is ending."""
        if run.state.terminal or run.ending is not None:
            return
        apply(self._store, run.uid, CancelRequested(self._clock.now(), why=why))
        self._wake()

    def tags_seen(self, run: Job) -> tuple[str, ...]:
        """Returns the metrics that the run's programs reported, if the wanted one was missing."""
        found = (json.loads(message) for message in self._messages(run, TAGS))
        return tuple(sorted({str(tag) for tags in found for tag in tags}))

    def metric_notes(self, run: Job) -> tuple[str, ...]:
        """Returns what went wrong while the metric was read, each message once."""
        return tuple(dict.fromkeys(self._messages(run, NOTES)))

    def last_checkpoint(self, run: Job) -> int:
        """Returns the step of the last checkpoint without an evaluation; 0: none was found."""
        if not any(role_of(pool) is ClusterRole.EVALUATOR for pool in run.spec.pools):
            return 0
        steps = (STEP.search(message) for message in self._messages(run, BEHIND))
        return max((int(step[1]) for step in steps if step), default=0)

    def _messages(self, run: Job, kind: str) -> list[str]:
        events = self._store.events(run.uid, limit=_ALL)
        return [each.event.message for each in events if each.event.kind == kind]


def _request(job: Job, search: Search, trial: TrialRecord) -> str:
    given = flags(search.study.space, trial.point)
    if isinstance(job.name, TrainingJobName):
        region = search.region_of(trial.number)
        return training_request(job.request, trial.number, given, region)
    return vertex_request(job.request, trial.number, given)
