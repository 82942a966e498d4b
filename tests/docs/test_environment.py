"""The page on the environment: its examples are what programs find, and no variable is missing."""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path

import pytest

from footplate.domain.jobs import Address, ClusterVariable, JobSpec, WorkerPool
from footplate.domain.names import JobName
from footplate.domain.program_arguments import variables
from tests.support.jobs import PROGRAM, make_custom_name, make_spec

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "environment.md").read_text("utf-8")
ML = {"worker": 2, "ps": 1, "evaluator": 1}
VERTEX = {"workerpool1": 2, "workerpool2": 1, "workerpool3": 1}
ELSEWHERE = {"CLOUD_ML_PROJECT_ID", "CLOUD_ML_REGION"}
"""Set by the faces."""


def make_gang(counts: dict[str, int], name: JobName | None = None) -> JobSpec:
    spec = make_spec(name)
    machine = spec.primary.machine
    pools = [WorkerPool(role, role, machine, count, PROGRAM) for role, count in counts.items()]
    return replace(
        spec,
        pools=(spec.primary, *pools),
        cluster_variables=frozenset(ClusterVariable),
        chief_role="chief",
        cluster_job='{"...": "..."}',
    )


def told(spec: JobSpec, replica: str) -> dict[str, str]:
    names = enumerate(spec.replica_names())
    addresses = {name: Address("127.0.0.1", 41001 + n, (42001 + n,)) for n, name in names}
    return dict(variables(spec, replica, "census_1", addresses, str))


def examples(language: str) -> list[str]:
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_the_descriptions_are_what_programs_find() -> None:
    config, spec = examples("json")
    assert json.loads(config) == json.loads(told(make_gang(ML), "worker-1")["TF_CONFIG"])
    vertex = make_gang(VERTEX, make_custom_name())
    assert json.loads(spec) == json.loads(told(vertex, "workerpool1-1")["CLUSTER_SPEC"])


def test_the_ranks_are_what_programs_find() -> None:
    vertex = make_gang(VERTEX, make_custom_name())
    (names, *rows) = re.findall(r"^\| `?(?:replica|workerpool\d-\d)`? \|.*$", PAGE, re.MULTILINE)
    _, *columns = re.findall(r"[\w-]+", names)
    for row in rows:
        replica, *values = re.findall(r"`([^`]+)`", row)
        made = told(vertex, replica)
        assert [made[column] for column in columns] == values
    assert len(rows) == 3


def test_the_snippets_do_what_they_say(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in told(make_gang(VERTEX, make_custom_name()), "workerpool1-1").items():
        monkeypatch.setenv(name, value)
    made: dict[str, object] = {}
    for snippet in examples("python"):
        exec(snippet, made)  # noqa: S102  from our own page
    assert made["endpoint"] == "127.0.0.1:42001"
    assert str(made["folder"]).startswith("/gcs/demo-bucket/")
    assert (made["rank"], made["world_size"]) == (2, 3)


@pytest.mark.parametrize(
    "spec",
    [make_gang(ML), replace(make_gang(VERTEX, make_custom_name()), trial="1")],
    ids=["ml", "vertex"],
)
def test_every_variable_is_in_the_table(spec: JobSpec) -> None:
    listed = set(re.findall(r"^\| `(\w+)`", PAGE, re.MULTILINE))
    assert {*told(spec, spec.replica_names()[0]), *ELSEWHERE} <= listed


def test_variables_are_tested_where_the_page_says_so() -> None:
    rows = re.findall(r"^\| (`[A-Z_`, ]+`) \|.*\| `(tests/\S+)` \|$", PAGE, re.MULTILINE)
    assert rows
    for names, place in rows:
        text = (Path(__file__).parents[2] / place).read_text("utf-8")
        assert [name for name in re.findall(r"\w+", names) if name not in text] == [], place
