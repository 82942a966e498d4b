"""Trains a network in steps of one batch each, and saves it as a program that PyTorch loads."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from torch import nn
from torch.nn import functional

from footplate_algorithms.datasets import PIECE_ROWS
from footplate_algorithms.errors import DataError
from footplate_algorithms.scores import ClassScores, NumberScores

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

    from footplate_algorithms.datasets import Dataset
    from footplate_algorithms.parameters import Values
    from footplate_algorithms.reporting import Reporter


# A linear model, a deep one, or both added: its input are rows as the encoder makes them.

_MAX_EMBEDDING = 50


class Network(nn.Module):  # type: ignore[misc]  # torch has no types here
    """The network; it scales numbers by the mean and deviation of the training data.

    Its output are probabilities of classes, or predicted numbers. ``raw`` returns the values from
    which the loss is computed: log-odds, or scaled numbers.
    """

    def __init__(
        self,
        metadata: Mapping[str, Any],
        *,
        wide: bool,
        hidden: Sequence[int],
        embed: bool,
        dropout: float,
    ) -> None:
        super().__init__()
        columns, target = metadata["columns"], metadata["target"]
        self.classes = len(target.get("classes", ()))
        self.outputs = self.classes or 1
        self.embed = embed
        self.numbers = [i for i, c in enumerate(columns) if c["type"] == "number"]
        self.categories = [i for i, c in enumerate(columns) if c["type"] == "category"]
        self.sizes = [columns[i]["size"] for i in self.categories]
        self._keep("mean", [columns[i]["mean"] for i in self.numbers])
        self._keep("deviation", [columns[i]["deviation"] for i in self.numbers])
        scaled = metadata["preprocess"] and not self.classes
        self._keep("target_mean", [target["mean"] if scaled else 0.0])
        self._keep("target_deviation", [target["deviation"] if scaled else 1.0])
        self.wide = self._wide() if wide else None
        self.deep = self._deep(hidden, dropout) if hidden else None

    def _keep(self, name: str, values: list[float]) -> None:
        self.register_buffer(name, torch.tensor(values, dtype=torch.float32))

    def _wide(self) -> Any:
        """Makes the linear part: a weight for each number and each category."""
        linear = nn.Linear(len(self.numbers), self.outputs)
        weights = [nn.Embedding(size, self.outputs) for size in self.sizes]
        parts = nn.ModuleDict({"numbers": linear, "categories": nn.ModuleList(weights)})
        for weight in parts.parameters():
            nn.init.zeros_(weight)
        return parts

    def _deep(self, hidden: Sequence[int], dropout: float) -> Any:
        widths = [min(_MAX_EMBEDDING, round(6 * size**0.25)) for size in self.sizes]
        tables = zip(self.sizes, widths, strict=True)
        self.embeddings = nn.ModuleList(nn.Embedding(*table) for table in tables if self.embed)
        width = len(self.numbers) + sum(widths if self.embed else self.sizes)
        layers: list[Any] = []
        for units in hidden:
            layers += [nn.Linear(width, units), nn.ReLU(), nn.Dropout(dropout)]
            width = units
        return nn.Sequential(*layers, nn.Linear(width, self.outputs))

    def wide_weights(self) -> list[Any]:
        return [] if self.wide is None else list(self.wide.parameters())

    def deep_weights(self) -> list[Any]:
        if self.deep is None:
            return []
        return [*self.deep.parameters(), *self.embeddings.parameters()]

    def raw(self, rows: Any) -> Any:
        numbers = (rows[:, self.numbers] - self.mean) / self.deviation
        codes = [rows[:, index].long() for index in self.categories]
        total = numbers.new_zeros((rows.shape[0], self.outputs))
        if self.wide is not None:
            total = total + self.wide["numbers"](numbers)
            for code, weight in zip(codes, self.wide["categories"], strict=True):
                total = total + weight(code)
        if self.deep is not None:
            total = total + self.deep(torch.cat([numbers, *self._category_inputs(codes)], dim=1))
        return total

    def _category_inputs(self, codes: Sequence[Any]) -> list[Any]:
        if self.embed:
            return [table(code) for code, table in zip(codes, self.embeddings, strict=True)]
        pairs = zip(codes, self.sizes, strict=True)
        return [functional.one_hot(code, size).float() for code, size in pairs]

    def forward(self, rows: Any) -> Any:
        raw = self.raw(rows)
        if self.classes:
            return raw.softmax(dim=1)
        return raw[:, 0] * self.target_deviation + self.target_mean

    def loss(self, rows: Any, targets: Any) -> Any:
        raw = self.raw(rows)
        if self.classes:
            return functional.cross_entropy(raw, targets.long())
        scaled = (targets - self.target_mean) / self.target_deviation
        return functional.mse_loss(raw[:, 0], scaled)


MODEL = "model.pt2"
_EVALUATIONS = 10
"""Evenly over the steps, beside those that ``eval_frequency_secs`` asks for."""


def build(values: Values, metadata: Mapping[str, Any]) -> Network:
    hidden = values.units("hidden_units")
    return Network(
        metadata,
        wide=not hidden or values.flag("use_wide"),
        hidden=hidden,
        embed=values.flag("embed_categories"),
        dropout=values.number("dnn_dropout"),
    )


def optimizers(network: Network, values: Values) -> list[Any]:
    """Makes an optimizer for the linear part, and one for the deep part."""
    parts = (network.wide_weights(), ""), (network.deep_weights(), "dnn_")
    return [_optimizer(weights, values, prefix) for weights, prefix in parts if weights]


def _optimizer(weights: list[Any], values: Values, prefix: str) -> Any:
    """Makes an optimizer: Adam with betas, FTRL with regularization, or SGD with neither."""
    rate = values.number(f"{prefix}learning_rate")
    kind = values[f"{prefix}optimizer_type"]
    if kind == "ftrl":
        names = "l1_regularization", "l2_regularization", "l2_shrinkage_regularization"
        l1, l2, shrinkage = (values.number(f"{prefix}{name}_strength") for name in names)
        return Ftrl(weights, rate, l1, l2, shrinkage)
    if kind == "sgd":
        return torch.optim.SGD(weights, lr=rate)
    betas = values.number(f"{prefix}beta_1"), values.number(f"{prefix}beta_2")
    return torch.optim.Adam(weights, lr=rate, betas=betas)


def batches(rows: int, size: int, seed: int) -> Iterator[NDArray[Any]]:
    """Yields batches of row numbers for ever, in a new order in each round."""
    random = np.random.default_rng(seed)
    size = min(size, rows)
    while True:
        order = random.permutation(rows)
        for start in range(0, rows - size + 1, size):
            yield np.sort(order[start : start + size])


def train(
    values: Values,
    metadata: Mapping[str, Any],
    training: Dataset,
    evaluated: Dataset,
    reporter: Reporter,
) -> Network:
    """Trains a network. Raises DataError: the loss is no longer a finite number."""
    steps, size, seed = (values.integer(name) for name in ("max_steps", "batch_size", "seed"))
    torch.manual_seed(seed)
    device = torch.device("cuda" if torch.cuda.is_available() else "cpu")
    network = build(values, metadata)
    network.to(device)
    updates = optimizers(network, values)
    due_s = values.number("eval_frequency_secs")
    evaluated_at = time.monotonic()
    every = max(1, steps // _EVALUATIONS)
    for step, places in enumerate(batches(training.rows, size, seed), start=1):
        loss = _learn(network, updates, training, places, device)
        late = time.monotonic() - evaluated_at >= due_s
        if step == steps or step % every == 0 or late:
            if not torch.isfinite(loss):
                raise DataError(_diverged(step, values))
            reporter.report(evaluate(network, evaluated, values), step)
            evaluated_at = time.monotonic()
        if step == steps:
            break
    return network


def _learn(
    network: Network, updates: list[Any], data: Dataset, places: NDArray[Any], device: Any
) -> Any:
    network.train()
    rows = torch.from_numpy(data.features[places]).to(device)
    targets = torch.from_numpy(data.targets[places]).to(device)
    loss = network.loss(rows, targets)
    for update in updates:
        update.zero_grad()
    loss.backward()
    for update in updates:
        update.step()
    return loss.detach()


def _diverged(step: int, values: Values) -> str:
    said = f"the loss is no finite number at step {step}: take a smaller --learning_rate"
    return said if values.get("preprocess") else f"{said}, or --preprocess, which scales columns"


def evaluate(network: Network, data: Dataset, values: Values | None = None) -> dict[str, float]:
    """Returns the scores; ``eval_steps`` of ``values`` limits the batches, 0: all rows."""
    limit = data.rows
    if values is not None and values.integer("eval_steps"):
        limit = min(limit, values.integer("eval_steps") * values.integer("batch_size"))
    network.eval()
    scores = ClassScores() if network.classes else NumberScores()
    device = network.mean.device
    with torch.no_grad():
        for start in range(0, limit, PIECE_ROWS):
            piece = slice(start, min(start + PIECE_ROWS, limit))
            rows = torch.from_numpy(np.array(data.features[piece])).to(device)
            scores.add(network(rows).cpu().numpy(), np.asarray(data.targets[piece]))
    return scores.scores()


def save(network: Network, width: int, path: Path) -> None:
    """Saves a network, which ``torch.export.load(PATH).module()`` loads as a function."""
    network.cpu().eval()
    example = torch.zeros((2, width))
    shapes = ({0: torch.export.Dim.AUTO},)
    torch.export.save(torch.export.export(network, (example,), dynamic_shapes=shapes), path)


_INITIAL_ACCUMULATOR = 0.1


class Ftrl(torch.optim.Optimizer):  # type: ignore[misc]  # torch has no types here
    """The FTRL optimizer; a weight's first state is the one that leads to its initial value."""

    def __init__(
        self, weights: Iterable[Any], lr: float, l1: float, l2: float, l2_shrinkage: float
    ) -> None:
        super().__init__(weights, {"lr": lr, "l1": l1, "l2": l2, "l2_shrinkage": l2_shrinkage})

    @torch.no_grad()  # type: ignore[untyped-decorator]  # torch has no types here
    def step(self, closure: None = None) -> None:
        del closure
        for group in self.param_groups:
            for weight in group["params"]:
                if weight.grad is not None:
                    self._update(weight, group)

    def _update(self, weight: Any, group: dict[str, Any]) -> None:
        state, rate, l1 = self.state[weight], group["lr"], group["l1"]
        if not state:
            state["squares"] = torch.full_like(weight, _INITIAL_ACCUMULATOR)
            scale = state["squares"].sqrt() / rate + 2 * group["l2"]
            state["linear"] = -weight * scale - weight.sign() * l1
        gradient = weight.grad
        squares = state["squares"] + gradient.square()
        sigma = (squares.sqrt() - state["squares"].sqrt()) / rate
        shrunk = gradient + 2 * group["l2_shrinkage"] * weight
        state["linear"] += shrunk - sigma * weight
        state["squares"] = squares
        linear = state["linear"]
        value = (linear.sign() * l1 - linear) / (squares.sqrt() / rate + 2 * group["l2"])
        weight.copy_(torch.where(linear.abs() <= l1, torch.zeros_like(weight), value))
