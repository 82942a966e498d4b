"""What all replicas of a job are told together makes one cluster, whatever its pools are."""

from __future__ import annotations

import json
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.jobs import Address, ClusterVariable, JobSpec, WorkerPool
from footplate.domain.program_arguments import variables
from tests.support.jobs import MACHINE, PROGRAM

ML = ("master", "worker", "ps", "evaluator")
VERTEX = tuple(f"workerpool{index}" for index in range(4))


@st.composite
def specs(draw: st.DrawFn) -> JobSpec:
    """A primary, and up to four of each of the other roles; also pools that are empty.

    At least two replicas: TF_CONFIG of a lone one describes no cluster.
    """
    roles = draw(st.sampled_from((ML, VERTEX)))
    counts = (1, *draw(st.tuples(*[st.integers(0, 4)] * 3).filter(any)))
    pools = [
        WorkerPool(role, f"{role}-replica", MACHINE, count, PROGRAM)
        for role, count in zip(roles, counts, strict=True)
        if count or draw(st.booleans())
    ]
    return JobSpec(
        region="us-central1",
        pools=tuple(pools),
        cluster_variables=frozenset(ClusterVariable),
        chief_role=draw(st.sampled_from(("chief", "master"))),
        trial=draw(st.none() | st.just("1")),
    )


@st.composite
def gangs(draw: st.DrawFn) -> tuple[JobSpec, dict[str, Address]]:
    """With addresses that aren't in the order of the replicas."""
    spec = draw(specs())
    names = spec.replica_names()
    ports = st.integers(1, 65535)
    numbers = draw(st.lists(ports, min_size=len(names), max_size=len(names), unique=True))
    opened = draw(st.lists(ports, max_size=2).map(tuple))
    hosts = draw(st.sampled_from((["127.0.0.1"] * len(names), [f"host-{name}" for name in names])))
    places = zip(names, hosts, numbers, strict=True)
    return spec, {name: Address(host, port, (*opened, port)) for name, host, port in places}


def told(spec: JobSpec, addresses: dict[str, Address]) -> list[tuple[str, dict[str, str]]]:
    return [(n, dict(variables(spec, n, "j", addresses, str))) for n in spec.replica_names()]


def described(variable: str, all_told: list[tuple[str, dict[str, str]]]) -> list[dict[str, Any]]:
    return [json.loads(made[variable]) for _, made in all_told]


@given(gangs())
def test_all_agree_but_for_their_own_task(gang: tuple[JobSpec, dict[str, Address]]) -> None:
    all_told = told(*gang)
    for variable in ("TF_CONFIG", "CLUSTER_SPEC"):
        descriptions = described(variable, all_told)
        tasks = [description.pop("task") for description in descriptions]
        assert all(description == descriptions[0] for description in descriptions)
        assert len({(task["type"], task["index"]) for task in tasks}) == len(tasks)


@given(gangs())
def test_each_finds_its_own_address_at_its_task(gang: tuple[JobSpec, dict[str, Address]]) -> None:
    spec, addresses = gang
    all_told = told(spec, addresses)
    for variable in ("TF_CONFIG", "CLUSTER_SPEC"):
        found: list[str] = []
        outside = 0
        for (name, _), one in zip(all_told, described(variable, all_told), strict=True):
            kind, index = one["task"]["type"], one["task"]["index"]
            if variable == "TF_CONFIG" and kind == "evaluator":
                assert kind not in one["cluster"]
                outside += 1
            else:
                found.append(one["cluster"][kind][index])
                assert found[-1] == str(addresses[name])
        members = [a for some in described(variable, all_told)[0]["cluster"].values() for a in some]
        assert sorted(found) == sorted(members)
        assert len(members) + outside == len(all_told)


@given(gangs())
def test_ranks_have_no_gaps_and_all_meet_at_the_primary(
    gang: tuple[JobSpec, dict[str, Address]],
) -> None:
    spec, addresses = gang
    ranked = {name: made for name, made in told(spec, addresses) if "RANK" in made}
    workers = sum(p.replica_count for p in spec.pools if p.cluster_role in ("worker", VERTEX[1]))

    assert len(ranked) == (workers + 1 if workers else 0)
    assert [made["RANK"] for made in ranked.values()] == [str(n) for n in range(len(ranked))]
    assert {made["WORLD_SIZE"] for made in ranked.values()} <= {str(len(ranked))}
    primary = addresses[spec.replica_names()[0]]
    meetings = {(made["MASTER_ADDR"], made["MASTER_PORT"]) for made in ranked.values()}
    assert meetings <= {(primary.host, str(primary.port))}
