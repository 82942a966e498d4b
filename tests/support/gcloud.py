"""The real gcloud, for tests that talk to it."""

from __future__ import annotations

import shutil

from tests.support.requirements import require

_APIS = ("AIPLATFORM", "CLOUDRESOURCEMANAGER", "LOGGING", "ML", "SERVICEUSAGE", "STORAGE")


def endpoint_variables(url: str, project: str, region: str) -> dict[str, str]:
    """For gcloud, to call an app at ``url`` that has no proxy beside it."""
    return {
        **{f"CLOUDSDK_API_ENDPOINT_OVERRIDES_{api}": f"{url}/" for api in _APIS},
        "CLOUDSDK_AI_REGION": region,
        "CLOUDSDK_AI_PLATFORM_REGION": "global",
        "CLOUDSDK_AUTH_DISABLE_CREDENTIALS": "true",
        "CLOUDSDK_COMPONENT_MANAGER_DISABLE_UPDATE_CHECK": "true",
        "CLOUDSDK_COMPUTE_REGION": region,
        "CLOUDSDK_CORE_CHECK_GCE_METADATA": "false",
        "CLOUDSDK_CORE_DISABLE_USAGE_REPORTING": "true",
        "CLOUDSDK_CORE_PROJECT": project,
        "NO_GCE_CHECK": "true",
    }


def find_gcloud() -> str:
    """Its path. Without it the test that asks is skipped, and in CI it fails."""
    program = shutil.which("gcloud")
    require("needs gcloud: install the Google Cloud CLI" if program is None else None)
    assert program is not None
    return program
