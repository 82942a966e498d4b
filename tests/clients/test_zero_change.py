"""Programs as they are, through the proxy: nothing else can be reached."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from footplate.testing.service import outside
from tests.clients.conftest import ROOT
from tests.support.client_environments import environment_of
from tests.support.gcloud import find_gcloud
from tests.support.own_process import case_names, run_cases

CASES = Path(__file__).with_name("zero_change_cases.py")


def closed_network() -> tuple[str, ...]:
    """A command that starts another without any network; empty: this machine doesn't allow it."""
    for words in (("unshare", "--net"), ("unshare", "--map-root-user", "--net")):
        if shutil.which(words[0]) is not None:
            done = subprocess.run([*words, "true"], capture_output=True, check=False)
            if done.returncode == 0:
                return words
    return ()


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    find_gcloud()
    old = [environment_of(f"aiplatform-{version}") for version in ("1.71.1", "1.38.1")]
    launcher = closed_network()
    assert launcher or os.environ.get("CI") != "true", "the network can't be closed"
    variables = {
        "CLOSED": "yes" if launcher else "",
        "OLD_CLIENT_PYTHON": environment_of("googleapiclient-1.12.11"),
        "PYTHONPATH": str(ROOT),
        "SDK_PYTHONS": json.dumps([sys.executable, *old]),
    }
    folder = tmp_path_factory.mktemp("zero-change")
    return run_cases(CASES, {**outside(os.environ), **variables}, folder, launcher)


@pytest.mark.parametrize("name", case_names(CASES))
def test_zero_change(name: str, results: dict[str, str]) -> None:
    assert not results[name], results[name]
