"""Runs a replica of a job that trains XGBoost on several machines; nothing is preprocessed."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import xgboost

from footplate_algorithms import boosting, outputs
from footplate_algorithms.cluster import Cluster, joined, own_cluster
from footplate_algorithms.csv_rows import Chunk, CsvFiles
from footplate_algorithms.errors import DataError
from footplate_algorithms.preparation import Request, encode_plain, plain_metadata
from footplate_algorithms.reporting import Reporter, say
from footplate_algorithms.tabular import boosted_target

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate_algorithms.datasets import Dataset
    from footplate_algorithms.parameters import Values
    from footplate_algorithms.tabular import Run


def run(job: Run) -> None:
    """Runs a replica's share of the training. Raises DataError."""
    cluster = own_cluster()
    if cluster.primary:
        job.directory.make(preprocess=False)
    with tempfile.TemporaryDirectory() as work, joined(cluster):
        training = _read(job, "training_data_path", cluster, Path(work))
        matrices: dict[str, Any] = {"training": _matrix(training, job.values)}
        if "validation_data_path" in job.values:
            validation = _read(job, "validation_data_path", cluster, Path(work))
            matrices["validation"] = _matrix(validation, job.values, matrices["training"])
        name = list(matrices)[-1]
        model = boosting.train(
            job.values,
            matrices,
            Reporter(name) if cluster.primary else None,
            device(),
            _checkpoints(job, cluster),
        )
        scores = boosting.evaluate(model, matrices[name])
    if cluster.primary:
        boosting.save(model, job.directory.model)
        metadata = plain_metadata(training.width)
        outputs.write_metadata(job.directory, {"algorithm": job.algorithm.name, **metadata})
        rounds = job.values.integer("num_boost_round")
        outputs.write_results(job.directory, job.algorithm, rounds, {name: scores})
        say(f"The model lies in {job.directory.uri.rstrip('/')}/model/")


def device() -> str:
    """Returns XGBoost's device: ``cuda`` if it can use the replica's GPU, else ``cpu``."""
    if not xgboost.build_info().get("USE_CUDA"):
        return "cpu"
    try:
        probe = xgboost.DMatrix([[0.0], [1.0]], [0.0, 1.0])
        xgboost.train({"device": "cuda", "verbosity": 0}, probe, 1)
    except xgboost.core.XGBoostError:
        return "cpu"
    return "cuda"


def _checkpoints(job: Run, cluster: Cluster) -> Path | None:
    if "model_saving_period" in job.values and cluster.primary:
        return job.directory.path / "checkpoints"
    return None


def _matrix(data: Dataset, values: Values, reference: Any = None) -> Any:
    return boosting.as_matrix(data, values, ["q"] * data.width, reference)


def _read(job: Run, path: str, cluster: Cluster, work: Path) -> Dataset:
    """Reads this replica's share of the rows."""
    files = CsvFiles(job.values.text(path), job.folders)
    request = Request({}, job.folders, preprocess=False, target=boosted_target(job.values))
    data = encode_plain(request, _own(files, cluster), files.width, work, path)
    if data is None:
        raise DataError(
            f"{files.shown(files.paths[0])}: there are fewer rows than the {cluster.size} replicas"
        )
    say(f"Replica {cluster.index} of {cluster.size} reads {data.rows} rows of {path}")
    return data


def _own(files: CsvFiles, cluster: Cluster) -> Iterator[Chunk]:
    chosen, first, distance = cluster.files(files)
    at = 0
    for chunk in files.chunks(chosen):
        start = (first - at) % distance
        at += len(chunk.rows)
        rows, lines = chunk.rows[start::distance], chunk.lines[start::distance]
        if rows:
            yield Chunk(chunk.file, rows, lines)
