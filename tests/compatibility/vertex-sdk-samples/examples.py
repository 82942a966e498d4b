"""Calls Google's samples of the Vertex SDK as their documentation does, one after another."""

import importlib.util
import inspect
import os
import sys
import tarfile
import time
from pathlib import Path

from example_results import example
from google.cloud import aiplatform, storage
from google.protobuf import timestamp_pb2
from sklearn.linear_model import LinearRegression

SAMPLES = Path(os.environ["SOURCES"], "repository", "samples")
PROJECT, LOCATION = os.environ["PROJECT"], os.environ["REGION"]
BUCKET = "samples-of-the-sdk"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
SERVING = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0:latest"
EVERYWHERE = {
    "project": PROJECT,
    "location": LOCATION,
    "bucket": "gs://" + BUCKET,
    "staging_bucket": "gs://" + BUCKET,
}
PARENT = "projects/%s/locations/%s" % (PROJECT, LOCATION)
MODEL = {"container_uri": IMAGE, "model_serving_container_image_uri": SERVING}
ONE = {"replica_count": 1}


def call(path, function=None, **arguments):
    """Run a sample; return what it returns, None if it fails."""
    name = path.rpartition("/")[2]
    with example(path):
        spec = importlib.util.spec_from_file_location(name, SAMPLES / (path + "_sample.py"))
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        run = getattr(module, function or name + "_sample")
        known = inspect.signature(run).parameters
        everywhere = {key: value for key, value in EVERYWHERE.items() if key in known}
        return run(**{**everywhere, **arguments})
    return None


def newest(kind):
    """The last resource of a kind that was made: samples print its name."""
    return max(kind.list(), key=lambda each: each.create_time).resource_name


def wait(kind, name):
    while not kind.get(name).state.name.endswith(("SUCCEEDED", "FAILED", "CANCELLED")):
        time.sleep(1)


def prepare():
    bucket = storage.Client(PROJECT).create_bucket(BUCKET)
    Path("trainer").mkdir()
    Path("trainer", "__init__.py").touch()
    Path("trainer", "task.py").write_text(Path("trainer.py").read_text())
    Path("setup.py").write_text(
        "from setuptools import setup\nsetup(name='trainer', packages=['trainer'])\n"
    )
    with tarfile.open("trainer.tar.gz", "w:gz") as archive:
        for each in ("setup.py", "trainer"):
            archive.add(each, "trainer-0.1/" + each)
    bucket.blob("trainer.tar.gz").upload_from_filename("trainer.tar.gz")


def jobs():
    at, script = "model-builder/", "trainer.py"
    more = {"display_name": "one", "script_path": script, "service_account": None}
    call(
        at + "custom_training_job", display_name="a", script_path=script, script_args=["--a"],
        requirements=[], **MODEL, **ONE,
    )  # fmt: skip
    call(
        at + "create_training_pipeline_custom_job", display_name="b", script_path=script, **ONE,
        **MODEL,
    )  # fmt: skip
    call(
        at + "create_training_pipeline_custom_package_job", display_name="c",
        python_package_gcs_uri="gs://%s/trainer.tar.gz" % BUCKET,
        python_module_name="trainer.task", **MODEL,
    )  # fmt: skip
    call(at + "create_custom_job_with_experiment", container_uri=IMAGE, experiment="jobs", **more)
    call(
        at + "create_custom_job_with_experiment_autologging",
        container_uri=IMAGE, experiment="jobs", **more,
    )  # fmt: skip


def snippets():
    at = "snippets/job_service/"
    trial = {"executor_image_uri": IMAGE, "python_module": "trainer.task"}
    package = "gs://%s/trainer.tar.gz" % BUCKET
    call(
        at + "create_hyperparameter_tuning_job_python_package",
        display_name="t", package_uri=package, **trial,
    )  # fmt: skip
    name = newest(aiplatform.HyperparameterTuningJob)
    number = name.rpartition("/")[2]
    call(at + "get_hyperparameter_tuning_job", hyperparameter_tuning_job_id=number)
    call("model-builder/get_hyperparameter_tuning_job", hyperparameter_tuning_job_id=name)
    call(at + "cancel_hyperparameter_tuning_job", hyperparameter_tuning_job_id=number)
    wait(aiplatform.HyperparameterTuningJob, name)
    call("model-builder/cancel_hyperparameter_tuning_job", hyperparameter_tuning_job_id=name)
    call(at + "delete_hyperparameter_tuning_job", hyperparameter_tuning_job_id=number)
    call(at + "create_custom_job", display_name="c", container_image_uri=IMAGE)
    number = newest(aiplatform.CustomJob).rpartition("/")[2]
    call(at + "get_custom_job", custom_job_id=number)
    call(at + "cancel_custom_job", custom_job_id=number)
    wait(aiplatform.CustomJob, number)
    call(at + "delete_custom_job", custom_job_id=number)
    at = "snippets/pipeline_service/"
    call(
        at + "create_training_pipeline_custom_job", display_name="p", model_display_name="m",
        container_image_uri=IMAGE, base_output_directory_prefix="gs://%s/out" % BUCKET,
    )  # fmt: skip
    number = newest(aiplatform.CustomTrainingJob).rpartition("/")[2]
    call(at + "get_training_pipeline", training_pipeline_id=number)
    call(at + "cancel_training_pipeline", training_pipeline_id=number)
    while not aiplatform.CustomTrainingJob.get(number).done():
        time.sleep(1)
    call(at + "delete_training_pipeline", training_pipeline_id=number)


def models():
    files = "gs://%s/model" % BUCKET
    storage.Client(PROJECT).bucket(BUCKET).blob("model/model.joblib").upload_from_string(b"model")
    at = "model-builder/"
    image = {"serving_container_image_uri": SERVING, "artifact_uri": files}
    model = call(at + "upload_model", display_name="m", **image)
    number = model.resource_name.rpartition("/")[2]
    call(at + "get_model", model_name=number)
    at = "model-builder/model_registry/"
    version = {"artifact_uri": files, "serving_container_image": SERVING, "parent_name": number}
    one = {"model_id": number, "version_id": "1"}
    call(at + "upload_new_default_model_version", **version)
    call(
        at + "upload_new_aliased_model_version", **version, is_default_version=False,
        version_aliases=["canary"], version_description="d",
    )  # fmt: skip
    call(at + "assign_aliases_model_version", **one, version_aliases=["first"])
    call(at + "create_aliased_model", **one)
    call(at + "create_default_model", model_id=number)
    call(at + "create_model_registry", model_id=number)
    call(at + "get_model_version_info", **one)
    call(at + "get_registered_model_version", **one)
    call(
        at + "list_model_versions_with_model_registry",
        "list_model_versions_sample",
        model_id=number,
    )
    call(at + "delete_aliases_model_version", **one, version_aliases=["first"])
    pipeline = {"display_name": "v", "script_path": "trainer.py", "dataset_id": None, "args": []}
    machine = {"machine_type": "n1-standard-4", "accelerator_count": 0, **ONE}
    aliases = {"model_version_aliases": ["trained"], "model_version_description": "d"}
    aiplatform.init(staging_bucket="gs://" + BUCKET)
    call(
        at + "upload_new_model_version_using_custom_training_pipeline",
        "upload_new_model_version_using_custom_training_pipeline",
        parent_model=number, is_default_version=False,
        accelerator_type="ACCELERATOR_TYPE_UNSPECIFIED", **pipeline, **machine, **aliases, **MODEL,
    )  # fmt: skip
    call(at + "delete_model_version", model_id=number, version_id="2")
    at = "snippets/model_service/"
    call(
        at + "upload_model", display_name="n", metadata_schema_uri="", image_uri=SERVING,
        artifact_uri=files,
    )  # fmt: skip
    made = newest(aiplatform.Model).rpartition("/")[2]
    call(at + "get_model", model_id=made)
    call(at + "export_model", model_id=made, gcs_destination_output_uri_prefix=files + "-out")
    call(at + "delete_model", model_id=made)
    call("model-builder/model_registry/delete_model", model_id=number)


def experiments():
    at = "model-builder/experiment_tracking/"
    run = {"experiment_name": "first", "run_name": "run"}
    found = {"experiment": "first", "run_name": "run"}
    board = call("model-builder/create_tensorboard", display_name="board") or newest(
        aiplatform.Tensorboard
    )
    board = getattr(board, "resource_name", board)
    call(
        at + "create_experiment", experiment_name="first", experiment_description="d",
        experiment_tensorboard=board,
    )  # fmt: skip
    for name, other in (("default", "second"), ("without_default", "third")):
        call(
            at + "create_experiment_%s_tensorboard" % name,
            experiment_name=other, experiment_description="d",
        )  # fmt: skip
    call(at + "get_experiment_backing_tensorboard", experiment_name="first")
    call(at + "create_experiment_run", **run, experiment_run_tensorboard=board)
    call(at + "log_params", **run, params={"lr": 0.1})
    call(
        at + "log_classification_metrics", **run, labels=["a", "b"], matrix=[[9, 1], [1, 9]],
        fpr=[0.1, 0.5], tpr=[0.1, 0.6], threshold=[0.9, 0.1], display_name="c",
    )  # fmt: skip
    now = timestamp_pb2.Timestamp()
    now.GetCurrentTime()
    call(at + "log_time_series_metrics", **run, metrics={"loss": 1.0}, step=1, wall_time=now)
    call(at + "resume_experiment_run", **run)
    call(at + "log_metrics", experiment_name="first", run_name="measured", metrics={"a": 1.0})
    fitted = LinearRegression().fit([[0.0], [1.0]], [0.0, 1.0])
    aiplatform.init(staging_bucket="gs://" + BUCKET)
    call(at + "log_model", **run, model=fitted, artifact_id="logged", uri="gs://%s/l" % BUCKET)
    call(at + "save_model", model=fitted, artifact_id="saved", uri="gs://%s/s" % BUCKET)
    for name in ("get_experiment_model", "get_model_info", "load_experiment_model"):
        call(at + name, artifact_id="saved")
    call(at + "register_experiment_model", artifact_id="saved", display_name="registered")
    for part in ("artifacts", "classification_metrics", "metrics", "models", "params"):
        call(at + "get_experiment_run_" + part, **found)
    call(at + "get_experiment_run_time_series_metric_data_frame", **found)
    call(at + "get_experiment_data_frame", "get_experiments_data_frame_sample", experiment="first")
    state = aiplatform.gapic.Execution.State.FAILED
    call(at + "update_experiment_run_state", **found, state=state)
    call(at + "end_experiment_run", **run)
    call(at + "autologging_with_auto_run_creation", experiment_name="first")
    call(at + "autologging_with_manual_run_creation", experiment_name="first", run_name="manual")
    lineage(at)
    uploads(at, board.rpartition("/")[2])
    call(at + "delete_experiment_run", **found)
    call(at + "delete_experiment", experiment_name="third")
    call("model-builder/delete_tensorboard_instance", tensorboard_resource_name=board)


def lineage(at):
    schema = {"display_name": "a", "schema_version": "0.0.1"}
    artifact = call(
        at + "create_artifact", schema_title="system.Dataset", uri="gs://a/b", resource_id="a1",
        **schema,
    )  # fmt: skip
    call(
        at + "create_artifact_with_sdk", "create_artifact_sample", uri="gs://a/c", artifact_id="a2"
    )
    call(at + "get_artifact", artifact_id="a1")
    call(at + "get_artifact_with_uri", uri="gs://a/b")
    call(at + "list_artifact")
    call(at + "create_context_with_sdk", "create_context_sample", display_name="c", context_id="c1")
    call(at + "get_context", context_id="c1")
    execution = call(
        at + "start_execution", schema_title="system.ContainerExecution", display_name="e",
        input_artifacts=[artifact], output_artifacts=[artifact], resource_id="e1",
    )  # fmt: skip
    call(
        at + "create_execution_with_sdk", "create_execution_sample", display_name="f",
        input_artifacts=[artifact], output_artifacts=[], execution_id="e2",
    )  # fmt: skip
    call(at + "get_execution", execution_id="e1")
    call(at + "list_execution")
    for direction in ("input", "output"):
        call(
            at + "assign_artifact_as_execution_" + direction, execution=execution,
            artifact=artifact,
        )  # fmt: skip
        call(at + "get_execution_%s_artifacts" % direction, execution=execution)
    call(at + "delete_execution", execution_id="e2")
    call(at + "delete_context", context_id="c1")
    call(at + "delete_artifact", artifact_id="a2")


def uploads(at, board):
    import tensorflow as tf

    with tf.summary.create_file_writer("logs/train").as_default():
        for step in range(3):
            tf.summary.scalar("loss", 1.0 / (step + 1), step)
    for name in ("one_time", "continuously"):
        call(
            at + "upload_tensorboard_log_" + name, logdir="logs", tensorboard_id=board,
            tensorboard_experiment_name=name.replace("_", "-"),
        )  # fmt: skip
    call(at + "upload_tensorboard_log_to_experiment", experiment_name="first", logdir="logs")


def main():
    aiplatform.init(project=PROJECT, location=LOCATION, staging_bucket="gs://" + BUCKET)
    prepare()
    parts = {part.__name__: part for part in (jobs, snippets, models, experiments)}
    for name in sys.argv[1:] or parts:
        parts[name]()


main()
