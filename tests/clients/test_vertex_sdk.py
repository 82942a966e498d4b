"""The unmodified google-cloud-aiplatform, new and old, with jobs that really run."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from typing import TYPE_CHECKING
from uuid import uuid4

import httpx

from footplate.testing.service import RunningService
from tests.clients.conftest import CACHE
from tests.unit.replica_metrics.event_writer import event, record, simple

if TYPE_CHECKING:
    from google.cloud import storage

TRAINER = """
import argparse, os
import joblib
from sklearn.datasets import load_digits
from sklearn.tree import DecisionTreeClassifier

parser = argparse.ArgumentParser()
parser.add_argument("--depth", type=int)
images, digits = load_digits(return_X_y=True)
model = DecisionTreeClassifier(max_depth=parser.parse_args().depth, random_state=0)
accuracy = model.fit(images, digits).score(images, digits)
folder = os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/")
joblib.dump(model, os.path.join(folder, "model.joblib"))
with open(os.path.join(folder, "accuracy.txt"), "w") as file:
    file.write(str(accuracy))
"""


def test_a_local_script_trains(sdk: Callable[[str], list[str]], bucket: storage.Bucket) -> None:
    lines = sdk(f"""
job = from_script("digits", {TRAINER!r}, args=["--depth", "8"], labels={{"team": "a"}},
                  base_output_dir=BUCKET + "/digits")
job.run(restart_job_on_worker_restart=False)
say(job.state.name, job.error.code, job.start_time < job.end_time)
again = aiplatform.CustomJob.get(job.resource_name)
say(again.display_name, again.labels, again.state.name)
found = aiplatform.CustomJob.list(filter='display_name="digits" AND state="JOB_STATE_SUCCEEDED"')
say(job.resource_name in [each.resource_name for each in found])
""")
    assert lines == [
        "JOB_STATE_SUCCEEDED 0 True",
        "digits {'team': 'a'} JOB_STATE_SUCCEEDED",
        "True",
    ]
    model = bucket.get_blob("digits/model/model.joblib")
    assert model is not None
    assert model.size > 1000
    assert 0.9 < float(bucket.blob("digits/model/accuracy.txt").download_as_text()) < 1.0


def test_failures_say_why_and_jobs_are_cancelled_and_deleted(
    sdk: Callable[[str], list[str]], service: RunningService
) -> None:
    lines = sdk("""
long = from_script("long", "import time\\nprint('up', flush=True)\\ntime.sleep(3600)")
long.submit(enable_web_access=True)
failing = from_script("failing", "raise ValueError('the answer is not 42')")
try:
    failing.run()
except RuntimeError as error:
    say(error.args[0].replace("\\n", " "))
wait_for(long, "RUNNING")
say(*long.web_access_uris.items())
long.cancel()
wait_for(long, "CANCELLED")
say(len(long.web_access_uris))
say(long.error.code, long.error.message)
for job in (long, failing):
    name = job.resource_name
    aiplatform.CustomJob.get(name).delete()
    try:
        aiplatform.CustomJob.get(name)
    except exceptions.NotFound as error:
        say(error.code)
""")
    told, shells, later, cancelled, *gone = lines
    assert "ValueError: the answer is not 42" in told
    assert "workerpool0-0" in told
    assert shells.startswith(f"('workerpool0-0', '{service.url}/shell/v1/")
    assert later == "0"
    assert cancelled.startswith("1 ")
    assert gone == ["404", "404"]


LOGGER = f"""
import os
folder = os.environ["AIP_TENSORBOARD_LOG_DIR"].replace("gs://", "/gcs/")
with open(os.path.join(folder, "events.out.tfevents.1"), "wb") as file:
    file.write({record(event(simple("loss", 0.5), step=3))!r})
"""


def test_a_job_runs_on_a_persistent_resource_and_its_logs_go_to_a_tensorboard(
    sdk: Callable[[str], list[str]], service: RunningService
) -> None:
    location = f"{service.url}/v1/projects/demo/locations/us-central1"
    resources, name = f"{location}/persistentResources", f"r{uuid4().hex[:12]}"
    pool = {"machineSpec": {"machineType": "n1-standard-4"}, "replicaCount": "1"}
    body = {"resourcePools": [pool]}
    kept = CACHE / "footplate" / "kept"
    before = {folder for folder, _, _ in os.walk(kept)}
    made = httpx.post(resources, params={"persistentResourceId": name}, json=body)
    assert made.status_code == 200, made.text

    board = httpx.post(f"{location}/tensorboards", json={"displayName": "b"}).json()
    board = board["response"]["name"]

    lines = sdk(f"""
job = from_script("reserved", {LOGGER!r})
job.run(persistent_resource_id={name!r}, tensorboard={board!r},
        service_account="me@demo.iam.gserviceaccount.com")
say(job.state.name, job.to_dict()["jobSpec"]["persistentResourceId"] == {name!r})
experiment = {board!r} + "/experiments/" + job.resource_name.rpartition("/")[2]
def shown():
    try:
        (run,) = aiplatform.TensorboardRun.list(experiment)
        return run.display_name, run.read_time_series_data()["loss"].values[0]
    except (exceptions.NotFound, ValueError, KeyError, IndexError):
        return None
deadline = time.monotonic() + 60
while shown() is None:
    assert time.monotonic() < deadline
    time.sleep(0.2)
name, point = shown()
say(name, point.step, point.scalar.value)
""")

    assert lines == ["JOB_STATE_SUCCEEDED True", "default 3 0.5"]
    # Other processes of the tests, which share the cache, make and remove such folders meanwhile.
    marks = [mark for folder, _, names in os.walk(kept) if folder not in before for mark in names]
    assert any(mark.startswith("runtimes-") for mark in marks), marks
    deleted = httpx.delete(f"{resources}/{name}").json()["name"]
    deadline = time.monotonic() + 60
    while not httpx.get(f"{service.url}/v1/{deleted}").json()["done"]:
        assert time.monotonic() < deadline
        time.sleep(0.1)
    assert httpx.get(f"{resources}/{name}").status_code == 404
