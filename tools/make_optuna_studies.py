"""Makes the studies of `tests/cli/study_import/studies`: `python tools/make_optuna_studies.py`."""

from __future__ import annotations

import math
import sqlite3
from pathlib import Path

import optuna
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

HERE = Path(__file__).parents[1] / "tests" / "cli" / "study_import" / "studies"
SEED = 7


def tuned(trial: optuna.Trial) -> float:
    """Every kind of parameter; some of it depends on the booster, some trials are pruned."""
    rate = trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True)
    dropout = trial.suggest_float("dropout", 0.0, 0.5, step=0.1)
    units = trial.suggest_int("units", 4, 128)
    trial.suggest_int("layers", 1, 64, log=True)
    trial.suggest_int("patience", 5, 25, step=5)
    batch = trial.suggest_categorical("batch_size", [16, 32, 64])
    trial.suggest_categorical("bias", [True, False, None])
    loss = abs(math.log10(rate) + 2) + dropout + abs(units - 40) / 100 + batch / 1000
    if trial.suggest_categorical("booster", ["tree", "linear"]) == "tree":
        loss += abs(trial.suggest_int("depth", 1, 8) - 5) / 10
    for step in range(1, 4):
        trial.report(loss + 1 / step, step)
        if loss > 1.4:
            raise optuna.TrialPruned
    if trial.number == 5:
        raise ValueError("it broke")
    return loss


def balanced(trial: optuna.Trial) -> tuple[float, float]:
    width = trial.suggest_float("width", 0.0, 1.0)
    return width**2, (1 - width) ** 2


def small(trial: optuna.Trial) -> float:
    rate = trial.suggest_float("rate", 0.0, 1.0)
    trial.report(rate + 1, 1)
    if rate > 0.8:
        raise optuna.TrialPruned
    return rate


def make() -> None:
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    database = f"sqlite:///{HERE / 'optuna.db'}"
    sampler = optuna.samplers.RandomSampler(seed=SEED)
    study = optuna.create_study(storage=database, study_name="tuned", sampler=sampler)
    study.set_metric_names(["loss"])
    study.optimize(tuned, n_trials=12, catch=ValueError)
    study.ask()  # one that runs for ever
    several = optuna.create_study(
        storage=database, study_name="several", directions=["minimize", "maximize"], sampler=sampler
    )
    several.optimize(balanced, n_trials=3)
    with sqlite3.connect(HERE / "optuna.db") as connection:  # in the least space
        connection.executescript("PRAGMA page_size = 512; VACUUM;")
    journal = JournalStorage(JournalFileBackend(str(HERE / "optuna.log")))
    study = optuna.create_study(
        storage=journal, study_name="small", direction="maximize", sampler=sampler
    )
    study.optimize(small, n_trials=8)


if __name__ == "__main__":
    make()
