"""The page on training pipelines: its script makes a model, run as its reader runs it."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE
from tests.support.forked_process import run_footplate

PAGE = Path(__file__).parents[2] / "docs" / "how-to" / "train-by-pipelines.md"
ADDRESS = "http://127.0.0.1:8470"
TASK = """
import os
with open(os.environ["AIP_MODEL_DIR"].replace("gs://", "/gcs/") + "/model.txt", "w") as file:
    file.write("42")
"""


def test_the_script_of_the_page_makes_a_model(tmp_path: Path) -> None:
    found = re.search(r"```python\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    assert found is not None
    assert ADDRESS in found[1]
    (tmp_path / "task.py").write_text(TASK)
    with running_service(tmp_path / "data", CACHE) as service:
        (tmp_path / "submit.py").write_text(found[1].replace(ADDRESS, service.url))
        environment = service.environment(HOME=str(tmp_path), STORAGE_EMULATOR_HOST=service.url)

        def run(*command: str) -> str:
            done = subprocess.run(
                command,
                cwd=tmp_path,
                env=environment,
                capture_output=True,
                text=True,
                check=False,
            )
            assert done.returncode == 0, done.stderr
            return done.stdout

        bucket = ("storage", "buckets", "create", "gs://stage", "--project=demo")
        run_footplate(*bucket, env=environment, check=True)
        name, uri = run(sys.executable, "submit.py").splitlines()[-1].split()
    assert name.startswith("projects/demo/locations/us-central1/models/")
    assert uri == "gs://stage/out/model/"
