"""Trials that are clearly worse are stopped early: with grace, their measurements, and a reason."""

from __future__ import annotations

from footplate.domain.job_states import State
from tests.e2e.service.conftest import Context
from tests.e2e.service.tuning_helpers import (
    REPORTER,
    curve,
    kept,
    leftovers,
    search,
    starts,
    told,
    trials,
)

STEPS = 40
FIRST = 6
"""They run to their end, each better than those before: from them it is known how long that is."""
CURVES = REPORTER + (
    f"""
import signal

def stop(*_):
    print(json.dumps({{"trial": trial, "signal": "TERM"}}), flush=True)
    sys.exit(0)

signal.signal(signal.SIGTERM, stop)
reporter = HyperTune()
bad = trial > {FIRST}
for step in range(1, {STEPS} + 1):
    reporter.tell("loss", (50 if bad else 1) - trial / 100 + 1 / step, step)
    time.sleep(0.4 if bad else 0.02)
print(json.dumps({{"trial": trial, "steps": {STEPS}}}), flush=True)
"""
)


def test_what_is_clearly_worse_stops_early_and_keeps_what_it_had(shared: Context) -> None:
    hyperparameters = search(FIRST + 2, 2, enableTrialEarlyStopping=True, algorithm="RANDOM_SEARCH")

    name = shared.submit(CURVES, hyperparameters=hyperparameters)
    job = shared.wait_for(name, State.SUCCEEDED)

    found = trials(shared, name)
    assert [trial.number for trial in found] == list(range(1, FIRST + 3))
    assert {trial.state for trial in found} == {"SUCCEEDED"}
    ran = starts(shared, name)
    reasons = told(shared, name, "TRIAL_STOPPED")
    assert len(reasons) == 2
    output = job.resource["trainingOutput"]
    assert isinstance(output, dict)
    early = {t["trialId"] for t in output["trials"] if t.get("isTrialStoppedEarly")}  # type: ignore[union-attr,index,call-overload]  # JSON by hand
    assert early == {str(FIRST + 1), str(FIRST + 2)}
    for trial in found[FIRST:]:
        assert ran[str(trial.number)] == [{"trial": trial.number, "signal": "TERM"}]
        points = curve(shared, name, trial.number)
        assert 0 < len(points) < STEPS
        assert trial.final is not None
        assert trial.final.step == points[-1].step
        assert trial.stop_reason in " ".join(reasons)
        assert "top third" in trial.stop_reason
    assert [len(curve(shared, name, t.number)) for t in found[:FIRST]] == [STEPS] * FIRST
    stored = kept(shared, name).trials
    assert [t.stopped_early for t in stored] == [False] * FIRST + [True] * 2
    shared.until(lambda: leftovers(shared) == [])
