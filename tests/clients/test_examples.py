"""Scripts that know nothing of Footplate, under ``footplate run``: they train here."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    import subprocess

    from google.cloud import storage

    Run = Callable[..., subprocess.CompletedProcess[str]]

DIGITS = Path(__file__).resolve().parents[2] / "examples" / "digits"


@pytest.fixture
def run_script(footplate: Run, bucket: storage.Bucket) -> Callable[[str], str]:
    """Run an example; returns its last line."""

    def run(name: str) -> str:
        words = (sys.executable, DIGITS / name, "demo", bucket.name)
        done = footplate("run", "--", *words)
        assert done.returncode == 0, done.stderr
        return done.stdout.splitlines()[-1]

    return run


def test_the_ai_platform_way(
    run_script: Callable[[str], str],
    finish: Callable[..., dict[str, Any]],
    footplate: Run,
    bucket: storage.Bucket,
) -> None:
    job_id = run_script("submit_ai_platform.py")
    job = finish(job_id)
    assert job["state"] == "SUCCEEDED", job
    assert bucket.blob(f"{job_id}/model.joblib").exists()
    lines = footplate("ai-platform", "jobs", "stream-logs", job_id).stdout
    assert "accuracy: 0.9" in lines


def test_the_vertex_way(
    run_script: Callable[[str], str], footplate: Run, bucket: storage.Bucket
) -> None:
    name = run_script("submit_vertex.py")
    lines = footplate("ai", "custom-jobs", "stream-logs", name).stdout
    assert "accuracy: 0.9" in lines
    assert bucket.blob("digits-vertex/model/model.joblib").exists()
