"""In which form a program gets its directories, and what becomes of files in ``./gs:``."""

from __future__ import annotations

from footplate.domain.job_states import State
from tests.e2e.service.conftest import Context

SAVE = """
import os, sys
folder = sys.argv[sys.argv.index("--job-dir") + 1]
print(folder, flush=True)
os.makedirs(folder, exist_ok=True)
with open(os.path.join(folder, "model"), "w") as file:
    file.write("m")
"""


def test_what_is_written_to_a_uri_is_kept_and_named(context: Context) -> None:
    name = context.submit(SAVE)
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    uri = f"gs://{context.bucket.name}/out/{name.job_id}"
    assert uri in context.messages(name)
    assert list(context.out(name).iterdir()) == []

    with context.client() as client:
        (event,) = [each for each in client.events(name) if each.kind == "LOST_FILES"]
    path = f"gs:/{context.bucket.name}/out/{name.job_id}/model"
    assert f"wrote 1 file (1 bytes): {path} (1 bytes) to ./gs: " in event.message
    (kept,) = (context.service.data_dir / "replicas" / ".kept").iterdir()
    assert event.message.endswith(f" UTC in {kept}")
    assert (kept / path).read_text() == "m"


def test_a_label_makes_it_a_path(context: Context) -> None:
    name = context.submit(SAVE, labels={"footplate-directories": "paths"})
    assert context.wait_for(name).state is State.SUCCEEDED, context.messages(name)
    assert (context.out(name) / "model").read_text() == "m"
    assert f"/gcs/{context.bucket.name}/out/{name.job_id}" in context.messages(name)
