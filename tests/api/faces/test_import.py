"""`hp-tuning-jobs import` against the face: Vizier takes what the command line makes of files."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from footplate.cli.main import main

if TYPE_CHECKING:
    import httpx

STUDIES = Path(__file__).parents[2] / "cli" / "study_import" / "studies"


@pytest.mark.parametrize(
    ("file", "study", "trials"),
    [("optuna.db", "tuned", 12), ("optuna.db", "several", 3), ("optuna.log", "small", 8)],
)
def test_a_study_of_optuna(
    http: httpx.Client, url: str, file: str, study: str, trials: int
) -> None:
    where = ("--url", url, "--study-name", study, "--display-name", "old")
    words = ["ai", "hp-tuning-jobs", "import", str(STUDIES / file), *where]
    result = CliRunner().invoke(main, [*words, "--format=value(name)"])
    assert (result.exit_code, result.exception) == (0, None), result.output
    kept = http.get(f"/v1/{result.stdout.strip()}/trials").json()["trials"]
    assert len(kept) == trials
    assert {trial["state"] for trial in kept} <= {"SUCCEEDED", "INFEASIBLE"}
    again = CliRunner().invoke(main, words)
    assert again.exit_code == 1
    assert "there is a study 'old'" in again.stderr
