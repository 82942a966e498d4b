"""``CustomContainerTrainingJob`` of the Vertex SDK, with images that a real engine runs."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

from footplate.testing.service import outside
from tests.e2e.containers.container_context import ContainerContext
from tests.e2e.service.conftest import BUCKET

SCRIPT = """
import os
from google.auth.credentials import AnonymousCredentials
from google.cloud import aiplatform
aiplatform.init(project="demo", location="us-central1", staging_bucket="gs://BUCKET",
                api_endpoint=os.environ["URL"], api_transport="rest",
                credentials=AnonymousCredentials())
program = ("import os; folder = os.environ['AIP_MODEL_DIR'].replace('gs://', '/gcs/'); "
           "open(folder + '/model.txt', 'w').write('42')")
job = aiplatform.CustomContainerTrainingJob(
    "container", "IMAGE", ["python3", "-c", program],
    model_serving_container_image_uri="serve:1")
model = job.run(base_output_dir="gs://BUCKET/out", replica_count=2, model_display_name="mymodel",
                machine_type="n1-standard-4", sync=False)
model.wait()
print(">", job.state.name, model.display_name, model.uri)
"""


def test_a_pipeline_of_an_image_makes_a_model(shared: ContainerContext, tmp_path: Path) -> None:
    script = tmp_path / "submit.py"
    script.write_text(SCRIPT.replace("BUCKET", BUCKET).replace("IMAGE", shared.image))
    environment = outside(os.environ) | {
        "HOME": str(tmp_path),
        "STORAGE_EMULATOR_HOST": shared.service.url,
        "URL": shared.service.url,
    }
    done = subprocess.run(
        [sys.executable, str(script)],
        env=environment,
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    said = f"> PIPELINE_STATE_SUCCEEDED mymodel gs://{BUCKET}/out/model/"
    assert said in done.stdout.splitlines()
