"""Where a region comes from that neither a flag nor a file names."""

from __future__ import annotations

from pathlib import Path

import pytest

from footplate.cli.defaults import default_region

BOTH = "[compute]\nregion = us-west1\n[ai_platform]\nregion = us-west2\n"


@pytest.fixture
def config(tmp_path: Path) -> Path:
    (tmp_path / "configurations").mkdir()
    (tmp_path / "active_config").write_text("work\n")
    (tmp_path / "configurations" / "config_work").write_text(BOTH)
    (tmp_path / "configurations" / "config_home").write_text("[compute]\nregion = us-east4\n")
    return tmp_path


@pytest.mark.parametrize(
    ("variables", "region"),
    [
        ({"CLOUDSDK_AI_PLATFORM_REGION": "a", "CLOUDSDK_COMPUTE_REGION": "b"}, "a"),
        ({"CLOUDSDK_AI_PLATFORM_REGION": "global", "CLOUDSDK_COMPUTE_REGION": "b"}, "b"),
        ({"CLOUDSDK_COMPUTE_REGION": "b"}, "b"),
        ({"CLOUDSDK_AI_REGION": "of Vertex AI", "CLOUDSDK_COMPUTE_REGION": ""}, "us-west2"),
        ({}, "us-west2"),
        ({"CLOUDSDK_ACTIVE_CONFIG_NAME": "home"}, "us-east4"),
        ({"CLOUDSDK_ACTIVE_CONFIG_NAME": "none"}, "fallback"),
        ({"CLOUDSDK_ACTIVE_CONFIG_NAME": "../active_config"}, "fallback"),
    ],
)
def test_variables_come_before_the_configuration(
    config: Path, variables: dict[str, str], region: str
) -> None:
    environ = {"CLOUDSDK_CONFIG": str(config), **variables}

    assert default_region(environ, "ai_platform", "fallback") == region


def test_vertex_ai_has_a_section_of_its_own(config: Path) -> None:
    assert default_region({"CLOUDSDK_CONFIG": str(config)}, "ai", "fallback") == "us-west1"


@pytest.mark.parametrize("content", [b"region = x", b"[compute]\nregion = %(x)s\n[", b"\xff\xfe"])
def test_a_configuration_that_is_none(config: Path, content: bytes) -> None:
    (config / "configurations" / "config_work").write_bytes(content)

    assert default_region({"CLOUDSDK_CONFIG": str(config)}, "ai", "fallback") == "fallback"


def test_no_configuration(tmp_path: Path) -> None:
    assert default_region({"CLOUDSDK_CONFIG": str(tmp_path)}, "ai", "fallback") == "fallback"
