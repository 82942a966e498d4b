"""The page of limits has the numbers of the code."""

from __future__ import annotations

import importlib
import re

import pytest

from tests.support import ROOT

ROW = re.compile(r"^\|[^|]+\| ([0-9,]+)(?: (\w+))? \| `([a-z0-9_.]+)\.([A-Z_]+)` \|$", re.MULTILINE)
UNITS = {"KiB": 1 << 10, "MiB": 1 << 20}
ROWS = ROW.findall((ROOT / "docs" / "reference" / "limits.md").read_text())


@pytest.mark.parametrize(("bound", "unit", "module", "name"), ROWS)
def test_a_limit_is_the_one_of_the_code(bound: str, unit: str, module: str, name: str) -> None:
    value = getattr(importlib.import_module(f"footplate.{module}"), name)
    assert value == int(bound.replace(",", "")) * UNITS.get(unit, 1)


def test_no_row_is_left_out() -> None:
    page = (ROOT / "docs" / "reference" / "limits.md").read_text()
    assert len(ROWS) == sum(line.endswith("` |") for line in page.split("\n"))
