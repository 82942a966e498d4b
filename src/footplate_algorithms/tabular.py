"""Runs a job of an algorithm: data, training, metrics, files."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from footplate_algorithms import outputs
from footplate_algorithms.algorithms import PATHS, TARGETS
from footplate_algorithms.arguments import splits
from footplate_algorithms.metric_names import classifies
from footplate_algorithms.parameters import ANY
from footplate_algorithms.preparation import PARTS, Request, Target, prepare
from footplate_algorithms.reporting import Reporter, say
from footplate_algorithms.scores import shown

if TYPE_CHECKING:
    from footplate_algorithms.algorithms import Algorithm
    from footplate_algorithms.datasets import Dataset
    from footplate_algorithms.folders import Folders
    from footplate_algorithms.outputs import JobDirectory
    from footplate_algorithms.parameters import Values
    from footplate_algorithms.preparation import Prepared

Scores = Mapping[str, Mapping[str, float]]


@dataclass(frozen=True)
class Run:
    algorithm: Algorithm
    values: Values
    directory: JobDirectory
    folders: Folders


def run(job: Run) -> None:
    """Runs a job. Raises DataError."""
    boosts = "objective" in job.values
    job.directory.make(preprocess=job.values.flag("preprocess"))
    with tempfile.TemporaryDirectory() as work:
        request = _request(
            job, boosted_target(job.values) if boosts else Target(classes=classifies(job.values))
        )
        if boosts:
            from footplate_algorithms import boosting  # needs xgboost, which not all runtimes have

            request = replace(request, one_hot=boosting.needs_one_hot(job.values), gaps=True)
        prepared = prepare(request, Path(work), job.directory.processed_data, say)
        outputs.write_metadata(
            job.directory, {"algorithm": job.algorithm.name, **prepared.metadata}
        )
        scores = _boost(job, prepared) if boosts else _learn(job, prepared)
    steps = job.values.integer("num_boost_round" if boosts else "max_steps")
    outputs.write_results(job.directory, job.algorithm, steps, scores)
    for name, found in scores.items():
        say(f"The model's scores on the {name} data: {shown(found.items())}")
    say(f"The model lies in {job.directory.uri.rstrip('/')}/model/")


def _request(job: Run, target: Target) -> Request:
    values = job.values
    given = zip(PARTS, PATHS, strict=True)
    return Request(
        paths={part: values.text(path) for part, path in given if path in values},
        folders=job.folders,
        preprocess=values.flag("preprocess"),
        target=target,
        splits=splits(values),
        gaps=False,
    )


def boosted_target(values: Values) -> Target:
    if not classifies(values):
        return Target(classes=False, range=TARGETS.get(values.text("objective"), ANY))
    classes = values.integer("num_class", 2)
    limit = None if values.flag("preprocess") else classes
    return Target(classes=True, limit=limit, at_most=classes)


def _evaluated(prepared: Prepared) -> tuple[str, Dataset]:
    """Returns the name of the data for the metrics, and the data."""
    if prepared.validation is not None:
        return PARTS[1], prepared.validation
    say("There is no validation data, so the metrics are those of the training data")
    return PARTS[0], prepared.training


def _boost(job: Run, prepared: Prepared) -> Scores:
    from footplate_algorithms import boosting

    name, data = _evaluated(prepared)
    types = boosting.feature_types(prepared.metadata)
    training = boosting.as_matrix(prepared.training, job.values, types)
    matrices: dict[str, Any] = {PARTS[0]: training}
    if name != PARTS[0]:
        matrices[name] = boosting.as_matrix(data, job.values, types, training)
    model = boosting.train(job.values, matrices, Reporter(name), "cpu")
    boosting.save(model, job.directory.model)
    scores = {name: boosting.evaluate(model, matrices[name])}
    if prepared.test is not None:
        test = boosting.as_matrix(prepared.test, job.values, types, training)
        scores["test"] = boosting.evaluate(model, test)
    return scores


def _learn(job: Run, prepared: Prepared) -> Scores:
    from footplate_algorithms import learning  # needs torch

    name, data = _evaluated(prepared)
    values, metadata = job.values, prepared.metadata
    network = learning.train(values, metadata, prepared.training, data, Reporter(name))
    scores = {name: learning.evaluate(network, data)}
    if prepared.test is not None:
        scores["test"] = learning.evaluate(network, prepared.test)
    learning.save(network, prepared.training.width, job.directory.model / learning.MODEL)
    return scores
