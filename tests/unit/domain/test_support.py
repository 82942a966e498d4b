"""What this version runs of what it accepts."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from footplate.domain.jobs import ContainerProgram
from footplate.domain.support import unsupported
from footplate.testing.jobs import make_custom_name, make_spec, make_training_name

if TYPE_CHECKING:
    from footplate.domain.names import JobName


@pytest.mark.parametrize("name", [make_training_name(), make_custom_name()])
def test_jobs_of_several_replicas_run(name: JobName) -> None:
    spec = make_spec(name, workers=9, evaluators=1)
    assert len(spec.replica_names()) == 11
    assert unsupported(spec) is None


def test_what_does_not_run_yet_is_said() -> None:
    containers = make_spec(workers=2, program=ContainerProgram("gcr.io/p/i"))
    assert "custom containers" in (unsupported(containers) or "")
