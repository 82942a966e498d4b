"""What slurmrestd answers: as recorded of v0.0.38, and in the shapes of later versions."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from footplate.backends.engine.engine import JobPhase
from footplate.backends.slurm import rest_answers
from footplate.backends.slurm.nodes import SlurmNode
from footplate.backends.slurm.outputs import JobEnd
from footplate.ports.backend import EndCause

OLD_META = {
    "plugin": {"type": "openapi/v0.0.38", "name": "Slurm OpenAPI v0.0.38"},
    "Slurm": {"version": {"major": 22, "micro": 8, "minor": 5}, "release": "22.05.8"},
}
NEW_META = {
    "plugin": {"type": "openapi/slurmctld", "data_parser": "data_parser/v0.0.41"},
    "slurm": {"version": {"major": "24", "micro": "5", "minor": "11"}, "release": "24.11.5"},
}


def old_job(number: int, state: str, reason: str = "None", nodes: str = "") -> dict[str, Any]:
    return {
        "job_id": number,
        "name": f"footplate-s-u-{number}.0",
        "job_state": state,
        "state_reason": reason,
        "nodes": nodes,
        "user_name": "ada",
        "partition": "pool",
        "cpus": 4,
    }


def new_job(number: int, states: list[str], reason: str = "None", nodes: str = "") -> Any:
    cpus = {"set": True, "infinite": False, "number": 4}
    return {**old_job(number, "", reason, nodes), "job_state": states, "cpus": cpus}


OLD_JOBS: dict[str, Any] = {
    "meta": OLD_META,
    "errors": [],
    "jobs": [
        old_job(7, "RUNNING", nodes="n1"),
        old_job(8, "PENDING", "Resources"),
        old_job(9, "CANCELLED"),
        old_job(10, "COMPLETING", nodes="n[1-2]"),
        old_job(11, "NODE_FAIL", "NodeDown", "n3"),
    ],
}
NEW_JOBS: dict[str, Any] = {
    "meta": NEW_META,
    "errors": [],
    "warnings": [],
    "last_update": {"set": True, "infinite": False, "number": 0},
    "jobs": [
        new_job(7, ["RUNNING"], nodes="n1"),
        new_job(8, ["PENDING"], "Resources"),
        new_job(9, ["CANCELLED"]),
        new_job(10, ["COMPLETED", "COMPLETING"], nodes="n[1-2]"),
        new_job(11, ["NODE_FAIL"], "NodeDown", "n3"),
    ],
}


@pytest.mark.parametrize(
    "end", [1700003600, {"set": True, "infinite": False, "number": 1700003600}]
)
def test_the_time_of_a_job_in_both_shapes(end: object) -> None:
    [job] = rest_answers.read_jobs({"jobs": [{**old_job(7, "RUNNING"), "end_time": end}]}).jobs
    assert job.ends_s == 1700003600


@pytest.mark.parametrize("answer", [OLD_JOBS, NEW_JOBS])
def test_jobs_of_both_shapes(answer: dict[str, Any]) -> None:
    jobs = rest_answers.read_own_jobs(answer, "ada").jobs
    assert [(job.id, job.phase, job.nodes) for job in jobs] == [
        ("7", JobPhase.RUNNING, "n1"),
        ("8", JobPhase.WAITING, ""),
        ("9", JobPhase.ENDED, ""),
        ("10", JobPhase.RUNNING, "n[1-2]"),
        ("11", JobPhase.ENDED, "n3"),
    ]
    assert jobs[1].reason == "waits for nodes that other jobs use now (job 8 in Slurm: Resources)"
    assert jobs[2].cause is EndCause.CANCELLED
    assert jobs[4].reason == "a node of the job failed (job 11 in Slurm: NODE_FAIL)"


def test_a_job_that_slurm_queues_again_waits() -> None:
    (job,) = rest_answers.read_jobs({"jobs": [new_job(7, ["PENDING", "REQUEUED"])]}).jobs
    assert job.phase is JobPhase.WAITING


def test_jobs_of_other_users_and_partitions_are_left_out() -> None:
    nameless = {key: value for key, value in OLD_JOBS["jobs"][0].items() if key != "user_name"}
    answer = {"jobs": [old_job(1, "RUNNING"), nameless]}
    assert [job.id for job in rest_answers.read_own_jobs(answer, "ada").jobs] == ["1"]
    assert rest_answers.read_own_jobs(answer, "eve").jobs == ()
    assert rest_answers.read_jobs(answer, partition="gpu").jobs == ()
    assert len(rest_answers.read_jobs(answer, partition="pool").jobs) == 2


@pytest.mark.parametrize(
    "answer",
    [
        {},
        {"jobs": None},
        {"jobs": [3]},
        {"jobs": [{"job_id": 7, "name": "x"}]},
        {"jobs": [{**old_job(7, "RUNNING"), "job_id": None}]},
    ],
)
def test_half_a_list_of_jobs_is_none(answer: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="slurmrestd's answer"):
        rest_answers.read_jobs(answer)


def test_nodes_of_both_shapes() -> None:
    old = {
        "name": "n3",
        "state": "idle",
        "state_flags": ["NOT_RESPONDING"],
        "cpus": 64,
        "real_memory": 64000,
        "gres": "gpu:t4:2",
        "features": "c8,big",
        "partitions": ["pool", "gpu"],
    }
    new = {**old, "state": ["IDLE", "NOT_RESPONDING"], "features": ["c8", "big"]}
    del new["state_flags"]
    expected = SlurmNode(
        "n3",
        "idle+not_responding",
        64,
        64000,
        ("gpu:t4:2",),
        ("c8", "big"),
        ("pool", "gpu"),
        silent=True,
    )
    assert rest_answers.read_nodes({"nodes": [old]}) == (expected,)
    assert rest_answers.read_nodes({"nodes": [new]}) == (expected,)
    moments = {"boot_time": 1700000000, "slurmd_start_time": 1700000050}
    wrapped = {k: {"set": True, "infinite": False, "number": v} for k, v in moments.items()}
    unset = {k: {"set": False, "infinite": False, "number": v} for k, v in moments.items()}
    booted = replace(expected, booted_s=1700000000, daemon_started_s=1700000050)
    assert rest_answers.read_nodes({"nodes": [{**old, **moments}]}) == (booted,)
    assert rest_answers.read_nodes({"nodes": [{**new, **wrapped}]}) == (booted,)
    assert rest_answers.read_nodes({"nodes": [{**new, **unset}]}) == (expected,)
    drained = {**new, "state": ["IDLE", "DRAIN"]}
    assert not rest_answers.read_nodes({"nodes": [drained]})[0].silent
    with pytest.raises(ValueError, match="'cpus'"):
        rest_answers.read_nodes({"nodes": [{"name": "n1", "state": "idle"}]})


def test_the_newest_version_that_is_known_is_chosen() -> None:
    paths = [f"/slurm/v0.0.{number}/job/submit" for number in (37, 38, 41, 99)]
    assert rest_answers.choose_version({"paths": dict.fromkeys(paths)}) == 41
    with pytest.raises(
        ValueError, match=r"has v0.0.99 of its API; Footplate supports v0.0.38 to v0.0.46"
    ):
        rest_answers.choose_version({"paths": {paths[-1]: {}}})
    with pytest.raises(ValueError, match="no version"):
        rest_answers.choose_version({})


def test_releases_and_pings_of_both_shapes() -> None:
    assert rest_answers.read_release({"meta": OLD_META}) == "22.05.8"
    assert rest_answers.read_release({"meta": NEW_META}) == "24.11.5"
    assert rest_answers.read_pings({"pings": [{"ping": "DOWN"}, {"ping": "UP"}]})
    assert rest_answers.read_pings({"pings": [{"pinged": "UP", "latency": 2}]})
    assert not rest_answers.read_pings({"pings": [{"pinged": "DOWN"}]})
    assert not rest_answers.read_pings({})


def test_errors_of_all_shapes() -> None:
    unknown = {
        "errors": [
            {
                "description": "Unable to find JobId=77",
                "error_number": 2017,
                "error": "Invalid job id specified",
                "source": "slurm_load_job",
            }
        ]
    }
    partition = {"errors": [{"error_code": 2000, "error": "Invalid partition name specified"}]}
    key = {"errors": [{"description": 'Unknown key "x"'}, {"error_code": 9001, "error": "no"}]}
    opaque = {
        "errors": [
            {
                "description": "Failed while looking for jobs",
                "error_number": -1,
                "error": "Unspecified error",
            },
            "a word",
        ]
    }
    read = rest_answers.read_errors
    assert read(unknown) == ((2017, "Unable to find JobId=77: Invalid job id specified"),)
    assert read(opaque) == ((-1, "Failed while looking for jobs"), (-1, "a word"))
    assert read({}) == ()
    assert rest_answers.is_unknown_job(read(unknown))
    assert [rest_answers.is_refusal(read(each)) for each in (partition, key, opaque, unknown)] == [
        True,
        True,
        False,
        False,
    ]
    assert rest_answers.is_ended_job([(2021, "Job/step already completing or completed")])


def test_a_record_without_a_number_hides_no_other() -> None:
    answer = {"jobs": [new_job(7, ["RUNNING"]), {**new_job(8, ["RUNNING"]), "job_id": None}]}
    found = rest_answers.read_jobs(answer)
    assert [job.id for job in found.jobs] == ["7"]
    assert len(found.oddities) == 1


@pytest.mark.parametrize("preempted", [1795965321, {"set": True, "number": 1795965321}])
def test_the_end_of_a_job(preempted: object) -> None:
    """Recorded of v0.0.38; later versions have an object for each number."""
    job = {"job_id": 3, "job_state": "FAILED", "comment": "footplate: signal 15"}
    for at, expected in ((0, False), ({"set": True, "number": 0}, False), (preempted, True)):
        end = rest_answers.read_end({"jobs": [{**job, "preempt_time": at}]})
        assert end == JobEnd("signal 15", preempted=expected)
    assert rest_answers.read_end({"jobs": []}) == JobEnd()
