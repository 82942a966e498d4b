"""Runs Google's system tests of the Vertex SDK, a folder of tests without the SDK beside it."""

import os
import shutil
import subprocess
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

from example_results import tell
from google.cloud import storage

# Without "autologging": its tests copy a folder, with its mode, onto the machine's /tmp.
MODULES = sys.argv[1:] or [
    "custom_job", "e2e_metadata_schema", "experiment_model", "experiments",
    "initializer", "model_interactions", "model_upload", "model_version_management",
    "project_id_inference", "tensorboard", "vizier",
]  # fmt: skip
SAMPLES = "cloud-samples-data-us-central1"
MODEL = "vertex-ai/google-cloud-aiplatform-ci-artifacts/models/iris_xgboost/model.bst"
"""A public object of Google's, which tests upload as a model: any content will do."""
LIMIT_S = 900


def main():
    (tests,) = Path(os.environ["SOURCES"]).glob("google_cloud_aiplatform-*/tests")
    shutil.copytree(tests, "tests")
    bucket = storage.Client(os.environ["PROJECT"]).create_bucket(SAMPLES)
    bucket.blob(MODEL).upload_from_string(b"a model")
    files = ["tests/system/aiplatform/test_%s.py" % name for name in MODULES]
    options = ("-q", "-p", "no:cacheprovider", "--junitxml=report.xml", "--tb=short")
    subprocess.run((sys.executable, "-m", "pytest", *options, *files), timeout=LIMIT_S)
    for case in ET.parse("report.xml").getroot().iter("testcase"):
        found = {child.tag: child.get("message", "") for child in case}
        module = case.get("classname", "").rpartition("test_")[2].partition(".")[0]
        bad = [found[tag] for tag in ("error", "failure", "skipped") if tag in found]
        tell("%s: %s" % (module, case.get("name")), bad[0] if bad else None)


main()
