"""Writes docs/reference/built-in-algorithms.md from the arguments that the service takes."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING

from footplate_algorithms.algorithms import ALGORITHMS

if TYPE_CHECKING:
    from collections.abc import Iterator

    from footplate_algorithms.algorithms import Algorithm
    from footplate_algorithms.parameters import Parameter

PAGE = Path(__file__).parents[1] / "docs" / "reference" / "built-in-algorithms.md"
REFERENCE = frozenset(
    {
        "preprocess",
        "training_data_path",
        "validation_data_path",
        "test_data_path",
        "validation_split",
    }
)
JOBS = frozenset(
    {
        "test_split",
        "objective",
        "num_class",
        "model_type",
        "max_steps",
        "batch_size",
        "learning_rate",
        "optimizer_type",
        "l1_regularization_strength",
        "l2_regularization_strength",
        "l2_shrinkage_regularization_strength",
        "eval_frequency_secs",
        "hidden_units",
        "use_wide",
        "embed_categories",
        "dnn_learning_rate",
        "dnn_optimizer_type",
    }
)
HEAD = """\
# Arguments of built-in algorithms

`make reference` writes this page from the code. [How to use them](../how-to/train-without-code.md).

An argument is written `--name=value` or `--name value`; a flag may stand alone. An unknown name or
a value that isn't allowed is refused at submit. The last column says where the name is from:

- **reference**: Google's reference page of the algorithm has the name and the default
- **jobs**: jobs that were published for Google's service use the name; default and range are from
  memory
- **memory**: name, default and range are from memory of Google's page, from XGBoost 0.81, or from
  the components for wide and deep models that followed on Vertex AI
"""
GROUPS = (
    ("boosted_trees", ("boosted_trees",)),
    ("xgboost_dist", ("xgboost_dist",)),
    ("linear_learner_cpu and linear_learner_gpu", ("linear_learner_cpu", "linear_learner_gpu")),
    (
        "wide_deep_learner_cpu and wide_deep_learner_gpu",
        ("wide_deep_learner_cpu", "wide_deep_learner_gpu"),
    ),
)


def rendered() -> str:
    return "\n".join([HEAD, *_sections()]) + "\n"


def _sections() -> Iterator[str]:
    for title, names in GROUPS:
        yield f"## {title}\n"
        yield from _table(ALGORITHMS[names[0]])


def _table(algorithm: Algorithm) -> Iterator[str]:
    yield "| argument | allowed | default | from |"
    yield "|---|---|---|---|"
    for each in algorithm.parameters:
        yield f"| `{each.name}` | {_allowed(each)} | {_default(each)} | {_source(each.name)} |"
    yield ""


def _allowed(parameter: Parameter) -> str:
    if not parameter.effect:
        return f"{parameter.allowed}; of no effect with XGBoost 3"
    return parameter.allowed


def _default(parameter: Parameter) -> str:
    value = parameter.default
    if parameter.required:
        return "required"
    if value is None:
        return ""
    if isinstance(value, bool):
        return "not set"
    return f"`{','.join(map(str, value))}`" if isinstance(value, tuple) else f"`{value}`"


def _source(name: str) -> str:
    if name in REFERENCE:
        return "reference"
    return "jobs" if name in JOBS else "memory"


def main() -> int:
    PAGE.write_text(rendered(), "utf-8")
    return 0


if __name__ == "__main__":
    sys.exit(main())
