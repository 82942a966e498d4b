"""One step of a tuning job: records what happened and starts what follows.

Every step can be the last one of this process: all that is to be done follows from the records of
the job, its study, its trials and their runs, and doing it twice is doing it once.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from hashlib import sha256

from footplate.control.job_updates import apply
from footplate.control.suggestions import Suggester
from footplate.control.tuning.early_stopping import EarlyStopping
from footplate.control.tuning.measurement_cache import MeasurementCache
from footplate.control.tuning.prior_studies import PriorStudies
from footplate.control.tuning.trial_events import (
    ended_events,
    hint,
    made_event,
    outdated_event,
    prior_event,
    stopping_event,
    unseen_event,
)
from footplate.control.tuning.trial_jobs import TrialJobs
from footplate.domain.errors import AlreadyExists, NotFound
from footplate.domain.job_states import State
from footplate.domain.jobs import Job, JobEvent, PythonProgram
from footplate.domain.lifecycle import SearchEnds, TrialsBegin, TrialsGone
from footplate.domain.names import StudyUid, TrainingJobName
from footplate.domain.output_directories import output_directory
from footplate.domain.studies.limit_checks import over
from footplate.domain.studies.records import StudyRecord, StudyState, TrialRecord
from footplate.domain.studies.trials import TrialState
from footplate.domain.tuning.progress import End, Suggest, explain_end, next_step, why_stopped
from footplate.domain.tuning.search import Search
from footplate.domain.tuning.trial_outcome import drop, judge
from footplate.ports.clock import Clock
from footplate.ports.store import Store
from footplate.ports.studies import StudyStore, StudyWithTrials

_SEED_BYTES = 6
_SUGGESTED = 20
"""The most in one look; each may take a second where there are many parameters."""


@dataclass(frozen=True, eq=False)
class TuningStep:
    store: Store
    studies: StudyStore
    suggester: Suggester
    runs: TrialJobs
    reported: MeasurementCache
    stopping: EarlyStopping
    earlier: PriorStudies
    clock: Clock

    def inspect(self, job: Job, search: Search) -> tuple[Job, StudyWithTrials]:
        """Takes a step; returns the job in its new state, and its study.

        Raises:
            Aborted: another server wrote the job or study meanwhile; call again.
            NotFound: the job was deleted meanwhile.
        """
        # The order makes each write safe to repeat. Missing runs are created before ends are
        # judged: a crash may have left a trial without a run, and `_judge` drops a trial without
        # one. Ends are recorded before `_go_on` decides, because they count for the limits and for
        # the next suggestion. Runs are cancelled after that decision, which may end the search.
        # The job ends last, when no trial is left that another step would have to end.
        kept = self._study(job, search)
        runs = self._find_runs(job, search, kept)
        kept = self._judge(job, search, kept, runs)
        job = self._begin(job, kept, runs)
        if job.ending is None:
            kept = self._stop_early(job, kept)
            job, kept = self._go_on(job, search, kept)
        self._cancel(job, kept, runs)
        if job.ending is not None and all(trial.state.ended for trial in kept.trials):
            job, kept = self._finish(job, kept)
        return job, kept

    def _study(self, job: Job, search: Search) -> StudyWithTrials:
        """Returns the job's study; creates it, with the studies it learns from, if necessary."""
        uid = StudyUid(job.uid)
        try:
            return self.studies.load(uid)
        except NotFound:
            pass
        study = StudyRecord(
            uid=uid,
            name=None,
            display_name=job.display_name,
            config=search.study,
            request="{}",
            seed=int.from_bytes(sha256(uid.encode()).digest()[:_SEED_BYTES]),
            create_time=job.create_time,
            earlier=self.earlier.of(search),
            made=self.earlier.last_number(
                search.resumes, search.learns_from, output_directory(job.spec)
            ),
        )
        prior = prior_event(search, study, self.clock.now())
        self._notify(job, () if prior is None else (prior,))
        try:
            self.studies.create(study)
        except AlreadyExists:
            return self.studies.load(uid)
        return StudyWithTrials(study)

    def _find_runs(self, job: Job, search: Search, kept: StudyWithTrials) -> dict[int, Job]:
        """Returns the runs of unfinished trials; creates missing ones unless the job is ending."""
        runs: dict[int, Job] = {}
        for trial in kept.trials:
            if trial.state.ended:
                continue
            run = self.runs.find(job, trial.number)
            if run is None and job.ending is None:
                # The trial is stored, but the server died before it created the run.
                run = self.runs.start(job, search, trial)
            if run is not None:
                runs[trial.number] = run
        return runs

    def _judge(
        self, job: Job, search: Search, kept: StudyWithTrials, runs: dict[int, Job]
    ) -> StudyWithTrials:
        """Updates the trials whose runs have started or ended, or will never start."""
        changed: list[TrialRecord] = []
        ended = kept.study.ended
        for trial in kept.trials:
            if trial.state.ended:
                continue
            after = self._after(search, trial, runs.get(trial.number))
            if after.state.ended:
                ended += 1
                # Models are fitted to the first so many ended trials. With the order in the
                # record, every server fits the same model, whatever dies in between.
                after = replace(after, ended_as=ended)
            if after is not trial:
                changed.append(after)
        if not changed:
            return kept
        events = [event for t in changed for event in self._happened(job, search, t)]
        events += self._outdated(changed, runs)
        self._notify(job, [*events, *self._unseen(job, kept, changed)])
        return self._write(kept, replace(kept.study, ended=ended), changed)

    def _after(self, search: Search, trial: TrialRecord, run: Job | None) -> TrialRecord:
        if run is None:
            return drop(trial, "the job ended before this trial started")
        if run.state.terminal:
            uid = StudyUid(run.tuning_job or run.uid)
            curve = self.reported.curve(uid, trial.number, search.study.metrics)
            tags = () if curve else self.runs.tags_seen(run)
            notes = () if curve else self.runs.metric_notes(run)
            return judge(trial, run, search.study, curve, tags, notes)
        if run.start_time is not None and trial.state is TrialState.REQUESTED:
            return replace(trial, state=TrialState.ACTIVE, start_time=run.start_time)
        return trial

    def _happened(self, job: Job, search: Search, trial: TrialRecord) -> tuple[JobEvent, ...]:
        if not trial.state.ended:
            return ()
        events = ended_events(trial, search.study.metrics, self.clock.now())
        unmeasured = trial.verdict is State.FAILED and trial.outcome is State.SUCCEEDED
        if not unmeasured or trial.final is not None:
            return events
        return (*events, hint(job, search.study.metrics, trial, self.clock.now()))

    def _outdated(self, changed: Sequence[TrialRecord], runs: dict[int, Job]) -> list[JobEvent]:
        """Returns events about trials whose metric is older than their model."""
        events = []
        for trial in changed:
            run = runs.get(trial.number)
            if trial.state is TrialState.SUCCEEDED and trial.final is not None and run is not None:
                step = self.runs.last_checkpoint(run)
                if step > trial.final.step:
                    events.append(outdated_event(trial, step, self.clock.now()))
        return events

    def _unseen(
        self, job: Job, kept: StudyWithTrials, changed: Sequence[TrialRecord]
    ) -> tuple[JobEvent, ...]:
        """Returns a warning if Google's service wouldn't see the first reported metric."""
        python = isinstance(job.spec.primary.program, PythonProgram)
        read_there = python and isinstance(job.name, TrainingJobName)
        first = next((t for t in changed if t.state is TrialState.SUCCEEDED), None)
        known = any(trial.state is TrialState.SUCCEEDED for trial in kept.trials)
        if read_there or first is None or known:
            return ()
        metrics = kept.study.config.metrics
        if self.reported.hypertuned(kept.study.uid, first.number, metrics):
            return ()
        return (unseen_event(first, self.clock.now()),)

    def _begin(self, job: Job, kept: StudyWithTrials, runs: dict[int, Job]) -> Job:
        """Moves the job to the state of its most advanced trial."""
        since = min((t.start_time for t in kept.trials if t.start_time is not None), default=None)
        prepared = any(run.state is not State.QUEUED for run in runs.values())
        begins = since is not None or prepared
        if job.ending is None and job.state is not State.RUNNING and begins:
            # One state at a time: the transition table has no step from QUEUED to RUNNING.
            job = self._happen(job, TrialsBegin(self.clock.now(), running=False))
            if since is not None:
                begin = TrialsBegin(self.clock.now(), running=True, since=since)
                job = self._happen(job, begin)
        return job

    def _stop_early(self, job: Job, kept: StudyWithTrials) -> StudyWithTrials:
        stopped = self.stopping.judge(kept)
        if not stopped:
            return kept
        now = self.clock.now()
        self._notify(job, [stopping_event(trial, now) for trial in stopped])
        return self._write(kept, kept.study, stopped)

    def _go_on(
        self, job: Job, search: Search, kept: StudyWithTrials
    ) -> tuple[Job, StudyWithTrials]:
        """Takes steps until it can only wait; of many suggestions it makes only the first.

        The new runs cause another step later, so that other jobs have their turn in between.
        """
        while True:
            step = next_step(search, kept.trials, self._why_over(kept), self._measured(kept))
            match step:
                case Suggest(count):
                    kept = self._suggest(job, search, kept, min(count, _SUGGESTED))
                    if count > _SUGGESTED:
                        return job, kept
                case End(ending):
                    return self._happen(
                        job, SearchEnds(self.clock.now(), explain_end(job.spec, ending))
                    ), kept
                case _:
                    return job, kept

    def _measured(self, kept: StudyWithTrials) -> frozenset[int]:
        """Returns the trials that have reported; empty once a trial has succeeded."""
        if any(trial.state is TrialState.SUCCEEDED for trial in kept.trials):
            return frozenset()
        curves = self.reported.curves(kept.study.uid, kept.study.config.metrics)
        return frozenset(number for number, curve in curves.items() if curve)

    def _why_over(self, kept: StudyWithTrials) -> str:
        study = kept.study
        if study.state is not StudyState.ACTIVE:
            return study.why_inactive or "the study has ended"
        limits = study.config.limits
        if limits is None:
            return ""
        now = self.clock.now()
        return over(limits, kept.trials, study.config.metrics, study.create_time, now)

    def _suggest(
        self, job: Job, search: Search, kept: StudyWithTrials, count: int
    ) -> StudyWithTrials:
        suggested = self.suggester.suggest(kept.study.uid, count, at=TrialState.REQUESTED)
        kept = self.studies.load(kept.study.uid)
        self._notify(job, [made_event(t, search.study.space) for t in suggested.trials])
        for trial in suggested.trials:
            self.runs.start(job, search, trial)
        if not suggested.exhausted:
            return kept
        spent = replace(kept.study, state=StudyState.INACTIVE, why_inactive=suggested.exhausted)
        return self._write(kept, spent, ())

    def _cancel(self, job: Job, kept: StudyWithTrials, runs: dict[int, Job]) -> None:
        """Cancels the runs of trials that should stop: some, or all if the job is ending."""
        for trial in kept.trials:
            run = runs.get(trial.number)
            stops = job.ending is not None or trial.state is TrialState.STOPPING
            if run is not None and stops and not trial.state.ended:
                early = f"stopped early: {trial.stop_reason}"
                self.runs.cancel(run, early if job.ending is None else why_stopped(job.ending))

    def _finish(self, job: Job, kept: StudyWithTrials) -> tuple[Job, StudyWithTrials]:
        # The study first: after the job's end no step looks at it any more.
        if kept.study.state is not StudyState.COMPLETED:
            kept = self._write(kept, replace(kept.study, state=StudyState.COMPLETED), ())
        return self._happen(job, TrialsGone(self.clock.now())), kept

    def _happen(self, job: Job, event: TrialsBegin | SearchEnds | TrialsGone) -> Job:
        return apply(self.store, job.uid, event).job

    def _notify(self, job: Job, events: Sequence[JobEvent]) -> None:
        """Stores events before the changes that they describe; their keys prevent duplicates."""
        if events:
            self.store.append(job.uid, events)

    def _write(
        self, kept: StudyWithTrials, study: StudyRecord, changed: Sequence[TrialRecord]
    ) -> StudyWithTrials:
        after = replace(study, version=kept.study.version + 1)
        self.studies.write(after, changed)
        new = {trial.number: trial for trial in changed}
        return StudyWithTrials(after, tuple(new.get(t.number, t) for t in kept.trials))
