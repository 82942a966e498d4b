"""Which programs' gRPC is led to the proxy."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import pytest

from footplate.control.program_api import ProgramApi
from tests.support.jobs import make_job

if TYPE_CHECKING:
    from footplate.domain.jobs import Job

EMAIL = "trainer@demo.iam.gserviceaccount.com"
PROXY = "http://127.0.0.1:8472"
JOB = make_job()
ASKING = replace(JOB, spec=replace(JOB.spec, service_account=EMAIL))


def test_a_program_that_may_call_is_led() -> None:
    api = ProgramApi((JOB.name.project,), lambda: PROXY, lambda *words: " ".join(words))
    found = dict(api.variables(ASKING))
    assert (found["grpc_proxy"], found["GOOGLE_CLOUD_PROJECT"]) == (PROXY, JOB.name.project)
    assert "127.0.0.1" in found["no_grpc_proxy"].split(",")
    assert api.account(ASKING) == f"{JOB.name.project} {EMAIL}"


@pytest.mark.parametrize(
    ("projects", "proxy", "job"),
    [((), PROXY, ASKING), (("*",), None, ASKING), (("*",), PROXY, JOB)],
    ids=["not named", "no proxy", "no account"],
)
def test_others_are_not(projects: tuple[str, ...], proxy: str | None, job: Job) -> None:
    api = ProgramApi(projects, lambda: proxy, lambda *_: "account")
    assert api.variables(job) == ()
    assert api.account(job) == ""
