"""Bodies that look like training jobs: whatever they hold, they become submissions or refusals."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

from hypothesis import given
from hypothesis import strategies as st
from pydantic.alias_generators import to_camel

from footplate.catalogue import load_catalogue
from footplate.domain.errors import InvalidArgument
from footplate.domain.submission import Submission
from footplate.wire.json_model import MAX_VIOLATIONS, JsonModel
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1 import enums
from footplate.wire.training_v1.models import Job, TrainingInput
from footplate.wire.training_v1.submissions import read_submission

if TYPE_CHECKING:
    from pydantic import JsonValue

CATALOGUE = load_catalogue()

NAMES = [
    *enums.ScaleTier.__members__,
    *enums.AcceleratorType.__members__,
    *enums.ParameterType.__members__,
    *enums.ScaleType.__members__,
    *enums.Algorithm.__members__,
    *("n1-standard-4", "n1-highcpu-16", "standard", "standard_gpu", "cloud_tpu", "a2-highgpu-1g"),
    *("us-central1", "europe-west2", "gs://b/p.tar.gz", "gs://", "trainer.task", "job_1"),
    *("2.21", "3.11", "1.15", "9" * 5000 + ".1", "3600s", "-1s", "315576000000s", "", "0", "7"),
    *("projects/1/global/networks/n", "projects", "pd-ssd", "x=y", "job-dir"),
]
SCALARS: st.SearchStrategy[JsonValue] = (
    st.sampled_from(NAMES)
    | st.integers(-2, 9)
    | st.sampled_from([None, True, 1.0, 0.5, -0.0, 1e308, 10**12, 2**63, -(2**31) - 1])
)


def values(model: type[JsonModel]) -> st.SearchStrategy[JsonObject]:
    """Messages with some of the fields, and sometimes something else in them."""
    inner: dict[str, type[JsonModel]] = {}
    for name, field in model.model_fields.items():
        for candidate in (field.annotation, *_arguments(field.annotation)):
            if isinstance(candidate, type) and issubclass(candidate, JsonModel):
                inner[name] = candidate
    fields = {}
    for name in model.model_fields:
        one: st.SearchStrategy[Any] = values(inner[name]) if name in inner else SCALARS
        fields[to_camel(name)] = one | st.lists(one | SCALARS, max_size=3) | SCALARS
    return st.fixed_dictionaries({}, optional=fields)


def _arguments(annotation: Any) -> list[Any]:
    found = []
    for argument in getattr(annotation, "__args__", ()):
        found += [argument, *_arguments(argument)]
    return found


def read(body: JsonObject) -> Submission | InvalidArgument:
    try:
        return read_submission(body, "demo", CATALOGUE)
    except InvalidArgument as refusal:
        return refusal


@given(values(Job))
def test_a_submission_or_a_refusal(body: JsonObject) -> None:
    made = read(body)
    fields = [violation.field for violation in made.violations]
    assert len(fields) == len(set(fields)) <= MAX_VIOLATIONS + 1
    if isinstance(made, InvalidArgument):
        assert not isinstance(body.get("trainingInput"), dict)
        assert "trainingInput" in fields
        return
    json.loads(made.request)
    assert 0 < len(made.spec.replica_names()) <= 40_000


PLAIN: JsonObject = {
    "region": "us-central1",
    "packageUris": ["gs://b/p.tar.gz"],
    "pythonModule": "trainer.task",
}


def test_of_very_many_parameters_some_are_warned_of() -> None:
    parameter: JsonObject = {"type": "DOUBLE", "minValue": 1, "maxValue": 1}
    params: JsonValue = [{**parameter, "parameterName": f"p{i}"} for i in range(5_000)]
    made = read({"trainingInput": {**PLAIN, "hyperparameters": {"params": params}}})
    assert isinstance(made, Submission)
    assert len(made.warnings) <= 50


@given(values(TrainingInput))
def test_one_field_of_a_plain_job_is_replaced(fields: JsonObject) -> None:
    """What is accepted is accepted again as it is given back, and means the same."""
    for name, value in fields.items():
        document: JsonObject = {"jobId": "job_1", "trainingInput": {**PLAIN, name: value}}
        made = read(document)
        assert isinstance(made, Submission)
        assert all(v.field.startswith("trainingInput") for v in made.violations)
        if not made.violations:
            again = read(json.loads(made.request))
            assert isinstance(again, Submission)
            assert again == made
