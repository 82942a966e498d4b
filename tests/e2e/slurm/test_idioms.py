"""What programs do with a directory ``gs://...`` on a node of Slurm."""

from collections.abc import Iterator

import pytest

from tests.e2e.service.test_idioms import SMALL
from tests.e2e.slurm.conftest import REGION, ServeRegion
from tests.support import idioms


@pytest.fixture
def outcome(serve_region: ServeRegion) -> Iterator[idioms.Outcome]:
    with serve_region("") as context:
        name = context.submit(idioms.make_trainer(SMALL), region=REGION)
        yield idioms.wait(context, name, context.out(name) / "0")


def test_idioms(outcome: idioms.Outcome) -> None:
    """One job for all: each would need a server."""
    for _, case in idioms.cases({"node": SMALL}):
        outcome.check(case)
