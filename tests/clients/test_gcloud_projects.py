"""The real gcloud, where scripts begin: with the project, and the services that it enables."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import subprocess
    from collections.abc import Callable

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
