"""What the tests share: contract suites, the simulator, fakes, rigs and plain oracles."""

from pathlib import Path

ROOT = Path(__file__).parents[2]
"""Of the checkout: there ``python -m tests.MODULE`` finds its module."""
