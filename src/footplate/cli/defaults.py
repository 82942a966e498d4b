"""Defaults of command options."""

from __future__ import annotations

DEFAULT_PROJECT = "demo"
PROJECT_VARIABLES = ["FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT", "GOOGLE_CLOUD_PROJECT"]
DEFAULT_REGION = "us-central1"
