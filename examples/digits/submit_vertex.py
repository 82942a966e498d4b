"""Send the digits trainer the Vertex AI way: the plain SDK, nothing of Footplate.

python submit_vertex.py PROJECT BUCKET
"""

import pathlib
import sys

from google.cloud import aiplatform

HERE = pathlib.Path(__file__).parent
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"


def submit(project, bucket):
    aiplatform.init(project=project, location="us-central1", staging_bucket=f"gs://{bucket}")
    job = aiplatform.CustomJob.from_local_script(
        display_name="digits",
        script_path=str(HERE / "trainer" / "task.py"),
        container_uri=IMAGE,
        args=["--regularization", "0.5"],
        machine_type="n1-standard-4",
        base_output_dir=f"gs://{bucket}/digits-vertex",
    )
    job.submit()
    return job


if __name__ == "__main__":
    print(submit(*sys.argv[1:]).resource_name)
