"""Runs Google's samples for Node.js, each a script with arguments."""

import json
import os
import time
from pathlib import Path
from urllib.request import Request, urlopen

from example_results import run_example

SAMPLES = Path(os.environ["SOURCES"], "repository", "ai-platform", "snippets")
PROJECT, LOCATION = os.environ["PROJECT"], os.environ["REGION"]
PARENT = "%s/v1/projects/%s/locations/%s" % (os.environ["URL"], PROJECT, LOCATION)
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
SERVING = "us-docker.pkg.dev/vertex-ai/prediction/sklearn-cpu.1-0:latest"


def run(name, *words):
    return run_example(
        name, ["node", str(SAMPLES / (name + ".js")), *words, PROJECT, LOCATION], 120
    )


def ask(url, document=None):
    """Return the answer to what a user has made or looks for beside the samples."""
    body = None if document is None else json.dumps(document).encode()
    with urlopen(Request(url, body, {"content-type": "application/json"})) as answer:
        return json.load(answer)


def make(kind, document):
    return ask("%s/%s" % (PARENT, kind), document)["name"].rpartition("/")[2]


def main():
    pools = [
        {
            "machineSpec": {"machineType": "n1-standard-4"},
            "replicaCount": 1,
            "containerSpec": {"imageUri": IMAGE, "command": ["sleep", "600"]},
        }
    ]
    spec = {"workerPoolSpecs": pools}
    job = make("customJobs", {"displayName": "n", "jobSpec": spec})
    run("create-custom-job", "n", IMAGE)
    run("get-custom-job", job)
    run("cancel-custom-job", job)
    metrics = [{"metricId": "accuracy", "goal": "MAXIMIZE"}]
    parameters = [{"parameterId": "lr", "doubleValueSpec": {"minValue": 0.001, "maxValue": 0.1}}]
    study = {"metrics": metrics, "parameters": parameters}
    tuning = {"displayName": "n", "maxTrialCount": 1, "parallelTrialCount": 1, "studySpec": study}
    tuning = make("hyperparameterTuningJobs", {**tuning, "trialJobSpec": spec})
    run("create-hyperparameter-tuning-job", "n", IMAGE)
    run("get-hyperparameter-tuning-job", tuning)
    custom = "gs://google-cloud-aiplatform/schema/trainingjob/definition/custom_task_1.0.0.yaml"
    task = {"trainingTaskDefinition": custom, "trainingTaskInputs": spec}
    run("get-training-pipeline", make("trainingPipelines", {"displayName": "n", **task}))
    storage = os.environ["URL"] + "/storage/v1/b"
    ask("%s?project=%s" % (storage, PROJECT), {"name": "node-samples"})
    model = {"displayName": "n", "artifactUri": "gs://node-samples/m"}
    model["containerSpec"] = {"imageUri": SERVING}
    model["predictSchemata"] = {"instanceSchemaUri": "gs://node-samples/schema.yaml"}
    operation = ask(PARENT + "/models:upload", {"model": model})
    while not ask("%s/v1/%s" % (os.environ["URL"], operation["name"])).get("done"):
        time.sleep(1)
    made = ask(PARENT + "/models")["models"][0]["name"].rpartition("/")[2]
    run("get-model", made)
    run("export-model", made, "gs://node-samples/exported", "custom-trained")
    run("delete-model", made)
    run("list-endpoints")
    for way in ("", "-async", "-stream"):
        run("list-featurestores%s-sample" % way)
    run("create-endpoint", "n")


main()
