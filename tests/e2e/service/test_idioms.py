"""What programs do with a directory ``gs://...``, in packages on this machine."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from footplate.domain.names import GcsUri, JobName
from tests.e2e.service.conftest import Context, SharedServices
from tests.e2e.service.tuning_helpers import search
from tests.support import idioms
from tests.support.trainers import SETUP, pack_trainer

SMALL = ("paths.py", "clients.py", "learning.py")
PLACES = {
    "ml": SMALL,
    "vertex": (*SMALL, "arrow.py"),
    "gang": SMALL,
    "vertex_gang": (*SMALL, "arrow.py"),
    "trials": SMALL,
}
"""The runtime of scikit-learn has what they need; pyarrow comes with the package."""
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
GANG = {
    "scaleTier": "CUSTOM",
    "masterType": "n1-standard-4",
    "workerType": "n1-standard-4",
    "workerCount": "1",
}


@pytest.fixture(scope="module")
def outcomes(shared_services: SharedServices) -> Iterator[dict[str, idioms.Outcome]]:
    """All places' jobs run at the same time."""
    with shared_services.context() as context:
        trainer = idioms.make_trainer(SMALL)
        names: dict[str, JobName] = {
            "ml": context.submit(trainer),
            "vertex": submit_vertex(context, "vertex", pools=1),
            "gang": context.submit(trainer, **GANG),
            "vertex_gang": submit_vertex(context, "vertex_gang", pools=2),
            "trials": context.submit(trainer, hyperparameters=search(trials=2, parallel=2)),
        }
        out = context.bucket / "out"
        folders = {
            "ml": [out / "job_1" / "0"],
            "vertex": [context.bucket / "vertex" / "model" / "0"],
            "gang": [out / "job_2" / rank for rank in "01"],
            "vertex_gang": [context.bucket / "vertex_gang" / "model" / rank for rank in "01"],
            "trials": [out / "job_3" / trial / "0" for trial in "12"],
        }
        yield {place: idioms.wait(context, names[place], *folders[place]) for place in PLACES}


def submit_vertex(context: Context, place: str, pools: int) -> JobName:
    """Its directory is called as the place is."""
    trainer = idioms.make_trainer(PLACES[place])
    package = pack_trainer(trainer, SETUP.format(requires=["pyarrow"]))
    with context.client() as client:
        output = GcsUri(context.bucket.name, place)
        return idioms.submit_package(client, context.project, output, IMAGE, package, pools)


@pytest.mark.parametrize(("place", "case"), idioms.cases(PLACES))
def test_idiom(outcomes: dict[str, idioms.Outcome], place: str, case: str) -> None:
    outcomes[place].check(case)
