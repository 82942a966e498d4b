"""The page on the catalogue: its example is one that the server takes."""

from __future__ import annotations

import re
from pathlib import Path

from footplate.catalogue import load_catalogue

PAGE = Path(__file__).parents[2] / "docs" / "reference" / "catalogue.md"


def test_the_example_is_valid_and_does_what_it_says(tmp_path: Path) -> None:
    (example,) = re.findall(r"```toml\n(.*?)```", PAGE.read_text("utf-8"), re.DOTALL)
    file = tmp_path / "own.toml"
    file.write_text(example)
    before, after = load_catalogue(), load_catalogue(file)
    new = {"AMD_MI300X", "rack-16", "rack-32", "bench", "mi300-1", "old_bench"}
    assert after.own == new | {"home1", "home1-a", "home1-b"}
    removed = before.machine_types.keys() - after.machine_types.keys()
    assert removed == {"n1-standard-1"}
    assert "NVIDIA_L4" in after.machine_types["n1-standard-8"].accelerators
