"""The real gcloud, where scripts begin: with the project, and the services that it enables."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from tests.support.forked_process import run_forked
from tests.support.gcloud import find_gcloud

if TYPE_CHECKING:
    import subprocess

    Run = Callable[..., subprocess.CompletedProcess[str]]


def test_the_project_is_described(gcloud: Run) -> None:
    described = gcloud("projects", "describe", "demo", "--format=json")
    assert described.returncode == 0, described.stderr
    assert json.loads(described.stdout)["projectId"] == "demo"


def test_services_are_listed_and_enabled(gcloud: Run) -> None:
    listed = gcloud("services", "list", "--enabled", "--format=value(config.name)")
    assert listed.returncode == 0, listed.stderr
    assert "aiplatform.googleapis.com" in listed.stdout.split()
    enabled = gcloud("services", "enable", "aiplatform.googleapis.com", "compute.googleapis.com")
    assert enabled.returncode == 0, enabled.stderr


def test_a_policy_is_refused_with_the_way_out(gcloud: Run) -> None:
    binding = ("--member=user:a@example.com", "--role=roles/viewer")
    refused = gcloud("projects", "add-iam-policy-binding", "demo", *binding)
    assert refused.returncode != 0
    assert "api_access" in refused.stderr


def test_no_account_of_the_users_configuration_is_used(
    pointed: dict[str, str], tmp_path: Path
) -> None:
    configurations = tmp_path / "configurations"
    configurations.mkdir()
    (configurations / "config_default").write_text(
        "[core]\naccount = me@example.com\n"
        "[auth]\nimpersonate_service_account = sa@real.iam.gserviceaccount.com\n"
    )
    words = (find_gcloud(), "projects", "describe", "demo", "--format=value(projectId)")
    described = run_forked(words, env={**pointed, "CLOUDSDK_CONFIG": str(tmp_path)})
    assert (described.stdout.strip(), described.returncode) == ("demo", 0), described.stderr
