"""Each client of other projects passes what its row on the page claims."""

from __future__ import annotations

import pytest

from tests.support.engines.requirements import require_engine, require_registry
from tests.support.shares import list_clients
from tools.compatibility import find_faults, read_client, read_rows, run_client


@pytest.mark.parametrize("name", list_clients())
def test_it_passes_what_its_row_claims(name: str) -> None:
    client = read_client(name)
    if client.images:
        require_engine("docker")
        require_registry()
    row = run_client(client)
    assert find_faults(client, row) == []
    assert set(read_rows()[name].passed) <= set(row.passed)
