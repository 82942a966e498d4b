from dataclasses import replace

import pytest

from footplate.domain.job_states import State
from footplate.domain.lifecycle import Admitted, react
from footplate.domain.names import JobName
from tests.support.jobs import (
    CREATED,
    make_custom_name,
    make_job,
    make_spec,
    make_training_name,
)


@pytest.mark.parametrize("name", [make_training_name(), make_custom_name()])
def test_a_made_job_can_be_admitted(name: JobName) -> None:
    job = make_job(name, spec=make_spec(name, workers=2))
    after = react(job, Admitted(CREATED)).job
    assert after.state is State.PREPARING
    assert [replica.name for replica in after.replicas] == list(job.spec.replica_names())
    assert len(after.replicas) == 3


def test_a_name_may_be_given_as_text() -> None:
    assert make_job("projects/p/jobs/j").name == make_training_name("j", "p")
    assert make_job("projects/p/locations/l/customJobs/1").spec.region == "l"


def test_jobs_of_different_names_differ_and_of_equal_names_are_equal() -> None:
    assert make_job("projects/p/jobs/a").uid != make_job("projects/p/jobs/b").uid
    assert make_job() == replace(make_job(), version=1)
