"""Which programs' gRPC is led to the proxy, and what those on other machines call with."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.program_api import ProgramApi
from footplate.control.tokens import Bearer
from footplate.domain.jobs import Job
from tests.support.jobs import make_job

EMAIL = "trainer@demo.iam.gserviceaccount.com"
URL, PORT, RELAY = "http://127.0.0.1:8470", 8472, "http://127.0.0.1:7"
JOB = make_job()
ASKING = replace(JOB, spec=replace(JOB.spec, service_account=EMAIL))
BEARER = Bearer(JOB.attempt_id, "master-replica-0")


def make_api(
    projects: tuple[str, ...] = (JOB.name.project,),
    port: int | None = PORT,
    *,
    tells_callers: bool = True,
) -> ProgramApi:
    return ProgramApi(
        projects,
        URL,
        port,
        lambda bearer: f"key-of-{bearer}",
        lambda *words: " ".join(words),
        tells_callers=tells_callers,
    )


def test_a_program_that_may_call_is_led() -> None:
    api = make_api()
    found = dict(api.variables(ASKING, BEARER))
    assert found["grpc_proxy"] == f"http://127.0.0.1:{PORT}"
    assert found["GOOGLE_CLOUD_PROJECT"] == JOB.name.project
    assert "127.0.0.1" in found["no_grpc_proxy"].split(",")
    assert "FOOTPLATE_TOKEN" not in found, "the kernel says whose connection it is"
    assert api.account(ASKING, BEARER) == f"{JOB.name.project} {EMAIL} {URL}/token"


@pytest.mark.parametrize("tells_callers", [True, False])
def test_on_another_machine_it_has_a_key_and_its_launcher_leads_to_the_proxy(
    *, tells_callers: bool
) -> None:
    api, key = make_api(tells_callers=tells_callers), f"key-of-{BEARER}"
    found = dict(api.variables(ASKING, BEARER, RELAY))
    assert found["grpc_proxy"] == f"http://caller:{key}@127.0.0.1:7"
    assert (found["FOOTPLATE_URL"], found["FOOTPLATE_TOKEN"]) == (RELAY, key)
    account = api.account(ASKING, BEARER, RELAY)
    assert account == f"{JOB.name.project} {EMAIL} {RELAY}/token?key={key}"


def test_without_a_proxy_a_program_on_another_machine_calls_over_http() -> None:
    api = make_api(port=None)
    found = dict(api.variables(ASKING, BEARER, RELAY))
    assert "grpc_proxy" not in found
    assert found["FOOTPLATE_URL"] == RELAY
    assert api.account(ASKING, BEARER, RELAY) == ""
    assert api.variables(ASKING, BEARER) == ()


@pytest.mark.parametrize("relay", ["", RELAY])
@pytest.mark.parametrize(
    ("projects", "job"), [((), ASKING), (("*",), JOB)], ids=["not named", "no account"]
)
def test_others_are_not(projects: tuple[str, ...], job: Job, relay: str) -> None:
    api = make_api(projects)
    assert api.variables(job, BEARER, relay) == ()
    assert api.account(job, BEARER, relay) == ""


def test_where_programs_are_not_told_from_users_those_of_this_machine_are_not_led() -> None:
    assert make_api(tells_callers=False).variables(ASKING, BEARER) == ()
