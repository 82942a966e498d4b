"""Optuna's journal file: one operation a line. Source: optuna.storages.journal."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from footplate.cli.study_import.optuna_database import choose
from footplate.cli.study_import.optuna_study import StoredStudy, StoredTrial
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

_STATES = ("RUNNING", "COMPLETE", "PRUNED", "FAIL", "WAITING")
_DIRECTIONS = ("NOT_SET", "MINIMIZE", "MAXIMIZE")
_CREATE_STUDY, _DELETE_STUDY, _, _STUDY_ATTRIBUTE, _CREATE_TRIAL, _PARAMETER = range(6)
_STATE, _REPORT = 6, 7


@dataclass
class _Trial:
    study: int
    state: int = 0
    parameters: dict[str, tuple[float, str]] = field(default_factory=dict)
    values: tuple[float, ...] = ()
    reported: dict[int, float] = field(default_factory=dict)


@dataclass
class _Study:
    name: str
    directions: tuple[str, ...]
    metric_names: tuple[str, ...] = ()
    deleted: bool = False


def read_journal(path: Path, study_name: str) -> StoredStudy:
    """See ``read_database``. Studies and trials are numbered in the order of their making."""
    journal = _Journal()
    try:
        for operation in _operations(path):
            journal.apply(operation)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        told = f"{type(error).__name__}: {error}"
        raise InvalidArgument(f"{path} is no journal of Optuna: {told}") from None
    there = [n for n, study in enumerate(journal.studies) if not study.deleted]
    place = there[choose(path, [journal.studies[n].name for n in there], study_name)]
    study = journal.studies[place]
    trials = [trial for trial in journal.trials if trial.study == place]
    return StoredStudy(
        study.name,
        study.directions,
        study.metric_names,
        tuple(
            StoredTrial(number, _STATES[t.state], t.parameters, t.values, t.reported)
            for number, t in enumerate(trials)
        ),
    )


def _operations(path: Path) -> Iterator[dict[str, Any]]:
    """The last line may be cut off: somebody writes it."""
    lines = path.read_text(encoding="utf-8").splitlines()
    for number, line in enumerate(lines, start=1):
        try:
            yield json.loads(line)
        except ValueError:
            if number < len(lines):
                raise


class _Journal:
    def __init__(self) -> None:
        self.studies: list[_Study] = []
        self.trials: list[_Trial] = []

    def apply(self, operation: dict[str, Any]) -> None:
        code = operation["op_code"]
        if code in (_CREATE_STUDY, _DELETE_STUDY, _STUDY_ATTRIBUTE):
            self._apply_to_study(code, operation)
        elif code == _CREATE_TRIAL:
            self.trials.append(_made(operation))
        elif code in (_PARAMETER, _STATE, _REPORT):
            _apply_to_trial(self.trials[operation["trial_id"]], code, operation)

    def _apply_to_study(self, code: int, operation: dict[str, Any]) -> None:
        if code == _CREATE_STUDY:
            directions = tuple(_DIRECTIONS[number] for number in operation["directions"])
            self.studies.append(_Study(operation["study_name"], directions))
            return
        study = self.studies[operation["study_id"]]
        if code == _DELETE_STUDY:
            study.deleted = True
        else:
            names = operation["system_attr"].get("study:metric_names", study.metric_names)
            study.metric_names = tuple(names)


def _made(operation: dict[str, Any]) -> _Trial:
    """One that was added when it had ended already comes with all that is known of it."""
    trial = _Trial(operation["study_id"], operation.get("state", 0))
    distributions = operation.get("distributions") or {}
    trial.parameters = {
        name: (value, distributions[name])
        for name, value in (operation.get("params") or {}).items()
    }
    values = operation.get("values") or []
    value = operation.get("value")
    trial.values = tuple(values) if values else () if value is None else (value,)
    reported = operation.get("intermediate_values") or {}
    trial.reported = {int(step): value for step, value in reported.items()}
    return trial


def _apply_to_trial(trial: _Trial, code: int, operation: dict[str, Any]) -> None:
    if code == _PARAMETER:
        told = (operation["param_value_internal"], operation["distribution"])
        trial.parameters[operation["param_name"]] = told
    elif code == _STATE:
        trial.state = operation["state"]
        trial.values = tuple(operation.get("values") or ())
    else:
        trial.reported[operation["step"]] = operation["intermediate_value"]
