"""``--summarize``: a job as a few small tables, as gcloud prints them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.cli.formats.grammar import read_format
from footplate.cli.formats.printers import print_resources
from footplate.cli.trials.summary import is_tuning, trial_counts

if TYPE_CHECKING:
    from footplate.cli.formats.field_paths import Resource
    from footplate.client.trials import TrialsView

_TABLES = (
    """table[box,title="Job Overview"](
        jobId:label=JOB, state:label=STATUS, createTime.date():label=CREATED,
        startTime.date():label=STARTED, endTime.date():label=ENDED)""",
    """table[box,title="Training Input Summary"](
        trainingInput.region:label=REGION, trainingInput.pythonModule:label=MODULE,
        trainingInput.scaleTier:label=SCALE_TIER,
        trainingInput.runtimeVersion:label=RUNTIME)""",
)
_TUNED = """table[box,title="Training Output Summary"](
    metric:label=METRIC, trials:label=TRIALS, best:label=BEST)"""


def overview(resource: Resource, trials: TrialsView | None) -> str:
    """``trials``: of a tuning job. Metered units are gcloud's last table; nothing is metered."""
    told = [print_resources([resource], read_format(text)) for text in _TABLES]
    if trials is not None and is_tuning(resource):
        counted, best = trial_counts(trials)
        row = {"metric": ", ".join(trials.metrics), "trials": counted, "best": best}
        told.append(print_resources([row], read_format(_TUNED)))
    return "\n".join(told)
