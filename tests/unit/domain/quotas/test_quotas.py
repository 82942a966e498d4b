from collections.abc import Mapping

import pytest
from hypothesis import given
from hypothesis import strategies as st

from footplate.domain.quotas import ANY, Limit, Quota, Quotas, exceeded
from footplate.domain.resources import JOBS, VCPUS, say_amount

T4, REGION = "NVIDIA_TESLA_T4", "us-central1"

projects = st.sampled_from([ANY, "ads", "maps"])
regions = st.sampled_from([ANY, REGION, "us-east1"])
resources = st.sampled_from([VCPUS, JOBS, T4])
amounts = st.integers(0, 9)
quotas = st.builds(Quota, projects, regions, st.dictionaries(resources, amounts))
counts = st.dictionaries(resources, amounts)


@given(st.lists(quotas), projects, regions, resources)
def test_the_most_specific_quota_that_names_the_resource_counts(
    given_quotas: list[Quota], project: str, region: str, resource: str
) -> None:
    def rank(index: int) -> tuple[bool, bool, int]:
        quota = given_quotas[index]
        return quota.project == project, quota.region == region, index

    fitting = [
        index
        for index, quota in enumerate(given_quotas)
        if quota.project in (project, ANY)
        and quota.region in (region, ANY)
        and resource in quota.limits
    ]
    expected = given_quotas[max(fitting, key=rank)] if fitting else None

    found = Quotas(given_quotas)

    assert found.limit(project, region, resource) == (expected and expected.limits[resource])
    limit = expected and Limit(expected.limits[resource], expected.project, expected.region)
    assert found.in_force(project, region).get(resource) == limit


@given(st.lists(quotas), projects, regions)
def test_all_ways_to_ask_say_the_same(given_quotas: list[Quota], project: str, region: str) -> None:
    found = Quotas(given_quotas)

    asked = {r: found.limit(project, region, r) for r in (VCPUS, JOBS, T4)}

    assert found.limits(project, region) == {r: a for r, a in asked.items() if a is not None}
    assert list(Quotas(found)) == list(found)


def test_no_quota_is_no_limit() -> None:
    assert Quotas().limit("ads", REGION, VCPUS) is None
    assert Quotas([Quota("ads", REGION, {VCPUS: 1})]).limits("maps", REGION) == {}


def test_each_project_and_region_is_there_once_the_wildcards_first() -> None:
    found = Quotas(
        [
            Quota("ads", REGION, {VCPUS: 1, JOBS: 1}),
            Quota("ads", ANY, {T4: 4}),
            Quota(ANY, REGION, {JOBS: 3}),
            Quota("ads", REGION, {VCPUS: 2}),
        ]
    )

    assert list(found) == [
        Quota(ANY, REGION, {JOBS: 3}),
        Quota("ads", ANY, {T4: 4}),
        Quota("ads", REGION, {VCPUS: 2, JOBS: 1}),
    ]


@given(st.lists(quotas), counts, st.sampled_from(["ads", "maps"]))
def test_what_fits_into_every_limit_is_not_exceeded(
    given_quotas: list[Quota], asked: Mapping[str, int], project: str
) -> None:
    found = Quotas(given_quotas)
    limits = found.limits(project, REGION)

    over = [name for name in sorted(asked) if asked[name] > limits.get(name, asked[name])]

    told = exceeded(asked, project, REGION, found)
    assert [say_amount(name, asked[name]) for name in over] == [
        sentence.partition(", but")[0].removeprefix("asks for ") for sentence in told
    ]


@given(st.lists(quotas), counts)
def test_the_named_way_out_is_one(given_quotas: list[Quota], asked: Mapping[str, int]) -> None:
    told = exceeded(asked, "ads", REGION, Quotas(given_quotas))
    raised = {}
    for sentence in told:
        word = sentence.partition("footplate quotas set ")[2].split()[0]
        resource, _, amount = word.partition("=")
        raised[resource] = int(amount)

    better = Quotas([*given_quotas, Quota("ads", REGION, raised)])

    assert exceeded(asked, "ads", REGION, better) == ()


def test_a_sentence_names_what_was_asked_what_is_allowed_and_the_way_out() -> None:
    limits = Quotas([Quota("ads", ANY, {T4: 4, JOBS: 0}), Quota(ANY, REGION, {VCPUS: 1})])

    assert exceeded({T4: 8, VCPUS: 16, JOBS: 1}, "ads", REGION, limits) == (
        (
            "asks for 8 NVIDIA_TESLA_T4, but project ads may hold only 4 NVIDIA_TESLA_T4 in "
            "us-central1; raise the quota with `footplate quotas set NVIDIA_TESLA_T4=8 "
            "--project=ads --region=us-central1`"
        ),
        (
            "asks for 1 job, but project ads may hold only 0 jobs in us-central1; "
            "raise the quota with `footplate quotas set jobs=1 --project=ads --region=us-central1`"
        ),
        (
            "asks for 16 vCPUs, but project ads may hold only 1 vCPU in us-central1; raise the "
            "quota with `footplate quotas set vcpus=16 --project=ads --region=us-central1`"
        ),
    )


@pytest.mark.parametrize("amount", [0, 1, 4])
def test_what_is_held_exactly_is_not_exceeded(amount: int) -> None:
    limits = Quotas([Quota("ads", REGION, {T4: amount})])
    assert exceeded({T4: amount}, "ads", REGION, limits) == ()
    assert len(exceeded({T4: amount + 1}, "ads", REGION, limits)) == 1


@pytest.mark.parametrize(
    ("resource", "amount", "said"),
    [
        ("memory_mb", 7680, "7.5 GB of memory"),
        ("memory_mb", 24152, "23.6 GB of memory"),
        ("gpus", 1, "1 GPU"),
        ("replicas", 2, "2 replicas"),
    ],
)
def test_amounts_read_as_people_say_them(resource: str, amount: int, said: str) -> None:
    assert say_amount(resource, amount) == said
