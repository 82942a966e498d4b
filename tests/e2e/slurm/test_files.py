"""Files and Google's storage API in programs on nodes that share no folders with the service."""

from collections.abc import Iterator

import pytest

from footplate.domain.job_states import State
from footplate.domain.names import GcsUri
from tests.e2e.service.conftest import BUCKET, Context
from tests.e2e.slurm.conftest import REGION, ServeRegion

SOURCE = """\
import argparse, json, os, time, urllib.error, urllib.request
parser = argparse.ArgumentParser()
parser.add_argument("--input")
parser.add_argument("--job-dir", type=lambda uri: uri.replace("gs://", "/gcs/"))
args = parser.parse_args()
task = json.loads(os.environ["TF_CONFIG"])["task"]["type"]
storage = os.environ["STORAGE_EMULATOR_HOST"]

def read(name):
    with urllib.request.urlopen(storage + "/storage/v1/b/stage/o/" + name + "?alt=media") as answer:
        return answer.read().decode()

with open(args.input) as file:
    content = file.read()
print("sees", sorted(os.listdir("/gcs/stage")), os.path.realpath(args.job_dir))
with open(os.path.join(args.job_dir, task), "w") as file:
    file.write(task + " read " + content)
print("storage", read("other"))
url = storage + "/upload/storage/v1/b/stage/o?uploadType=media&name=from-" + task
urllib.request.urlopen(urllib.request.Request(url, b"sent by " + task.encode())).close()
end = time.monotonic() + 100
while task == "chief":  # whose end is that of all
    try:
        print("peer", read("from-worker"))
        break
    except urllib.error.HTTPError:
        if time.monotonic() > end:
            raise
        time.sleep(0.1)
"""


@pytest.fixture
def context(serve_region: ServeRegion) -> Iterator[Context]:
    with serve_region('files = "copied"') as context:
        yield context


def test_files_are_copied_and_the_storage_api_is_relayed(context: Context) -> None:
    with context.client() as client:
        client.storage.upload(GcsUri(BUCKET, "in/data.txt"), b"the input")
        client.storage.upload(GcsUri(BUCKET, "other"), b"what the job doesn't name")
    pools = {
        "scaleTier": "CUSTOM",
        "masterType": "n1-standard-4",
        "workerType": "n1-standard-4",
        "workerCount": "1",
    }
    source = f"--input=/gcs/{BUCKET}/in/data.txt"
    name = context.submit(SOURCE, source, region=REGION, **pools)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)

    messages = context.messages(name)
    seen = [line for line in messages if line.startswith("sees")]
    assert len(seen) == 2
    assert all("['in', 'out']" in line and "/gcs/stage/out/" in line for line in seen)
    assert messages.count("storage what the job doesn't name") == 2
    assert "peer sent by worker" in messages
    for task in ("chief", "worker"):
        assert (context.out(name) / task).read_text() == f"{task} read the input"
    with context.client() as client:
        events = [event.message for event in client.events(name)]
    assert "copied 1 object (20 bytes) of /gcs/stage to gs://stage" in events
