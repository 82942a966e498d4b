"""Runs a project of Kedro's own template by the commands of kedro-vertexai."""

import json
import os
import shutil

from example_results import example, run_example
from google.cloud import aiplatform, storage

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
BUCKET, FOLDER = "kedro", "spaceflights"
RUNNER = "kedro_vertexai.vertex_ai.runner.VertexAIPipelinesRunner"


def main():
    client = storage.Client(project=PROJECT)
    client.create_bucket(BUCKET)
    kedro("kedro new", "new", "--name", FOLDER, "--tools", "none", "--example", "n", folder=".")
    shutil.copy("pipeline_registry.py", FOLDER + "/src/spaceflights")
    shutil.copy("catalog.yml", FOLDER + "/conf/base")
    kedro("kedro vertexai init", "vertexai", "init", PROJECT, REGION)
    shutil.copy("vertexai.yml", FOLDER + "/conf/base")  # what init writes is to be filled in
    kedro("kedro vertexai compile", "vertexai", "compile", "--output", "pipeline.yml")
    os.environ["GCP_PROJECT_ID"], os.environ["GCP_REGION"] = PROJECT, REGION
    os.environ["KEDRO_CONFIG_JOB_NAME"] = os.environ["KEDRO_CONFIG_RUN_ID"] = "first"
    os.environ["KEDRO_VERTEXAI_RUNNER_CONFIG"] = json.dumps({"storage_root": BUCKET + "/root"})
    for step in ("read", "train", "evaluate"):
        kedro("the step %s by the runner" % step, "run", "--nodes", step, "--runner", RUNNER)
    with example("KedroVertexAIRunnerDataset"):
        names = [blob.name for blob in client.list_blobs(BUCKET, prefix="root/")]
        assert len(names) == 2, names
    with example("KedroVertexAIMetadataDataset"):
        aiplatform.init(project=PROJECT, location=REGION)
        (artifact,) = aiplatform.Artifact.list(filter='display_name="kedro-metrics"')
        assert artifact.metadata["pipeline job name"] == "first", artifact.metadata
        assert json.loads(client.bucket(BUCKET).blob("metrics.json").download_as_text())
    kedro("kedro vertexai run-once", "vertexai", "run-once")


def kedro(name, *command, folder=FOLDER):
    run_example(name, ["kedro", *command], cwd=folder)


if __name__ == "__main__":
    main()
