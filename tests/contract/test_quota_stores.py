"""One contract, three stores of quotas."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from tempfile import TemporaryDirectory

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from footplate.ports.quotas import QuotaStore
from footplate.store import open_store
from tests.support.postgresql import Postgresql
from tests.support.profiles import scaled
from tests.support.quotas import MemoryQuotas
from tests.support.quotas_contract import REGION, QuotaContract

names = st.sampled_from(["*", "ads", "Ads", "ädß", "a%_"])
limits = st.dictionaries(names, st.none() | st.integers(0, 10**9), max_size=4)
changes = st.lists(st.tuples(names, names, st.none() | limits), max_size=8)


class TestMemoryQuotas(QuotaContract):
    @pytest.fixture
    def quotas(self) -> QuotaStore:
        return MemoryQuotas()

    @pytest.fixture
    def elsewhere(self, quotas: QuotaStore) -> QuotaStore:
        return quotas


class SqlQuotaContract(QuotaContract):
    @pytest.fixture
    def quotas(self, url: str) -> Iterator[QuotaStore]:
        with closing(open_store(url)) as store:
            yield store.quotas

    @pytest.fixture
    def elsewhere(self, url: str, quotas: QuotaStore) -> Iterator[QuotaStore]:
        with closing(open_store(url)) as elsewhere:
            yield elsewhere.quotas

    def test_they_are_there_after_a_restart(self, url: str) -> None:
        with closing(open_store(url)) as store:
            store.quotas.change("ads", REGION, {"vcpus": 64})
            kept = store.quotas.list()
        with closing(open_store(url)) as store:
            assert store.quotas.list() == kept
            assert kept


class TestSqlite(SqlQuotaContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"

    @given(changes)
    @settings(max_examples=scaled(25), deadline=None)
    def test_any_changes_leave_it_as_the_one_in_memory(
        self,
        made: list[tuple[str, str, dict[str, int | None] | None]],
    ) -> None:
        oracle = MemoryQuotas()
        with (
            TemporaryDirectory() as folder,
            closing(open_store(f"sqlite:///{folder}/db")) as store,
        ):
            for project, region, limits in made:
                for quotas in (oracle, store.quotas):
                    _apply(quotas, project, region, limits)
                assert store.quotas.list() == oracle.list()


class TestPostgresql(SqlQuotaContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()


def _apply(
    quotas: QuotaStore, project: str, region: str, limits: dict[str, int | None] | None
) -> None:
    if limits is None:
        quotas.remove(project, region)
    else:
        quotas.change(project, region, limits)
