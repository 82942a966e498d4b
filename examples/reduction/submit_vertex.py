"""Send a script to Vertex AI with two workers more, and reduction servers: the plain SDK.

python submit_vertex.py PROJECT BUCKET SCRIPT REDUCERS
"""

import sys

from google.cloud import aiplatform

IMAGE = "us-docker.pkg.dev/vertex-ai/training/pytorch-cpu.2-13.py311:latest"
REDUCTION_SERVER = "us-docker.pkg.dev/vertex-ai-restricted/training/reductionserver:latest"


def submit(project, bucket, script, reducers):
    aiplatform.init(project=project, location="us-central1", staging_bucket=f"gs://{bucket}")
    job = aiplatform.CustomJob.from_local_script(
        display_name="reduction",
        script_path=script,
        container_uri=IMAGE,
        replica_count=3,  # the primary, and two in the second pool
        machine_type="n1-standard-4",
        reduction_server_replica_count=int(reducers),
        reduction_server_machine_type="n1-highcpu-16",
        reduction_server_container_uri=REDUCTION_SERVER,
        base_output_dir=f"gs://{bucket}/reduction",
    )
    job.submit()
    return job


if __name__ == "__main__":
    print(submit(*sys.argv[1:]).resource_name)
