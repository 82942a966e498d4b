"""Runs that a launch agent would take from a queue for Vertex AI, by the agent's own runner."""

import asyncio
import os
import pathlib
from types import SimpleNamespace

from google.cloud import aiplatform, storage
from wandb.sdk.launch._project_spec import LaunchProject
from wandb.sdk.launch.loader import environment_from_config, runner_from_config
from wandb.sdk.launch.registry.anon import AnonynmousRegistry

from example_results import example

PROJECT, REGION = os.environ["PROJECT"], os.environ["REGION"]
PREBUILT = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
CODE = """\
import json, os, sys
assert os.environ["WANDB_PROJECT"] == "census" and os.environ["WANDB_LAUNCH"] == "True"
print(json.loads(os.environ["WANDB_CONFIG"]), sys.argv, flush=True)
"""
API = SimpleNamespace(settings={"base_url": "http://127.0.0.1:9"}, api_key="key")
"""What the runner takes of the connection to W&B's server."""


def write_queue(**run):
    """Return a queue's configuration, as W&B's guide to Vertex AI has it."""
    pool = {
        "machine_spec": {"machine_type": "n1-standard-4"},
        "replica_count": 1,
        "container_spec": {"image_uri": "${image_uri}"},
    }
    spec = {"worker_pool_specs": [pool], "staging_bucket": "gs://launch"}
    spec["labels"] = {"author": "${author}"}
    return {"vertex": {"spec": spec, "run": run}}


async def submit(image, command, arguments=(), synchronous=False, **run):
    spec = {
        "entity": "team",
        "project": "census",
        "name": "a-run",
        "author": "somebody",
        "docker": {"docker_image": image},
        "resource": "vertex",
        "resource_args": write_queue(**run),
        "overrides": {
            "entry_point": command,
            "args": list(arguments),
            "run_config": {"lr": 0.1},
        },
    }
    environment = environment_from_config({"type": "gcp", "region": REGION})
    registry = AnonynmousRegistry(uri="")
    settings = {"type": "vertex", "SYNCHRONOUS": synchronous}
    runner = runner_from_config("vertex", API, settings, environment, registry)
    project = LaunchProject.from_spec(spec, API)
    return await runner.run(project, project.docker_image)


async def end(run):
    """Return the state in which the run ends, watched as the agent watches it."""
    for _ in range(240):
        state = (await run.get_status()).state
        if state not in ("starting", "running", "unknown"):
            return state
        if run._job.state.name == "JOB_STATE_CANCELLED":  # which the runner calls unknown
            return "cancelled"
        await asyncio.sleep(0.5)
    return state


async def main():
    storage.Client(PROJECT).create_bucket("launch", location=REGION)
    with example("a run in a prebuilt image"):
        run = await submit(PREBUILT, ["python", "-c", CODE], ["--epochs=1"], timeout=600)
        assert await end(run) == "finished"
        job = aiplatform.CustomJob.get(run._job.resource_name)
        assert job.labels["author"] == "somebody", job.labels
        assert (run.gcp_project, run.gcp_region) == (PROJECT, REGION)
    with example("a run in an image of one's own"):
        assert await end(await submit("python:3.11", ["python", "-c", CODE])) == "finished"
    with example("an agent that waits for its run (SYNCHRONOUS)"):
        run = await submit(PREBUILT, ["python", "-c", CODE], synchronous=True)
        assert (await run.get_status()).state == "finished"
    with example("a run that fails"):
        assert await end(await submit(PREBUILT, ["false"])) == "failed"
    with example("a run that is cancelled"):
        run = await submit(PREBUILT, ["sleep", "600"])
        await run.cancel()
        assert await end(run) == "cancelled"
    with example("a tensorboard, a service account and web access (run)"):
        tensorboard = aiplatform.Tensorboard.create(display_name="launch")
        run = await submit(
            PREBUILT,
            ["python", "-c", CODE],
            tensorboard=tensorboard.resource_name,
            service_account="launch@%s.iam.gserviceaccount.com" % PROJECT,
            enable_web_access=True,
            restart_job_on_worker_restart=True,
        )
        assert await end(run) == "finished"
    with example("the GCP environment: a bucket, a file and a folder"):
        environment = environment_from_config({"type": "gcp", "region": REGION})
        await environment.verify()
        await environment.verify_storage_uri("gs://launch/x")
        await environment.upload_file(__file__, "gs://launch/code/examples.py")
        await environment.upload_dir(str(pathlib.Path(__file__).parent), "gs://launch/folder")
        names = [blob.name for blob in storage.Client(PROJECT).list_blobs("launch")]
        assert "folder/client.toml" in names, names


asyncio.run(main())
