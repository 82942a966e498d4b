"""What another stopping rule would have stopped."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.studies.metrics import Goal, Metric
from footplate.domain.studies.stopping import (
    ConvexSpec,
    DecayCurveSpec,
    HalvingSpec,
    MedianSpec,
    PastTrial,
    StoppingSpec,
)
from footplate.domain.studies.study import StudyConfig
from footplate.tuning.stopping import replay as subject
from footplate.tuning.stopping.replay import replay
from tests.unit.tuning.stopping.test_rules import LOSS, SPACE, decay, trial

SPECS: list[StoppingSpec] = [HalvingSpec(), MedianSpec(), DecayCurveSpec(), ConvexSpec()]
LEVELS = (0.2, 0.25, 0.3, 0.35, 0.4, 0.45, 5.0, 0.1)


def config(spec: StoppingSpec | None) -> StudyConfig:
    return StudyConfig(SPACE, (LOSS,), stopping=spec)


def past(levels: tuple[float, ...] = LEVELS) -> list[PastTrial]:
    """One after the other; each takes 200 s on two machines."""
    return [
        PastTrial(replace(trial(n, decay(level)), machine_s=400.0), n * 200.0, (n + 1) * 200.0)
        for n, level in enumerate(levels, 1)
    ]


@pytest.mark.parametrize("spec", SPECS)
def test_it_stops_the_bad_trial_and_counts_what_that_saves(spec: StoppingSpec) -> None:
    stops = {stop.number: stop for stop in replay(config(spec), past())}
    assert not {1, 2, 3, 8} & stops.keys()
    stop = stops[7]
    assert stop.reason
    assert stop.saved_s == pytest.approx(400.0 * (1 - stop.step / 100))
    assert 0 < stop.step < 100


def test_a_trial_is_compared_with_what_had_ended_by_then() -> None:
    bad_first = past((5.0, *LEVELS[:6]))
    assert all(stop.number > 5 for stop in replay(config(MedianSpec()), bad_first))


def test_stops_are_in_the_order_of_time() -> None:
    stops = replay(config(HalvingSpec()), past((*LEVELS[:6], 5.0, 6.0)))
    assert [stop.number for stop in stops][-2:] == [7, 8]


def test_without_a_rule_or_trials_nothing_stops() -> None:
    assert replay(config(None), past()) == ()
    assert replay(config(MedianSpec()), []) == ()
    assert replay(config(MedianSpec()), [PastTrial(trial(1, ()), 0.0, 1.0)]) == ()


def test_long_curves_are_judged_at_some_points(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(subject, "MAX_JUDGEMENTS", 16)
    assert 7 in {stop.number for stop in replay(config(MedianSpec()), past())}


def test_several_metrics_have_no_rule() -> None:
    several = replace(config(MedianSpec()), metrics=(LOSS, Metric("n", Goal.MAXIMIZE)))
    with pytest.raises(ValueError, match="single metric"):
        replay(several, past())
