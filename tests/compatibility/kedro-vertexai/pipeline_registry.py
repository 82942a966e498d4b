"""The pipeline of the project: three steps, as containers of a pipeline would run them."""

from __future__ import annotations

from kedro.pipeline import Pipeline, node


def read() -> list[float]:
    return [1.0, 2.0, 3.0]


def train(rows: list[float]) -> dict[str, float]:
    return {"weight": sum(rows)}


def evaluate(model: dict[str, float]) -> dict[str, float]:
    return {"loss": model["weight"] / 2}


def register_pipelines() -> dict[str, Pipeline]:
    steps = [
        node(read, None, "rows", name="read"),
        node(train, "rows", "model", name="train"),
        node(evaluate, "model", "metrics", name="evaluate"),
    ]
    return {"__default__": Pipeline(steps)}
