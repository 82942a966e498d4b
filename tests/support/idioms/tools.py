"""Programs that start gcloud and gsutil, where these are on PATH."""

from __future__ import annotations

import os
import subprocess

ROOT = os.environ["IDIOMS_ROOT"]


def write() -> None:
    with open("weights", "w") as file:
        file.write("w" * 1000)


def case_gcloud_storage_cp() -> None:
    write()
    place = f"{ROOT}/gcloud_storage_cp/weights"
    subprocess.check_call(["gcloud", "storage", "cp", "weights", place])
    assert subprocess.check_output(["gcloud", "storage", "cat", place]) == b"w" * 1000


def case_gsutil_cp() -> None:
    write()
    folder = os.path.join(ROOT, "gsutil_cp")
    subprocess.check_call(f"gsutil -m -q cp weights {folder}/", shell=True)  # noqa: S602  users do
    subprocess.check_call(["gsutil", "-q", "cp", f"{folder}/weights", f"{folder}/other"])
    assert subprocess.check_output(["gsutil", "cat", f"{folder}/other"]) == b"w" * 1000
    subprocess.check_call(["gsutil", "-q", "rm", f"{folder}/other"])
