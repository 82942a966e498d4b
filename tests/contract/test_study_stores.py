"""One contract, four stores of studies."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path

import pytest

from footplate.domain.names import StudyUid
from footplate.ports.studies import StudyStore
from footplate.store import ObservedStore, open_store
from footplate.store.sql_engines import make_engine, parse_url
from footplate.store.studies.studies import SqlStudies
from footplate.store.transactions import Transactions
from tests.support.postgresql import Postgresql
from tests.support.report_contract import ReportContract
from tests.support.store import MemoryStore
from tests.support.studies import MemoryStudies
from tests.support.studies_contract import StudyContract
from tests.support.study_paging_contract import StudyPagingContract
from tests.support.study_records import STUDIES


class WholeContract(StudyContract, ReportContract, StudyPagingContract):
    pass


class TestMemoryStudies(WholeContract):
    @pytest.fixture
    def studies(self) -> StudyStore:
        return MemoryStudies()

    @pytest.fixture
    def elsewhere(self, studies: StudyStore) -> StudyStore:
        return studies

    @pytest.fixture
    def frugal(self) -> StudyStore:
        return MemoryStudies(max_reports=5)


class TestTellingStudies(WholeContract):
    """A listener hears of every study that was written to."""

    @pytest.fixture
    def studies(self) -> Iterator[StudyStore]:
        inner, told = MemoryStore(), set[StudyUid]()
        yield ObservedStore(inner, lambda *_: None, lambda _: None, told.add).studies
        listed = inner.studies.list(STUDIES, limit=99, after=None).items
        assert {study.uid for study in listed} <= told

    @pytest.fixture
    def elsewhere(self, studies: StudyStore) -> StudyStore:
        return studies

    @pytest.fixture
    def frugal(self) -> StudyStore:
        inner = MemoryStore()
        inner.studies = MemoryStudies(max_reports=5)
        return ObservedStore(inner, lambda *_: None, lambda _: None).studies


class SqlStudyContract(WholeContract):
    @pytest.fixture
    def studies(self, url: str) -> Iterator[StudyStore]:
        with closing(open_store(url)) as store:
            yield store.studies

    @pytest.fixture
    def elsewhere(self, url: str, studies: StudyStore) -> Iterator[StudyStore]:
        with closing(open_store(url)) as elsewhere:
            yield elsewhere.studies

    @pytest.fixture
    def frugal(self, url: str) -> Iterator[StudyStore]:
        open_store(url).close()
        with closing(Transactions(make_engine(parse_url(url), 5.0))) as transactions:
            yield SqlStudies(transactions, max_reports=5)


class TestSqlite(SqlStudyContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlStudyContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
