"""Where gsutil and gcloud of a program go."""

from __future__ import annotations

import subprocess
from configparser import ConfigParser
from pathlib import Path

from footplate.replica.google_tools import make_settings, wrap_tools

LEADING = "CLOUDSDK_API_ENDPOINT_OVERRIDES_STORAGE"


def test_gsutil_leaves_its_work_to_gcloud(tmp_path: Path) -> None:
    made = make_settings({LEADING: "http://127.0.0.1:8470/x/"}, str(tmp_path), "/tmp")
    assert made == {
        "BOTO_CONFIG": str(tmp_path / "boto"),
        "CLOUDSDK_CONFIG": "/tmp/.google-cloud",
    }
    boto = ConfigParser()
    boto.read(made["BOTO_CONFIG"])
    assert boto.getboolean("GSUtil", "use_gcloud_storage")
    assert boto.getint("Boto", "num_retries") <= 1


def test_nothing_is_made_for_who_wants_googles_own_storage(tmp_path: Path) -> None:
    assert make_settings({LEADING: ""}, str(tmp_path), "/tmp") == {}
    assert make_settings({}, str(tmp_path), "/tmp") == {}
    assert list(tmp_path.iterdir()) == []


def test_tools_of_builds_have_a_short_tmpdir(tmp_path: Path) -> None:
    real = tmp_path / "real place"
    real.mkdir()
    (real / "gsutil").write_text('#!/bin/sh\necho "$TMPDIR" "$@"\n')
    (real / "gsutil").chmod(0o755)
    path = wrap_tools(str(tmp_path / "tools"), f"{real}:/usr/bin:/bin")
    assert path == f"{tmp_path / 'tools'}:{real}:/usr/bin:/bin"
    ended = subprocess.run(
        ["gsutil", "ls", "a b"],
        env={"PATH": path, "TMPDIR": "/deep"},
        capture_output=True,
        check=True,
    )
    assert ended.stdout == b"/tmp ls a b\n"
