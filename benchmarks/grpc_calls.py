"""A call over gRPC, against the same call over REST by Google's own client and the health check."""

from __future__ import annotations

import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from footplate.testing.service import running_service

CALLS = 300
MAIN = (sys.executable, "-c", "from footplate.cli.main import main; main()")
PARENT = "projects/demo/locations/us-central1"


def client() -> None:
    """Under ``footplate run``: in turn, so that a busy moment meets all of them."""
    # Imported here: the process that starts the service keeps clear of gRPC.
    import os

    import httpx
    from google.cloud import aiplatform_v1

    grpc = aiplatform_v1.JobServiceClient(transport="grpc")
    rest = aiplatform_v1.JobServiceClient(transport="rest")
    with httpx.Client(base_url=os.environ["FOOTPLATE_URL"]) as plain:
        calls = {
            "list of jobs, gRPC": lambda: list(grpc.list_custom_jobs(parent=PARENT)),
            "list of jobs, REST, the same client": lambda: list(
                rest.list_custom_jobs(parent=PARENT)
            ),
            "list of jobs, REST, httpx": lambda: plain.get(f"/v1/{PARENT}/customJobs").json(),
            "health check, httpx": lambda: plain.get("/healthz").json(),
        }
        times: dict[str, list[float]] = {name: [] for name in calls}
        for _ in range(CALLS):
            for name, call in calls.items():
                started = time.perf_counter()
                call()
                times[name].append(time.perf_counter() - started)
    print("| call | 10 % | median | 90 % |\n|---|---|---|---|")
    for name, taken in times.items():
        tenths = statistics.quantiles(taken, n=10)
        shown = (tenths[0], statistics.median(taken), tenths[-1])
        print(f"| {name} | {' | '.join(f'{seconds * 1000:.1f} ms' for seconds in shown)} |")
    over_grpc, over_rest, *_ = times.values()
    later = statistics.median(a - b for a, b in zip(over_grpc, over_rest, strict=True))
    print(f"\ngRPC after REST, median of the pairs: {later * 1000:.1f} ms")


def main() -> None:
    if sys.argv[1:] == ["client"]:
        client()
        return
    with (
        tempfile.TemporaryDirectory() as folder,
        running_service(Path(folder) / "data") as service,
    ):
        command = [*MAIN, "run", "--", sys.executable, "-W", "ignore", __file__, "client"]
        subprocess.run(command, env=service.environment(), check=True)


if __name__ == "__main__":
    main()
