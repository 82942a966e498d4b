"""Send a script to Vertex AI as a cluster: the plain SDK.

python submit_vertex.py PROJECT BUCKET SCRIPT REPLICAS
"""

import pathlib
import sys

from google.cloud import aiplatform

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"


def submit(project, bucket, script, replicas):
    name = pathlib.Path(script).parent.name
    aiplatform.init(project=project, location="us-central1", staging_bucket=f"gs://{bucket}")
    job = aiplatform.CustomJob.from_local_script(
        display_name=name,
        script_path=script,
        container_uri=IMAGE,
        replica_count=int(replicas),  # the primary, and the others in a second pool
        machine_type="n1-standard-4",
        base_output_dir=f"gs://{bucket}/{name}",
    )
    job.submit()
    return job


if __name__ == "__main__":
    print(submit(*sys.argv[1:]).resource_name)
