"""The examples of Google's own page on distributed training come out as they are printed there.

The page lies beside the repository, in ``../shared/seeds``; without it these tests are skipped.
The page has no ``open_ports``.
"""

from __future__ import annotations

import json
import re
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from footplate.domain.cluster_spec import variables
from footplate.domain.jobs import Address, JobSpec
from footplate.domain.submission import Location
from footplate.wire.json_text import JsonObject
from footplate.wire.vertex_v1.job_specs import job_spec
from footplate.wire.vertex_v1.models import CustomJobSpec

if TYPE_CHECKING:
    from pydantic import JsonValue

SEEDS = Path(__file__).resolve().parents[4] / "shared" / "seeds"
POOL: JsonObject = {
    "machineSpec": {"machineType": "n1-standard-4"},
    "containerSpec": {"imageUri": "gcr.io/p/trainer"},
}


@pytest.fixture(scope="module")
def page() -> str:
    found = sorted(SEEDS.glob("003_*.txt"))
    if not found:
        pytest.skip(f"needs the page in {SEEDS}")
    return found[0].read_text("utf-8")


def example(page: str, key: str) -> dict[str, Any]:
    """The description on the page that has this key; what it leaves out is empty."""
    blocks = re.findall(r'^\{\n +"cluster".*?^\}$', page, re.DOTALL | re.MULTILINE)
    (block,) = [block for block in blocks if f'"{key}"' in block]
    described: dict[str, Any] = json.loads(re.sub(r"\{\s*\.\.\.\s*\}", "{}", block))
    return described


def make_spec(counts: tuple[int, ...], trial: str) -> JobSpec:
    """0 is a pool that isn't used."""
    pools: list[JsonValue] = [
        {**POOL, "replicaCount": str(count)} if count else {} for count in counts
    ]
    given = CustomJobSpec.decode({"workerPoolSpecs": pools})
    return replace(job_spec(given, Location("demo", "us-central1")), trial=trial, cluster_job="{}")


def places(spec: JobSpec, form: str) -> dict[str, Address]:
    """``form`` is how the page writes the host of a replica, by its pool and index."""
    return {
        name: Address(form.format(pool=pool.cluster_role, index=index), 2222, (3333,))
        for name, pool, index in spec.replicas()
    }


def test_cluster_spec(page: str) -> None:
    spec = make_spec((1, 2, 2, 3), trial="TRIAL_ID")
    addresses = places(spec, "cmle-training-{pool}-ab-{index}")

    made = json.loads(variables(spec, "workerpool0-0", addresses, "c")["CLUSTER_SPEC"])

    assert made.pop("open_ports") == [3333]
    assert made == example(page, "workerpool3")
    assert list(made) == list(example(page, "workerpool3"))


def test_tf_config_of_a_worker_in_a_trial(page: str) -> None:
    spec = make_spec((1, 2, 1), trial="1")
    addresses = places(spec, "training-{pool}-[ID_STRING_1]-{index}")

    made = json.loads(variables(spec, "workerpool1-0", addresses, "[ID_STRING_2]")["TF_CONFIG"])

    assert made == example(page, "chief")
