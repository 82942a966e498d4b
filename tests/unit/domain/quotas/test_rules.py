import pytest

from footplate.domain.errors import Violation
from footplate.domain.quotas import MAX_LIMIT, Quota, QuotaRules
from tests.support.quotas import CATALOGUE

RULES = QuotaRules.of(CATALOGUE)
NUMBER = "allowed: a whole number from 0 to 1000000000"


@pytest.mark.parametrize(
    ("given", "name"),
    [
        ("vcpus", "vcpus"),
        ("VCPUS", "vcpus"),
        ("Jobs", "jobs"),
        ("NVIDIA_TESLA_T4", "NVIDIA_TESLA_T4"),
        ("nvidia-tesla-t4", "NVIDIA_TESLA_T4"),
        ("nvidia_tesla_t4", "NVIDIA_TESLA_T4"),
        ("tpu-v2", "TPU_V2"),
    ],
)
def test_resources_may_be_spelled_as_on_command_lines(given: str, name: str) -> None:
    violations: list[Violation] = []
    assert RULES.limits({given: 3}, violations, "") == {name: 3}
    assert violations == []


@pytest.mark.parametrize("value", [0, 1, MAX_LIMIT])
def test_whole_numbers_are_limits(value: int) -> None:
    assert RULES.limits({"vcpus": value}, [], "") == {"vcpus": value}


@pytest.mark.parametrize(
    ("value", "said"),
    [
        (-1, "-1"),
        (MAX_LIMIT + 1, "1000000001"),
        (1.0, "1.0"),
        (True, "True"),
        ("4", "'4'"),
        (None, "None"),
        ([], "[]"),
        (10**300, "1" + "0" * 99),
    ],
)
def test_nothing_else_is_a_limit(value: object, said: str) -> None:
    violations: list[Violation] = []
    assert RULES.limits({"VCPUS": value}, violations, "limits.") == {}
    assert violations == [Violation("limits.vcpus", f"{said} given; {NUMBER}")]


@pytest.mark.parametrize(
    "name", ["memory_mb", "gpus", "replicas", "", "NVIDIA_TESLA_P100", "v cpus"]
)
def test_only_what_quotas_count_is_a_resource(name: str) -> None:
    violations: list[Violation] = []
    assert RULES.limits({name: 1}, violations, "limits.") == {}
    (violation,) = violations
    assert violation.field == f"limits.{name}"
    assert (
        "quotas have no such resource; allowed: vcpus, jobs or an accelerator: "
    ) in violation.description


@pytest.mark.parametrize("name", ["nvidia-t4", "T4", "tesla-t4", "nvidia_tesla_t5"])
def test_the_nearest_resource_is_suggested(name: str) -> None:
    violations: list[Violation] = []
    RULES.limits({name: 1}, violations, "")
    assert "accelerator: did you mean NVIDIA_TESLA_T4?" in violations[0].description


def test_the_nearest_region_is_suggested() -> None:
    violations: list[Violation] = []
    RULES.scope("ads", "us-centrl1", violations)
    assert "region of the catalogue: did you mean us-central1?" in violations[0].description


def test_one_resource_in_two_spellings_is_refused() -> None:
    violations: list[Violation] = []
    given = {"nvidia-tesla-t4": 1, "NVIDIA_TESLA_T4": 2}
    assert RULES.changes(given, violations, "") == {"NVIDIA_TESLA_T4": 1}
    assert violations == [Violation("NVIDIA_TESLA_T4", "NVIDIA_TESLA_T4 is given twice")]


def test_a_change_may_unset() -> None:
    violations: list[Violation] = []
    assert RULES.changes({"JOBS": None, "vcpus": 1}, violations, "") == {"jobs": None, "vcpus": 1}
    assert violations == []


@pytest.mark.parametrize(
    ("given", "scope"),
    [
        (("ads", "us-central1"), ("ads", "us-central1")),
        (("*", "*"), ("*", "*")),
        (("-", "-"), ("*", "*")),
        (("123", "-"), ("123", "*")),
    ],
)
def test_projects_and_regions_may_be_all(given: tuple[str, str], scope: tuple[str, str]) -> None:
    violations: list[Violation] = []
    assert RULES.scope(*given, violations) == scope
    assert violations == []


@pytest.mark.parametrize(
    ("project", "region", "fields"),
    [
        ("", "us-central1", ["project"]),
        ("a/b", "us-central1", ["project"]),
        ("ads*", "us-central1", ["project"]),
        ("x" * 101, "us-central1", ["project"]),
        ("ads", "", ["region"]),
        ("ads", "us", ["region"]),
        ("ads", "us-central1-a", ["region"]),
        ("ads", "US-CENTRAL1", ["region"]),
        ("a b", "**", ["project", "region"]),
    ],
)
def test_other_names_are_refused(project: str, region: str, fields: list[str]) -> None:
    violations: list[Violation] = []
    RULES.scope(project, region, violations, "quotas[3].")
    assert [v.field for v in violations] == [f"quotas[3].{field}" for field in fields]
    assert all("given; allowed: " in v.description for v in violations)
    assert all("*" in v.description for v in violations)


def test_long_names_are_cut_in_errors() -> None:
    violations: list[Violation] = []
    RULES.scope("x" * 5000, "y" * 5000, violations)
    RULES.limits({"z" * 5000: 1}, violations, "limits.")
    assert len(violations) == 3
    assert all(len(v.field) + len(v.description) < 500 for v in violations)


def test_what_is_stored_stays_known() -> None:
    rules = RULES.knowing([Quota("ads", "moon-west1", {"NVIDIA_MOON": 4}), Quota("*", "*", {})])
    violations: list[Violation] = []
    assert rules.scope("ads", "moon-west1", violations) == ("ads", "moon-west1")
    assert rules.changes({"nvidia-moon": None}, violations, "") == {"NVIDIA_MOON": None}
    assert violations == []
