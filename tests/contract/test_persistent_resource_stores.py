"""One contract, three stores of persistent resources."""

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from pathlib import Path

import pytest

from footplate.domain.errors import Aborted, AlreadyExists, InvalidArgument, NotFound
from footplate.domain.names import PersistentResourceName
from footplate.domain.persistent_resources import ResourceState, note_provisioned
from footplate.ports.persistent_resources import PersistentResourceStore
from footplate.store import open_store
from tests.support.jobs import CREATED
from tests.support.persistent_resources import TWO_T4, MemoryResources, make_resource
from tests.support.postgresql import Postgresql


class PersistentResourceContract:
    """One transaction each, guarded by versions."""

    def test_a_resource_comes_back_as_it_was(self, resources: PersistentResourceStore) -> None:
        resource = replace(make_resource(machine=TWO_T4), labels=(("team", "ä"),))
        resources.create(resource)
        assert resources.get(resource.name) == resource
        running = note_provisioned(resource, CREATED)
        resources.write(running)
        assert resources.get(resource.name) == running
        assert running.state is ResourceState.RUNNING

    def test_a_name_is_used_once(self, resources: PersistentResourceStore) -> None:
        resources.create(make_resource())
        with pytest.raises(AlreadyExists):
            resources.create(make_resource(count=5))
        resources.create(make_resource(project="other"))
        assert resources.get(make_resource().name) == make_resource()

    def test_writes_and_deletions_are_guarded(self, resources: PersistentResourceStore) -> None:
        resource = make_resource()
        resources.create(resource)
        resources.write(replace(resource, version=2))
        with pytest.raises(Aborted):
            resources.write(replace(resource, version=2))
        with pytest.raises(Aborted):
            resources.delete(resource)
        with pytest.raises(NotFound):
            resources.write(replace(make_resource("day"), version=2))
        resources.delete(replace(resource, version=2))
        with pytest.raises(NotFound):
            resources.get(resource.name)
        with pytest.raises(NotFound):
            resources.delete(replace(resource, version=2))
        with pytest.raises(NotFound):
            resources.get(PersistentResourceName("demo", "us-central1", "\0"))

    def test_lists_are_newest_first_in_pages(self, resources: PersistentResourceStore) -> None:
        made = [
            make_resource(f"r{number}", at=CREATED + timedelta(seconds=number // 2))
            for number in range(5)
        ]
        for resource in (*made, make_resource(region="europe-west4", at=CREATED)):
            resources.create(resource)
        collection = made[0].name.collection
        first = resources.list(collection, limit=3, after=None)
        rest = resources.list(collection, limit=3, after=first.next_key)
        found = [resource.id for resource in (*first.items, *rest.items)]
        assert (found, rest.next_key) == (["r4", "r3", "r2", "r1", "r0"], None)
        with pytest.raises(InvalidArgument):
            resources.list(collection, limit=3, after="nonsense")
        assert [resource.id for resource in resources.all()][-3:] == ["r2", "r3", "r4"]
        assert len(resources.all()) == 6


class TestMemoryResources(PersistentResourceContract):
    @pytest.fixture
    def resources(self) -> PersistentResourceStore:
        return MemoryResources()


class SqlResourceContract(PersistentResourceContract):
    @pytest.fixture
    def resources(self, url: str) -> Iterator[PersistentResourceStore]:
        with closing(open_store(url)) as store:
            yield store.persistent_resources


class TestSqlite(SqlResourceContract):
    @pytest.fixture
    def url(self, tmp_path: Path) -> str:
        return f"sqlite:///{tmp_path}/footplate.db"


class TestPostgresql(SqlResourceContract):
    @pytest.fixture
    def url(self, postgresql: Postgresql) -> str:
        return postgresql.create_database()
