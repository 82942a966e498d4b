"""Whatever JSON comes in, what comes out is a submission or an error of ours."""

import json
from contextlib import suppress

from hypothesis import given
from hypothesis import strategies as st
from pydantic import JsonValue

from footplate.catalogue import load_catalogue
from footplate.domain.errors import ServiceError
from footplate.wire.json_text import JsonObject
from footplate.wire.training_v1.models import Job
from footplate.wire.training_v1.patches import read_patch
from footplate.wire.training_v1.submissions import read_submission as read_training
from footplate.wire.vertex_v1.models import CustomJob

CATALOGUE = load_catalogue()
NAMES = st.sampled_from(
    [
        "jobId",
        "job_id",
        "trainingInput",
        "training_input",
        "labels",
        "region",
        "scaleTier",
        "masterType",
        "workerCount",
        "masterConfig",
        "imageUri",
        "acceleratorConfig",
        "count",
        "type",
        "packageUris",
        "pythonModule",
        "args",
        "jobDir",
        "runtimeVersion",
        "scheduling",
        "maxRunningTime",
        "maxWaitTime",
        "priority",
        "hyperparameters",
        "params",
        "displayName",
        "jobSpec",
        "workerPoolSpecs",
        "machineSpec",
        "machineType",
        "acceleratorType",
        "replicaCount",
        "pythonPackageSpec",
        "executorImageUri",
        "containerSpec",
        "env",
        "name",
        "value",
        "timeout",
        "strategy",
        "baseOutputDirectory",
        "outputUriPrefix",
        "pscInterfaceConfig",
        "model_config",
        "__class__",
        "decode",
    ]
)
TEXTS = st.sampled_from(
    ["BASIC", "CUSTOM", "gs://b/x", "us-central1", "trainer.task", "3s", "2.21", "", "a_1", "-1s"]
)
SCALARS: st.SearchStrategy[JsonValue] = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False, allow_infinity=False)
    | TEXTS
    | st.text(max_size=5)
)
VALUES: st.SearchStrategy[JsonValue] = st.recursive(
    SCALARS,
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(NAMES | st.text(max_size=5), inner, max_size=6)
    ),
    max_leaves=30,
)
OBJECTS: st.SearchStrategy[JsonObject] = st.dictionaries(NAMES, VALUES, max_size=8)


@given(OBJECTS)
def test_training_jobs(body: JsonObject) -> None:
    with suppress(ServiceError):
        json.loads(read_training(body, "demo", CATALOGUE).request)


@given(OBJECTS, st.text(max_size=20))
def test_patches(body: JsonObject, mask: str) -> None:
    with suppress(ServiceError):
        read_patch(body, mask)


@given(OBJECTS)
def test_what_was_accepted_is_accepted_again(body: JsonObject) -> None:
    for model in (Job, CustomJob):
        with suppress(ServiceError):
            once = model.decode(body).encode()
            assert model.decode(once).encode() == once
