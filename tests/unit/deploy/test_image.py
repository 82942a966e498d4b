"""What of a checkout the image is built from."""

import tomllib
from pathlib import Path

ROOT = Path(__file__).parents[3]


def test_the_image_is_built_from_what_the_package_is_built_from_and_no_more() -> None:
    targets = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]
    source = targets["targets"]["sdist"]
    lines = (ROOT / ".dockerignore").read_text().splitlines()
    rules = [line for line in lines if line and not line.startswith("#")]

    assert rules[0] == "*"  # an environment, a cache and a history of gigabytes stay out
    assert {rule[1:] for rule in rules if rule.startswith("!")} == {
        *(path.removeprefix("/") for path in source["include"]),
        "pyproject.toml",
    }
    assert {path.removeprefix("/") for path in source["exclude"]} <= set(rules)
