"""The SDK's own classes of studies and trials, which need google-vizier beside it."""

from __future__ import annotations

from collections.abc import Callable

PROBLEM = """
from google.cloud.aiplatform.vizier import Study, pyvizier

problem = pyvizier.StudyConfig()
problem.algorithm = pyvizier.Algorithm.RANDOM_SEARCH
problem.metric_information.append(
    pyvizier.MetricInformation(name="loss", goal=pyvizier.ObjectiveMetricGoal.MINIMIZE))
root = problem.search_space.select_root()
root.add_float_param("rate", 0.0, 1.0, scale_type=pyvizier.ScaleType.LINEAR)
root.add_int_param("depth", 1, 5)
root.add_categorical_param("optimizer", ["adam", "sgd"])
problem.automated_stopping_config = (
    pyvizier.AutomatedStoppingConfig.decay_curve_stopping_config(use_steps=True))

def measured(loss, steps=0):
    return pyvizier.Measurement(metrics={"loss": pyvizier.Metric(loss)}, steps=steps)
"""


def test_a_study_is_created_or_loaded(vizier_sdk: Callable[[str], list[str]]) -> None:
    """Over REST the SDK doesn't understand that a study is there already."""
    lines = vizier_sdk(f"""{PROBLEM}
study = Study.create_or_load(display_name="loaded", problem=problem)
say(Study.create_or_load(display_name="loaded", problem=problem).resource_name
    == study.resource_name)
""")
    assert lines == ["True"]


def test_trials_are_suggested_measured_stopped_and_completed(
    vizier_sdk: Callable[[str], list[str]],
) -> None:
    lines = vizier_sdk(f"""{PROBLEM}
study = Study.create_or_load(display_name="whole", problem=problem)
trials = study.suggest(count=6, worker="a")
say([trial.uid for trial in trials])
say(sorted(trials[0].parameters))
for number, trial in enumerate(trials[:5], 1):
    trial.add_measurement(measured(number, steps=1))
    final = trial.complete()
    say(final.metrics["loss"].value)
worst = trials[5]
say(worst.should_stop())
worst.add_measurement(measured(9, steps=1))
worst.api_client.stop_trial(request={{"name": worst.resource_name}})
say(worst.should_stop())
worst.complete(infeasible_reason="too slow")
say(worst.materialize().infeasible, worst.status)
say([trial.uid for trial in study.optimal_trials()])
say(len(study.trials()), study.get_trial(1).uid)
say([trial.uid for trial in study.suggest(count=1)])
say([trial.uid for trial in study.suggest(count=1)])
study.delete()
""")
    assert lines == [
        "[1, 2, 3, 4, 5, 6]",
        "['depth', 'optimizer', 'rate']",
        *(f"{number}.0" for number in range(1, 6)),
        "False",
        "True",
        "True TrialStatus.COMPLETED",
        "[1]",
        "6 1",
        "[7]",
        "[7]",
    ]
