"""Fairing's own steps for AI Platform: a preprocessor, a builder, and the deployer for GCP."""

import logging
import os
import subprocess
import time

from googleapiclient import discovery, errors
from kubeflow import fairing

from example_results import example

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
# Its builder speaks http with a registry of this name alone.
REGISTRY = os.environ["REGISTRY"].replace("127.0.0.1", "localhost")
BASE = REGISTRY + "/python:3.11"
LINES = []


class Lines(logging.Handler):
    def emit(self, record):
        LINES.append(record.getMessage())


def end(deployer):
    """Return the job as it ended."""
    jobs = discovery.build("ml", "v1").projects().jobs()
    name = "projects/%s/jobs/%s" % (PROJECT, deployer._job_name)
    for _ in range(240):
        job = jobs.get(name=name).execute()
        if job["state"] in ("SUCCEEDED", "FAILED", "CANCELLED"):
            return job
        time.sleep(0.5)
    return job


def deploy(**settings):
    fairing.config.set_builder("append", base_image=BASE, registry=REGISTRY)
    fairing.config.set_deployer("gcp", project_id=PROJECT, region=REGION, **settings)
    _, _, deployer = fairing.config.run()
    return deployer


def main():
    # The base image is in a registry, as the append builder needs it.
    subprocess.run(["docker", "tag", "python:3.11", BASE], check=True)
    subprocess.run(["docker", "push", "-q", BASE], check=True)
    fairing.config.set_preprocessor("python", executable="task.py", input_files=["task.py"])
    with example("an image that the append builder makes"):
        job = end(deploy(scale_tier="BASIC"))
        assert job["state"] == "SUCCEEDED", job
        assert job["trainingInput"]["masterConfig"]["imageUri"].startswith(REGISTRY)
    with example("job_config: labels, a machine type, hyperparameters"):
        parameter = {"parameterName": "lr", "type": "DOUBLE", "minValue": 0.1, "maxValue": 1}
        tuning = {"goal": "MAXIMIZE", "params": [parameter], "maxTrials": 2}
        training = {
            "scaleTier": "CUSTOM",
            "masterType": "n1-standard-4",
            "args": ["--epochs=1"],
            "scheduling": {"maxRunningTime": "600s"},
        }
        job = end(deploy(job_config={"labels": {"team": "a"}, "trainingInput": training}))
        assert job["state"] == "SUCCEEDED", job
        training = dict(training, hyperparameters=tuning)
        deployer = deploy(job_config={"trainingInput": training})
        job = end(deployer)
        assert len(job["trainingOutput"]["trials"]) == 2, job
    with example("use_stream_logs"):
        logging.getLogger("kubeflow.fairing.deployers.gcp.gcp").addHandler(Lines())
        deploy(scale_tier="BASIC", use_stream_logs=True)
        assert any("trained as fairing_job_" in line for line in LINES), LINES
    with example("a job that is refused"):
        deployer = deploy(scale_tier="NO_SUCH_TIER")  # which prints the sentence
        try:
            end(deployer)
        except errors.HttpError as error:
            assert error.resp.status == 404, error
        else:
            raise AssertionError("there is a job")


main()
