"""Send the digits trainer the AI Platform way: plain Google clients, nothing of Footplate.

python submit_ai_platform.py PROJECT BUCKET
"""

import pathlib
import subprocess
import sys
import tempfile
import time

from google.cloud import storage
from googleapiclient import discovery

HERE = pathlib.Path(__file__).parent


def build_package():
    """The trainer as a source distribution."""
    out = tempfile.mkdtemp()
    command = [sys.executable, "setup.py", "-q", "egg_info", "-e", out, "sdist", "-d", out]
    subprocess.run(command, cwd=HERE, check=True)
    return next(pathlib.Path(out).glob("*.tar.gz"))


def submit(project, bucket):
    package = build_package()
    blob = storage.Client(project=project).bucket(bucket).blob(f"packages/{package.name}")
    blob.upload_from_filename(package)

    job_id = time.strftime("digits_%Y%m%d_%H%M%S")
    body = {
        "jobId": job_id,
        "labels": {"model": "digits"},
        "trainingInput": {
            "scaleTier": "BASIC",
            "region": "us-central1",
            "runtimeVersion": "2.21",
            "pythonVersion": "3.11",
            "packageUris": [f"gs://{bucket}/packages/{package.name}"],
            "pythonModule": "trainer.task",
            "args": ["--regularization", "2.0"],
            "jobDir": f"gs://{bucket}/{job_id}",
        },
    }
    ml = discovery.build("ml", "v1")
    return ml.projects().jobs().create(parent=f"projects/{project}", body=body).execute()


if __name__ == "__main__":
    print(submit(*sys.argv[1:])["jobId"])
