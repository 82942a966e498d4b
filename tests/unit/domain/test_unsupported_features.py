"""What this version runs of what it accepts."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.domain.jobs import ContainerProgram
from footplate.domain.names import JobName
from footplate.domain.reduction import IMAGE, program
from footplate.domain.unsupported_features import unsupported
from tests.support.jobs import make_custom_name, make_spec, make_training_name

REDUCER = program(IMAGE)


@pytest.mark.parametrize("name", [make_training_name(), make_custom_name()])
def test_jobs_of_several_replicas_run(name: JobName) -> None:
    spec = make_spec(name, workers=9, evaluators=1)
    assert len(spec.replica_names()) == 11
    assert unsupported(spec, reduction=False) is None


def test_containers_run() -> None:
    containers = make_spec(workers=2, program=ContainerProgram("gcr.io/p/i"))
    assert unsupported(containers, reduction=False) is None


def test_reduction_servers_run_where_their_package_is() -> None:
    spec = make_spec(make_custom_name(), workers=2)
    reducers = replace(
        spec.primary, cluster_role="workerpool2", replica_prefix="workerpool2", program=REDUCER
    )
    spec = replace(spec, pools=(*spec.pools, reducers))

    assert unsupported(spec, reduction=True) is None
    missing = unsupported(spec, reduction=False) or ""
    assert "lacks the package footplate-reduction" in missing
    assert "Install a C++ compiler (g++), run `pip install ./reduction`" in missing
