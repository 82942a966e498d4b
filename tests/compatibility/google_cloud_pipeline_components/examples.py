"""Runs google-cloud-pipeline-components' operators, each by the command of its container spec.

KFP's own local runner fills in that command. It wants Docker for containers, so the command runs
in this environment instead, as it does in the image that Google builds of this package.
"""

import json
import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import google_cloud_pipeline_components.preview.custom_job as preview_custom_job
from example_results import example
from google.cloud import aiplatform, storage
from google.cloud.aiplatform import hyperparameter_tuning as hpt
from google_cloud_pipeline_components.types import artifact_types
from google_cloud_pipeline_components.v1 import (  # noqa: F401
    automl,
    batch_predict_job,
    bigquery,
    custom_job,
    dataflow,
    dataproc,
    dataset,
    endpoint,
    hyperparameter_tuning_job,
    model,
    wait_gcp_resources,
)
from google_cloud_pipeline_components.v1.automl import training_job
from kfp import dsl
from kfp.local import executor_input_utils, placeholder_utils, task_dispatcher, utils

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
BUCKET = "gs://pipeline-components"
PLACE = {"project": PROJECT, "location": REGION}
SCHEMAS = "gs://google-cloud-aiplatform/schema/dataset/ioformat/"
TRAIN = """
import os, sys
import joblib
from sklearn.linear_model import LinearRegression
os.makedirs("/gcs/" + os.environ["AIP_MODEL_DIR"][5:], exist_ok=True)
joblib.dump(LinearRegression().fit([[0], [1]], [0, 1]),
            "/gcs/" + os.environ["AIP_MODEL_DIR"][5:] + "model.joblib")
print(sys.argv[1:])
"""
TRIAL = """
import sys, hypertune
rate = float(sys.argv[1].partition("=")[2])
hypertune.HyperTune().report_hyperparameter_tuning_metric("loss", (rate - 0.01) ** 2)
"""


def as_vertex_writes(value):
    """Whole numbers have no point there; KFP's local runner says 1.0 inside of lists."""
    if isinstance(value, dict):
        return {key: as_vertex_writes(each) for key, each in value.items()}
    if isinstance(value, list):
        return [as_vertex_writes(each) for each in value]
    return int(value) if isinstance(value, float) and value.is_integer() else value


class Step:
    """One task of a pipeline: its command, and what it writes."""

    def __init__(self, component, root=None, **arguments):
        spec = component.pipeline_spec
        name, self.component = next(iter(spec.components.items()))
        task, run = executor_input_utils.get_local_task_resource_name(name), str(time.time_ns())
        self.root = Path(root or Path.cwd() / "root")
        executor_input = executor_input_utils.construct_executor_input(
            self.component, arguments, str(self.root / run / task), block_input_artifact=False
        )
        self.outputs = executor_input.outputs
        container = utils.struct_to_executor_spec(
            task_dispatcher.get_executor_spec(spec, self.component.executor_label)
        ).container
        given = as_vertex_writes(
            executor_input_utils.executor_input_to_dict(executor_input, self.component)
        )
        command = placeholder_utils.replace_placeholders(
            [*container.command, *container.args],
            given,
            pipeline_resource_name=run,
            task_resource_name=task,
            pipeline_root=str(self.root),
            unique_pipeline_id=placeholder_utils.make_random_id(),
        )
        escaped = json.dumps(json.dumps(given))[1:-1]
        self.command = [part.replace("{{$.json_escape[1]}}", escaped) for part in command]
        if not root:
            (self.root / run / task).mkdir(parents=True)

    def start(self):
        return subprocess.Popen(
            self.command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
        )

    def run(self, expected_failure=None):
        process = self.start()
        output = process.communicate(timeout=600)[0]
        if bool(process.returncode) != bool(expected_failure):
            sys.stderr.write(output)
            last = [line for line in output.splitlines() if line.strip()] or ["no output"]
            raise RuntimeError(last[-1])
        if expected_failure:
            assert expected_failure in output, output
        return self

    @property
    def resource(self):
        """The name of what its ``gcp_resources`` tracks."""
        path = Path(next(o.output_file for k, o in self.outputs.parameters.items() if "gcp" in k))
        if not path.exists():
            return None
        return json.loads(path.read_text())["resources"][0]["resourceUri"].partition("/v1/")[2]

    def artifact(self, kind):
        """Its only output artifact, as the next step gets it."""
        written = json.loads(Path(self.outputs.output_file).read_text())["artifacts"]
        (found,) = next(iter(written.values()))["artifacts"]
        return kind(name="it", uri=found["uri"], metadata=found["metadata"])


def run(component, **arguments):
    return Step(component, **arguments).run()


def pool(*args, image=IMAGE, code=TRAIN):
    return {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1,
        "container_spec": {
            "image_uri": image, "command": ["python3", "-c", code], "args": list(args),
        },
    }  # fmt: skip


def state(name):
    client = aiplatform.gapic.JobServiceClient(
        client_options={"api_endpoint": f"{REGION}-aiplatform.googleapis.com"}
    )
    return client.get_custom_job(name=name).state.name


def wait(condition):
    deadline = time.monotonic() + 120
    while not condition():
        assert time.monotonic() < deadline, "waited for 120 s"
        time.sleep(1)


def train():
    """A finished job is only polled when its launcher starts again."""
    with example("CustomTrainingJobOp"):
        step = run(
            custom_job.CustomTrainingJobOp,
            display_name="train",
            worker_pool_specs=[pool("--rate=1"), pool("--rate=1")],
            base_output_directory=f"{BUCKET}/train",
            labels={"team": "a"},
            persistent_resource_id="",
            **PLACE,
        )
        assert storage.Client(PROJECT).bucket(BUCKET[5:]).blob("train/model/model.joblib").exists()
        assert state(step.resource) == "JOB_STATE_SUCCEEDED"
    with example("CustomTrainingJobOp, started again"):
        before = step.resource
        assert step.run().resource == before
    return f"{BUCKET}/train/model"


def train_in_preview():
    with example("preview CustomTrainingJobOp"):
        run(
            preview_custom_job.CustomTrainingJobOp,
            display_name="preview",
            worker_pool_specs=[pool()],
            base_output_directory=f"{BUCKET}/preview",
            persistent_resource_id="",
            **PLACE,
        )


def train_and_fail():
    with example("CustomTrainingJobOp, whose program fails"):
        step = Step(
            custom_job.CustomTrainingJobOp,
            display_name="fails",
            worker_pool_specs=[pool(code="raise SystemExit(3)")],
            persistent_resource_id="",
            **PLACE,
        )
        step.run("Job failed with value error in error state")


def train_and_cancel():
    with example("CustomTrainingJobOp, cancelled"):
        step = Step(
            custom_job.CustomTrainingJobOp,
            display_name="cancelled",
            worker_pool_specs=[pool(code="import time; time.sleep(600)")],
            persistent_resource_id="",
            **PLACE,
        )
        process = step.start()
        wait(lambda: step.resource and state(step.resource) == "JOB_STATE_RUNNING")
        process.send_signal(signal.SIGTERM)
        process.communicate(timeout=60)
        assert process.returncode == 0
        wait(lambda: state(step.resource) == "JOB_STATE_CANCELLED")


@dsl.component(base_image=IMAGE)
def add(a: int, b: int) -> int:
    print("adds", a, b)
    return a + b


def train_a_component():
    with example("create_custom_training_job_from_component"):
        step = Step(
            custom_job.create_custom_training_job_from_component(add, display_name="add"),
            root=f"/gcs/{BUCKET[5:]}/root",
            a=1,
            b=2,
            persistent_resource_id="",
            **PLACE,
        )
        index = step.command.index("--gcp_resources") + 1
        step.command[index] = str(Path.cwd() / "add_gcp_resources")
        step.run()
        path = step.outputs.output_file.split("/", 3)[3]
        written = storage.Client(PROJECT).bucket(BUCKET[5:]).blob(path).download_as_text()
        assert json.loads(written)["parameterValues"] == {"Output": 3}, written


def tune():
    with example("HyperparameterTuningJobRunOp"):
        step = run(
            hyperparameter_tuning_job.HyperparameterTuningJobRunOp,
            display_name="tune",
            base_output_directory=f"{BUCKET}/tune",
            worker_pool_specs=[pool(code=TRIAL)],
            study_spec_metrics=hyperparameter_tuning_job.serialize_metrics({"loss": "minimize"}),
            study_spec_parameters=hyperparameter_tuning_job.serialize_parameters(
                {"rate": hpt.DoubleParameterSpec(min=0.001, max=0.1, scale="log")}
            ),
            max_trial_count=2,
            parallel_trial_count=2,
            **PLACE,
        )
        assert "/hyperparameterTuningJobs/" in step.resource


def keep_models(directory):
    unmanaged = artifact_types.UnmanagedContainerModel(
        uri=directory,
        metadata={
            "containerSpec": {
                "imageUri": "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-5:latest"
            }
        },
    )
    with example("ModelUploadOp"):
        uploaded = run(
            model.ModelUploadOp,
            display_name="model",
            unmanaged_container_model=unmanaged,
            labels={"team": "a"},
            version_aliases=["first"],
            **PLACE,
        ).artifact(artifact_types.VertexModel)
    with example("ModelUploadOp with a parent model"):
        second = run(
            model.ModelUploadOp,
            display_name="model",
            unmanaged_container_model=unmanaged,
            parent_model=uploaded,
            **PLACE,
        ).artifact(artifact_types.VertexModel)
        assert second.metadata["resourceName"].endswith("@2"), second.metadata
    name = uploaded.metadata["resourceName"].partition("@")[0]
    with example("ModelGetOp"):
        got = run(model.ModelGetOp, model_name=name.rpartition("/")[2] + "@first", **PLACE)
        got = got.artifact(artifact_types.VertexModel)
        assert got.metadata["resourceName"] == f"{name}@1", got.metadata
    with example("ModelExportOp"):
        run(
            model.ModelExportOp,
            model=uploaded,
            export_format_id="custom-trained",
            artifact_destination=f"{BUCKET}/exported",
        )
    with example("ModelDeleteOp"):
        gone = artifact_types.VertexModel.create("model", uploaded.uri, name)
        run(model.ModelDeleteOp, model=gone)
        found = aiplatform.Model.list(project=PROJECT, location=REGION)
        assert name not in [each.resource_name for each in found], found


KINDS = {
    "Tabular": ("table.csv", None),
    "TimeSeries": ("table.csv", None),
    "Text": ("text.jsonl", "text_classification_single_label_io_format_1.0.0.yaml"),
    "Image": ("image.jsonl", "image_classification_single_label_io_format_1.0.0.yaml"),
    "Video": ("video.jsonl", "video_classification_io_format_1.0.0.yaml"),
}
"""Of datasets: what each is made of, and the schema that its import needs."""


def keep_datasets(kind):
    source, schema = KINDS[kind]
    files = {"gcs_source": f"{BUCKET}/{source}"}
    if schema:
        files["import_schema_uri"] = SCHEMAS + schema
    with example(f"{kind}DatasetCreateOp"):
        create = getattr(dataset, f"{kind}DatasetCreateOp")
        made = run(create, display_name=kind, labels={"a": "b"}, **files, **PLACE)
        made = made.artifact(artifact_types.VertexDataset)
    if schema:
        with example(f"{kind}DatasetImportDataOp"):
            run(getattr(dataset, f"{kind}DatasetImportDataOp"), dataset=made, **files, **PLACE)
    with example(f"{kind}DatasetExportDataOp"):
        export = getattr(dataset, f"{kind}DatasetExportDataOp")
        run(export, dataset=made, output_dir=f"{BUCKET}/out/{kind}", **PLACE)
    if kind == "Tabular":
        with example("GetVertexDatasetOp"):
            name = made.metadata["resourceName"]
            got = run(dataset.GetVertexDatasetOp, dataset_resource_name=name)
            assert got.artifact(artifact_types.VertexDataset).metadata["resourceName"] == name


def put_files():
    bucket = storage.Client(PROJECT).create_bucket(BUCKET[5:])
    bucket.blob("table.csv").upload_from_string("time,key,value\n2026-01-01,1,2\n2026-01-02,1,3\n")
    for kind, item in (
        ("text", {"textContent": "good", "classificationAnnotation": {"displayName": "yes"}}),
        ("image", {"imageGcsUri": f"{BUCKET}/a.png", "classificationAnnotation": {
            "displayName": "yes"}}),
        ("video", {"videoGcsUri": f"{BUCKET}/a.mp4", "timeSegmentAnnotations": [
            {"displayName": "yes", "startTime": "0.0s", "endTime": "1.0s"}]}),
    ):  # fmt: skip
        bucket.blob(f"{kind}.jsonl").upload_from_string(json.dumps(item) + "\n")


def ask_for_other_products():
    """What no training is: each operator ends at once with what Google says of it."""
    at = artifact_types.VertexModel.create(
        "model", "", f"projects/{PROJECT}/locations/{REGION}/models/1"
    )
    spot = artifact_types.VertexEndpoint.create(
        "endpoint", "", f"projects/{PROJECT}/locations/{REGION}/endpoints/1"
    )
    data = artifact_types.VertexDataset.create(
        "dataset", "", f"projects/{PROJECT}/locations/{REGION}/datasets/1"
    )
    pyspark = f"{BUCKET}/main.py"
    waited = {
        "resources": [
            {
                "resourceType": "DataflowJob",
                "resourceUri": f"https://dataflow.googleapis.com/v1b3/projects/{PROJECT}"
                f"/locations/{REGION}/jobs/1",
            }
        ]
    }
    for name, component, arguments in (
        ("EndpointCreateOp", endpoint.EndpointCreateOp, {"display_name": "e", **PLACE}),
        ("EndpointDeleteOp", endpoint.EndpointDeleteOp, {"endpoint": spot}),
        ("ModelDeployOp", endpoint.ModelDeployOp, {"model": at, "endpoint": spot}),
        ("ModelUndeployOp", endpoint.ModelUndeployOp, {"model": at, "endpoint": spot}),
        (
            "ModelBatchPredictOp",
            batch_predict_job.ModelBatchPredictOp,
            {
                "job_display_name": "p",
                "model": at,
                "gcs_source_uris": [f"{BUCKET}/table.csv"],
                "instances_format": "csv",
                "gcs_destination_output_uri_prefix": f"{BUCKET}/predicted",
                **PLACE,
            },
        ),
        (
            "AutoMLTabularTrainingJobRunOp",
            training_job.AutoMLTabularTrainingJobRunOp,
            {
                "display_name": "a",
                "optimization_prediction_type": "regression",
                "budget_milli_node_hours": 1000,
                "dataset": data,
                "target_column": "value",
                **PLACE,
            },
        ),
        (
            "BigqueryQueryJobOp",
            bigquery.BigqueryQueryJobOp,
            {"query": "SELECT 1", **PLACE},
        ),
        (
            "DataprocPySparkBatchOp",
            dataproc.DataprocPySparkBatchOp,
            {"main_python_file_uri": pyspark, "batch_id": "batch", **PLACE},
        ),
        (
            "WaitGcpResourcesOp",
            wait_gcp_resources.WaitGcpResourcesOp,
            {"gcp_resources": json.dumps(waited)},
        ),
    ):
        with example(name):
            run(component, **arguments)


def main():
    put_files()
    with ThreadPoolExecutor(8) as threads:
        runs = [
            *(threads.submit(keep_datasets, kind) for kind in KINDS),
            threads.submit(lambda: keep_models(train())),
            *map(
                threads.submit,
                (
                    train_and_cancel,
                    train_and_fail,
                    train_in_preview,
                    train_a_component,
                    tune,
                    ask_for_other_products,
                ),
            ),
        ]
    for each in runs:
        each.result()


if __name__ == "__main__":
    main()
