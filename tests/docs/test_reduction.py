"""The pages on reduction: their commands do what they say, their table is what the code reads."""

from __future__ import annotations

import inspect
import json
import re
import shutil
from pathlib import Path

from footplate_reduction import settings
from footplate_reduction.limits import Limits

from tests.docs.walk import ROOT, type_out
from tests.support.requirements import needs_packages

HOW_TO = ROOT / "docs" / "how-to" / "reduce-gradients.md"
README = ROOT / "reduction" / "README.md"


@needs_packages("the C++ library of footplate-reduction", "g++")
def test_a_user_of_the_service_types_it(tmp_path: Path) -> None:
    """Where the checkout's examples are, and a service runs."""
    shutil.copytree(ROOT / "examples" / "reduction", tmp_path / "examples" / "reduction")
    type_out("```console\n$ footplate up\n```\n" + HOW_TO.read_text("utf-8"), tmp_path)
    (written,) = tmp_path.rglob("report.json")
    report = json.loads(written.read_text())
    assert report["offloaded"] == len(report["losses"]) == 100
    assert report["checksums"] == report["checksums"][:1] * 3
    assert report["losses"][-1] < report["losses"][0] / 10


def test_the_table_has_each_variable_and_its_default() -> None:
    rows = re.findall(
        r"^\| `(FOOTPLATE_\w+)` \| \w+ \| (\S*?) ?\|", README.read_text(), re.MULTILINE
    )
    told = dict(rows)
    usual = Limits()
    for name, default in (
        ("TIMEOUT", usual.timeout_s),
        ("PATIENCE", usual.patience_s),
        ("BUDGET", usual.budget_bytes),
        ("CHUNK", usual.chunk_bytes),
        ("PORT", settings.DEFAULT_PORT),
        ("LANES", settings.reducer_settings({}).lanes),
    ):
        assert float(told.pop("FOOTPLATE_REDUCTION_" + name)) == default
    assert set(told.values()) == {""}
    assert {name for name, _ in rows} == variables_read()


def variables_read() -> set[str]:
    """By the one module that reads them; what names a group is not for users to set."""
    source = inspect.getsource(settings)
    whole = set(re.findall(r'"(FOOTPLATE_REDUCERS)"', source))
    suffixes = re.findall(r'(?:_PREFIX \+ |environment, )"([A-Z]+)"', source)
    refused = {"FOOTPLATE_REDUCTION_ENGINE"}
    return whole | {"FOOTPLATE_REDUCTION_" + suffix for suffix in suffixes} - refused
