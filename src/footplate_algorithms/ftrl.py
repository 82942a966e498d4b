"""The optimizer "Follow the regularized leader", which PyTorch doesn't have.

Source: McMahan et al., Ad Click Prediction: a View from the Trenches (2013), with the shrinkage of
TensorFlow's optimizer.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torch

if TYPE_CHECKING:
    from collections.abc import Iterable

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
