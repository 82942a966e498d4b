"""Optuna's SQLite storage, read without Optuna. Source: optuna.storages._rdb.models, schema 12."""

from __future__ import annotations

import json
import math
import sqlite3
from collections import defaultdict
from contextlib import closing
from typing import TYPE_CHECKING
from urllib.parse import quote

from footplate.cli.study_import.optuna_study import StoredStudy, StoredTrial
from footplate.domain.errors import InvalidArgument

if TYPE_CHECKING:
    from pathlib import Path

HEAD = b"SQLite format 3\0"
"""With which each such file begins."""
_SCHEMA = 12
_SPECIAL = {"INF_POS": math.inf, "INF_NEG": -math.inf, "NAN": math.nan}


def read_database(path: Path, study_name: str) -> StoredStudy:
    """The study of this name; its only one for an empty name.

    Raises:
        InvalidArgument: it isn't Optuna's, or of another version; no such study, or several.
    """
    uri = f"file:{quote(str(path.absolute()))}?mode=ro"
    try:
        with closing(sqlite3.connect(uri, uri=True)) as connection:
            _check_version(connection, path)
            return _read(connection, path, study_name)
    except sqlite3.Error as error:
        raise InvalidArgument(f"{path} is no storage of Optuna: {error}") from None


def choose(path: Path, names: list[str], wanted: str) -> int:
    """The place of the study of this name; of the only one for an empty name."""
    if wanted in names:
        return names.index(wanted)
    told = ", ".join(names) or "none"
    if wanted:
        raise InvalidArgument(f"--study-name: {wanted!r} given; {path} has: {told}")
    if len(names) != 1:
        raise InvalidArgument(f"{path} has {len(names)} studies; name one by --study-name: {told}")
    return 0


def _check_version(connection: sqlite3.Connection, path: Path) -> None:
    row = connection.execute("SELECT schema_version FROM version_info").fetchone()
    if row is None or row[0] != _SCHEMA:
        given = None if row is None else row[0]
        way_out = f"`optuna storage upgrade --storage sqlite:///{path}` makes it one"
        raise InvalidArgument(f"{path} is of schema {given}; allowed: {_SCHEMA}; {way_out}")


def _read(connection: sqlite3.Connection, path: Path, study_name: str) -> StoredStudy:
    studies = connection.execute("SELECT study_id, study_name FROM studies").fetchall()
    place = choose(path, [name for _, name in studies], study_name)
    study_id, name = studies[place]
    directions = connection.execute(
        "SELECT direction FROM study_directions WHERE study_id = ? ORDER BY objective", (study_id,)
    )
    return StoredStudy(
        name=name,
        directions=tuple(direction for (direction,) in directions),
        metric_names=_metric_names(connection, study_id),
        trials=_trials(connection, study_id),
    )


def _metric_names(connection: sqlite3.Connection, study_id: int) -> tuple[str, ...]:
    row = connection.execute(
        "SELECT value_json FROM study_system_attributes"
        " WHERE study_id = ? AND key = 'study:metric_names'",
        (study_id,),
    ).fetchone()
    found = json.loads(row[0]) if row else []
    return tuple(map(str, found))


_PARAMETERS = """
    SELECT trial_id, param_name, param_value, distribution_json FROM trial_params
    WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?) ORDER BY param_id
"""
_VALUES = """
    SELECT trial_id, value, value_type FROM trial_values
    WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?) ORDER BY objective
"""
_REPORTED = """
    SELECT trial_id, step, intermediate_value, intermediate_value_type
    FROM trial_intermediate_values
    WHERE trial_id IN (SELECT trial_id FROM trials WHERE study_id = ?)
"""
_TRIALS = "SELECT trial_id, number, state FROM trials WHERE study_id = ? ORDER BY number"


def _trials(connection: sqlite3.Connection, study_id: int) -> tuple[StoredTrial, ...]:
    parameters: dict[int, dict[str, tuple[float, str]]] = defaultdict(dict)
    for trial, name, value, text in connection.execute(_PARAMETERS, (study_id,)):
        parameters[trial][name] = (value, text)
    values: dict[int, list[float]] = defaultdict(list)
    for trial, value, kind in connection.execute(_VALUES, (study_id,)):
        values[trial].append(_SPECIAL.get(kind, value))
    reported: dict[int, dict[int, float]] = defaultdict(dict)
    for trial, step, value, kind in connection.execute(_REPORTED, (study_id,)):
        reported[trial][step] = _SPECIAL.get(kind, value)
    return tuple(
        StoredTrial(number, state, parameters[trial], tuple(values[trial]), reported[trial])
        for trial, number, state in connection.execute(_TRIALS, (study_id,))
    )
