"""Detects the format of a study file."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

from footplate.cli.study_import.trial_export import read_csv, read_document
from footplate.domain.errors import FailedPrecondition, InvalidArgument
from footplate.domain.formatting import listed

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from footplate.cli.study_import.finished_study import FinishedStudy

_SQLITE = b"SQLite format 3\0"
"""With which each such file begins."""
_KINDS = "an Optuna database or journal, or an export of trials as JSON, YAML or CSV"


def read_study(path: Path, study_name: str, metrics: Sequence[str], goal: str) -> FinishedStudy:
    """The study in the file, by what it holds and not by its name.

    Raises:
        InvalidArgument: it can't be read, or holds no study; says what is allowed.
        FailedPrecondition: it is Optuna's, which isn't installed.
    """
    study = _read(path, study_name, metrics, goal)
    if metrics and set(metrics) != set(study.goals):
        said = f"{listed([*metrics])} given; the file says {listed([*study.goals])}"
        raise InvalidArgument(f"--metric: {said}: leave the option out")
    if other := next(
        (name for name, other_goal in study.goals.items() if goal and other_goal != goal), ""
    ):
        said = f"{goal} given; the file says {study.goals[other]} of {other}"
        raise InvalidArgument(f"--goal: {said}: leave the option out")
    return study


def _read(path: Path, study_name: str, metrics: Sequence[str], goal: str) -> FinishedStudy:
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InvalidArgument(f"{path}: {error.strerror}") from None
    if content.startswith(_SQLITE):
        return _read_optuna(path, study_name, metrics, journal=False)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        raise InvalidArgument(f"{path} is something else than {_KINDS}") from None
    first = text.split("\n", 1)[0]
    if first.startswith("{") and '"op_code"' in first:
        return _read_optuna(path, study_name, metrics, journal=True)
    if "," in first and "trial" in first.split(","):
        return read_csv(text, metrics, goal)
    return read_document(_parsed(path, text), metrics, goal)


def _read_optuna(
    path: Path, study_name: str, metrics: Sequence[str], *, journal: bool
) -> FinishedStudy:
    # Imported here: Optuna is optional.
    try:
        from footplate.cli.study_import.optuna_study import read_optuna
    except ModuleNotFoundError as error:
        if error.name != "optuna":
            raise
        raise FailedPrecondition(
            f"{path} is a study of Optuna, which isn't installed: "
            "`pip install 'footplate[optuna]'` installs it"
        ) from None
    return read_optuna(path, study_name, metrics, journal=journal)


def _parsed(path: Path, text: str) -> object:
    broken = ""
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        broken = f" (as JSON it breaks off or goes wrong at line {error.lineno}: {error.msg})"
    except (ValueError, RecursionError):
        pass
    # Imported here: most files are something else.
    import yaml

    try:
        return yaml.safe_load(text)
    except (yaml.YAMLError, RecursionError):
        why = broken if text.lstrip().startswith(("{", "[")) else ""
        raise InvalidArgument(f"{path} is something else than {_KINDS}{why}") from None
