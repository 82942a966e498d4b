"""Notebooks that log experiments with the Vertex SDK, any version, under ``footplate run``.

Run in a process of its own, by tests/support/own_process.py.
"""

from __future__ import annotations

import os
from typing import Any

from google.api_core import exceptions
from google.cloud import aiplatform

OVER = os.environ.get("SDK_TRANSPORT", "grpc")
if OVER == "rest":
    aiplatform.init(project="demo", api_transport="rest")
ME = f"{OVER}-{aiplatform.__version__.replace('.', '-')}"
"""So that all can use one service, each under names of its own."""


def _init(**more: Any) -> None:
    aiplatform.init(project="demo", location="us-central1", **more)


def _board(name: str) -> Any:
    _init()
    return aiplatform.Tensorboard.create(display_name=f"{ME} {name}")


def _refusal(kind: type[Exception], call: Any, *words: Any, **more: Any) -> str:
    """What the service says; its answer is an error of this kind."""
    try:
        call(*words, **more)
    except kind as error:
        return str(error)
    raise AssertionError("not refused")


def _not_found(call: Any, *words: Any) -> None:
    _refusal(exceptions.NotFound, call, *words)


def _transport(kind: Any) -> str:
    client: Any = kind._empty_constructor().api_client
    return type(client._transport).__name__


def case_the_transport() -> None:
    _init()
    for kind in (aiplatform.Tensorboard, aiplatform.Artifact):
        assert OVER in _transport(kind).lower(), _transport(kind)


def case_an_experiment_has_a_default_tensorboard() -> None:
    """Later versions create one; where there is one already it is taken."""
    _init(experiment=f"{ME}-default")
    found = [board for board in aiplatform.Tensorboard.list() if board.gca_resource.is_default]
    assert len(found) == 1, found
    experiment = aiplatform.Experiment(f"{ME}-default")
    board = experiment.get_backing_tensorboard_resource()
    assert board.resource_name == found[0].resource_name
    _init(experiment=f"{ME}-another")
    board = aiplatform.Experiment(f"{ME}-another").get_backing_tensorboard_resource()
    assert board.resource_name == found[0].resource_name


def case_a_run_has_parameters_metrics_and_series() -> None:
    board = _board("notebook")
    _init(experiment=f"{ME}-notebook", experiment_tensorboard=board)
    run = aiplatform.start_run("run-1")
    aiplatform.log_params({"rate": 0.1, "optimizer": "adam"})
    aiplatform.log_metrics({"accuracy": 0.8})
    for step in range(5):
        aiplatform.log_time_series_metrics({"loss": 5.0 - step, "odd": float("nan")})
    assert run.state == aiplatform.gapic.Execution.State.RUNNING
    aiplatform.end_run()
    again = aiplatform.ExperimentRun("run-1", experiment=f"{ME}-notebook")
    assert again.get_params() == {"rate": 0.1, "optimizer": "adam"}
    assert again.get_metrics() == {"accuracy": 0.8}
    assert again.state == aiplatform.gapic.Execution.State.COMPLETE
    aiplatform.start_run("run-1", resume=True)
    aiplatform.log_metrics({"accuracy": 0.9, "recall": 0.5})
    aiplatform.log_time_series_metrics({"loss": 0.25}, step=7)
    aiplatform.end_run()
    again = aiplatform.ExperimentRun("run-1", experiment=f"{ME}-notebook")
    assert again.get_metrics() == {"accuracy": 0.9, "recall": 0.5}
    series = aiplatform.TensorboardRun(
        f"{board.resource_name}/experiments/{ME}-notebook/runs/run-1"
    ).read_time_series_data()
    steps = [(point.step, point.scalar.value) for point in series["loss"].values]
    assert steps == [(1, 5.0), (2, 4.0), (3, 3.0), (4, 2.0), (5, 1.0), (7, 0.25)], steps
    assert len(series["odd"].values) == 5
    with aiplatform.start_run("run-2") as second:
        second.log_params({"rate": 0.2})
    assert second.state == aiplatform.gapic.Execution.State.COMPLETE
    runs = aiplatform.ExperimentRun.list(experiment=f"{ME}-notebook")
    assert {each.name for each in runs} == {"run-1", "run-2"}


def case_more_series_than_one_read_has() -> None:
    board = _board("many")
    _init(experiment=f"{ME}-many", experiment_tensorboard=board)
    aiplatform.start_run("run-1")
    aiplatform.log_time_series_metrics({f"m{number}": float(number) for number in range(120)})
    aiplatform.end_run()
    run = aiplatform.TensorboardRun(f"{board.resource_name}/experiments/{ME}-many/runs/run-1")
    data = run.read_time_series_data()
    assert {name: each.values[-1].scalar.value for name, each in data.items()} == {
        f"m{number}": float(number) for number in range(120)
    }


def case_experiments_are_found_by_their_names() -> None:
    for name in ("one", "two"):
        _init(experiment=f"{ME}-{name}")
    listed = {each.name for each in aiplatform.Experiment.list()}
    assert {f"{ME}-one", f"{ME}-two"} <= listed
    contexts = aiplatform.Context.list(
        filter=f'schema_title="system.Experiment" AND display_name="{ME}-one"'
    )
    assert [each.name for each in contexts] == [f"{ME}-one"]
    assert aiplatform.Context.list(filter="display_name = no-such-name") == []
    said = _refusal(exceptions.BadRequest, aiplatform.Context.list, filter="colour = red")
    assert "filter: unknown field; allowed: display_name" in said, said


def case_an_execution_has_inputs_and_outputs() -> None:
    _init(experiment=f"{ME}-lineage")
    aiplatform.start_run("run-1")
    data = aiplatform.Artifact.create(
        schema_title="system.Dataset", resource_id=f"{ME}-data", uri=f"gs://b/{ME}"
    )
    with aiplatform.start_execution(
        schema_title="system.ContainerExecution", display_name="train"
    ) as execution:
        execution.assign_input_artifacts([data])
        model = aiplatform.Artifact.create(schema_title="system.Model", metadata={"layers": 3})
        execution.assign_output_artifacts([model])
    assert [each.name for each in execution.get_input_artifacts()] == [data.name]
    assert [each.name for each in execution.get_output_artifacts()] == [model.name]
    run = aiplatform.ExperimentRun("run-1", experiment=f"{ME}-lineage")
    assert [each.name for each in run.get_executions()] == [execution.name]
    assert {data.name, model.name} <= {each.name for each in run.get_artifacts()}
    assert aiplatform.Artifact.get_with_uri(uri=f"gs://b/{ME}").name == data.name
    found = aiplatform.Artifact.list(filter="metadata.layers.number_value>2")
    assert model.name in [each.name for each in found]
    model.update(metadata={"layers": 4}, description="d")
    assert aiplatform.Artifact(model.resource_name).metadata == {"layers": 4.0}
    data.delete()
    _not_found(aiplatform.Artifact, data.resource_name)
    aiplatform.end_run()


def case_classification_metrics() -> None:
    _init(experiment=f"{ME}-classes")
    given = {
        "display_name": "classes",
        "labels": ["cat", "dog"],
        "matrix": [[9, 1], [1, 9]],
        "fpr": [0.1, 0.5, 0.9],
        "tpr": [0.1, 0.7, 0.9],
        "threshold": [0.9, 0.5, 0.1],
    }
    aiplatform.start_run("run-1")
    aiplatform.log_classification_metrics(**given)
    aiplatform.end_run()
    run = aiplatform.ExperimentRun("run-1", experiment=f"{ME}-classes")
    (found,) = run.get_classification_metrics()
    assert {key: found[key] for key in given} == given


def case_runs_and_experiments_are_deleted() -> None:
    board, name = _board("deleted"), f"{ME}-deleted"
    _init(experiment=name, experiment_tensorboard=board)
    for _ in range(2):
        with aiplatform.start_run("run-1") as run:
            run.log_metrics({"accuracy": 1.0})
        run.delete(delete_backing_tensorboard_run=True)
        try:
            aiplatform.ExperimentRun("run-1", experiment=name)
        except (exceptions.NotFound, ValueError):
            continue
        raise AssertionError("found")
    aiplatform.start_run("run-2")
    aiplatform.end_run()
    aiplatform.Experiment(name).delete(delete_backing_tensorboard_runs=True)
    _not_found(aiplatform.Experiment, name)
    board.delete()
    _not_found(aiplatform.Tensorboard, board.resource_name)


def case_the_resources_of_a_tensorboard() -> None:
    board = _board("resources")
    assert board.resource_name in [each.resource_name for each in aiplatform.Tensorboard.list()]
    experiment = aiplatform.TensorboardExperiment.create(
        "e-1", board.resource_name, display_name="shown", labels={"team": "a"}
    )
    run = aiplatform.TensorboardRun.create("r-1", experiment.resource_name)
    series = aiplatform.TensorboardTimeSeries.create("loss", run.resource_name)
    for kind, made, listed in (
        (aiplatform.TensorboardExperiment, experiment, {"tensorboard_name": board}),
        (aiplatform.TensorboardRun, run, {"tensorboard_experiment_name": experiment}),
        (aiplatform.TensorboardTimeSeries, series, {"tensorboard_run_name": run}),
    ):
        parents = {name: parent.resource_name for name, parent in listed.items()}
        assert [each.resource_name for each in kind.list(**parents)] == [made.resource_name]
        assert kind(made.resource_name).display_name == made.display_name
    run.write_tensorboard_scalar_data({"loss": 1.0}, step=1)
    (point,) = run.read_time_series_data()["loss"].values
    assert (point.step, point.scalar.value) == (1, 1.0)
    board.update(display_name="renamed", labels={"a": "b"})
    assert aiplatform.Tensorboard(board.resource_name).display_name == "renamed"
    experiment.delete()
    _not_found(aiplatform.TensorboardRun, run.resource_name)
    create = aiplatform.TensorboardExperiment.create
    said = _refusal(exceptions.BadRequest, create, "Upper_Case", board.resource_name)
    assert "tensorboardExperimentId: " in said, said
    assert "allowed: 1 to 128 lowercase letters" in said, said


def case_data_is_written_for_many_runs_and_exported() -> None:
    """What the uploader of TensorBoard's logs calls."""
    board = _board("upload")
    client = board.api_client
    experiment = client.create_tensorboard_experiment(
        parent=board.resource_name, tensorboard_experiment_id="e-1"
    ).name
    runs = client.batch_create_tensorboard_runs(
        parent=experiment,
        requests=[
            {
                "parent": experiment,
                "tensorboard_run": {"display_name": name},
                "tensorboard_run_id": name,
            }
            for name in ("a", "b")
        ],
    ).tensorboard_runs
    made = client.batch_create_tensorboard_time_series(
        parent=experiment,
        requests=[
            {
                "parent": run.name,
                "tensorboard_time_series": {"display_name": "loss", "value_type": "SCALAR"},
            }
            for run in runs
        ],
    ).tensorboard_time_series
    points = [{"step": step, "scalar": {"value": step / 2}} for step in range(2500)]
    client.write_tensorboard_experiment_data(
        tensorboard_experiment=experiment,
        write_run_data_requests=[
            {
                "tensorboard_run": run.name,
                "time_series_data": [
                    {
                        "tensorboard_time_series_id": series.name.rpartition("/")[2],
                        "value_type": "SCALAR",
                        "values": points,
                    }
                ],
            }
            for run, series in zip(runs, made, strict=True)
        ],
    )
    found = client.read_tensorboard_time_series_data(tensorboard_time_series=made[0].name)
    assert len(found.time_series_data.values) == 1000
    assert found.time_series_data.values[-1].step == 2499
    exported = client.export_tensorboard_time_series_data(tensorboard_time_series=made[1].name)
    assert [point.step for point in exported] == [*range(2500)]
    found = client.list_tensorboard_time_series(
        request={"parent": runs[0].name, "filter": 'display_name = "loss"'}
    )
    (series,) = found
    assert series.metadata.max_step == 2499
    _refusal(
        exceptions.Conflict,
        client.create_tensorboard_run,
        parent=experiment,
        tensorboard_run={"display_name": "a"},
        tensorboard_run_id="c",
    )


def case_a_context_that_has_changed_is_not_overwritten() -> None:
    _init(experiment=f"{ME}-etag")
    context = aiplatform.Context.get(f"{ME}-etag")
    stale = aiplatform.Context.get(f"{ME}-etag")
    context.update(metadata={"a": 1})
    if OVER == "rest":  # the SDK reads again and retries after errors of gRPC alone
        said = _refusal(exceptions.Conflict, stale.update, metadata={"b": 2})
        assert "does not match server `etag`" in said, said
        stale.sync_resource()
    stale.update(metadata={"b": 2})
    found = aiplatform.Context.get(f"{ME}-etag").metadata
    assert (found["a"], found["b"]) == (1, 2)
