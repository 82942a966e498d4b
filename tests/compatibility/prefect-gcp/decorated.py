"""A flow that runs in a job when it is called. The job installs Prefect by the flow's launcher."""

import sys

from prefect import flow
from prefect_gcp.decorators import vertex_ai

INSTALL = "pip install -q --no-compile prefect-gcp==0.6.22 prefect==3.9.1"


@vertex_ai(
    work_pool="my-vertex-pool",
    launcher={
        "upload": [sys.executable],
        "execution": ["bash", "-c", INSTALL + ' && exec python "$@"', "python"],
    },
    region="us-central1",
    image="us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest",
    job_watch_poll_interval=1,
)
@flow
def add(left: int, right: int) -> int:
    return left + right
