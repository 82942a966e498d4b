"""Each client of other projects passes what its row on the page claims."""

from __future__ import annotations

import pytest

from tests.support.engines.requirements import require_engine, require_registry
from tools.compatibility import find_faults, names, read_client, read_rows, run_client

PACKAGED = [name for name in names() if not read_client(name).repository]
"""Those of a repository run by hand: no package index has their examples."""


@pytest.mark.parametrize("name", PACKAGED)
def test_it_passes_what_its_row_claims(name: str) -> None:
    client = read_client(name)
    if client.images:
        require_engine("docker")
        require_registry()
    row = run_client(client)
    assert find_faults(client, row) == []
    assert set(read_rows()[name].passed) <= set(row.passed)
