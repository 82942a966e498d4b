"""A linear model, a deep one, or both added: its input are rows as the encoder makes them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch
from torch import nn
from torch.nn import functional

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

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
