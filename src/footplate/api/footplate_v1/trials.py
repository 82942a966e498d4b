"""Routes of Footplate's own API: trials of a tuning job, in full detail.

``GET /footplate/v1/{job name}/trials``, ``.../trials/{number}/measurements``, ``.../curves``, and
``.../replay``.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING

from starlette.routing import Route

from footplate.api.json_route import Call, json_route
from footplate.control.tuning.trials import Trials
from footplate.domain.admission import Explanation
from footplate.domain.errors import FailedPrecondition, InvalidArgument, NotFound, Violation
from footplate.domain.jobs import Job
from footplate.domain.names import JobName, parse_job_name
from footplate.domain.studies.records import Report, TrialRecord
from footplate.domain.tuning.search import Search
from footplate.wire.footplate_v1.trial_answers import list_answer, report_answer, trial_answer
from footplate.wire.footplate_v1.trial_curves import RULES, curves_json, replay_json
from footplate.wire.footplate_v1.trial_selection import select_trials
from footplate.wire.footplate_v1.trials import Measurements
from footplate.wire.json_text import JsonObject, describe

if TYPE_CHECKING:
    from footplate.wire.footplate_v1.trials import Trial

    GetJob = Callable[[JobName], Job]
    Explain = Callable[[Job], Explanation | None]

_MOST_DIGITS = 9
_MOST_POINTS = 1000
_DEFAULT_POINTS = 100


def trials_routes(trials: Trials, get_job: GetJob, explain: Explain) -> list[Route]:
    """Returns the routes; ``get_job`` raises NotFound, ``explain`` returns why a job waits."""
    api = _TrialsApi(trials, get_job, explain)
    every = "/footplate/v1/{name:path}/trials"
    return [
        json_route(f"{every}/{{number}}/measurements", {"GET": api.measurements}),
        json_route(every, {"GET": api.list}),
        json_route("/footplate/v1/{name:path}/curves", {"GET": api.curves}),
        json_route("/footplate/v1/{name:path}/replay", {"GET": api.replay}),
    ]


@dataclass(frozen=True)
class _TrialsApi:
    _trials: Trials
    _get_job: GetJob
    _explain: Explain

    def list(self, call: Call) -> JsonObject:
        """Returns a tuning job's trials that match ``filter``, sorted by ``orderBy`` or by number.

        Running trials include their last reports.
        """
        job, search = self._tuning_job(call)
        found, runs = self._trials.trials(job.uid), self._trials.runs(job)
        trials = [self._answer(job, trial, runs.get(trial.number)) for trial in found]
        answer = list_answer(job, search, self._trials.study(job.uid), found, trials)
        order_by = call.parameter("orderBy", "order_by") or ""
        return select_trials(answer.encode(), call.parameter("filter") or "", order_by)

    def measurements(self, call: Call) -> JsonObject:
        """Returns all measurements of a trial, in the order of their arrival."""
        job, _ = self._tuning_job(call)
        number = _number(call.path["number"])
        if all(trial.number != number for trial in self._trials.trials(job.uid)):
            raise NotFound(f"{job.name} has no trial {call.path['number'][:50]!r}")
        reports = self._trials.reports(job.uid, number)
        found = tuple(report_answer(each.report, position=each.position) for each in reports)
        return Measurements(measurements=found).encode()

    def curves(self, call: Call) -> JsonObject:
        """Returns each trial's reports; a long curve is reduced to ``points``, evenly chosen."""
        job, _ = self._tuning_job(call)
        points = call.number("points", _DEFAULT_POINTS, 2, _MOST_POINTS)
        return curves_json(self._trials.curves(job.uid), points)

    def replay(self, call: Call) -> JsonObject:
        """Returns which trials ``?rule=`` would have stopped, when, why, and what that saves."""
        job, search = self._tuning_job(call)
        rule = call.parameter("rule") or ""
        if rule not in RULES:
            allowed = f"{describe(rule)} given; allowed: {', '.join(RULES)}"
            raise InvalidArgument.of((Violation("rule", allowed),))
        trials = self._trials.trials(job.uid)
        stops = self._trials.replay(job.uid, RULES[rule])
        return replay_json(rule, search, trials, stops)

    def _tuning_job(self, call: Call) -> tuple[Job, Search]:
        job = self._get_job(parse_job_name(call.path["name"]))
        if job.spec.search is None:
            raise FailedPrecondition(f"{job.name} is not a tuning job, so it has no trials")
        return job, job.spec.search

    def _answer(self, job: Job, trial: TrialRecord, run: Job | None) -> Trial:
        waiting = None if run is None else self._explain(run)
        return trial_answer(trial, run, waiting, self._latest(job, trial))

    def _latest(self, job: Job, trial: TrialRecord) -> Report | None:
        if trial.state.ended or trial.start_time is None:
            return None
        reports = self._trials.reports(job.uid, trial.number)
        return reports[-1].report if reports else None


def _number(text: str) -> int:
    """Returns the number in ``text``; 0, which no trial has, if it isn't one."""
    return int(text) if text.isascii() and text.isdigit() and len(text) <= _MOST_DIGITS else 0
