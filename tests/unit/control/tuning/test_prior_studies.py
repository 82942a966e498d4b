"""Which study a search learns from, by the name that its request gives."""

from __future__ import annotations

from dataclasses import replace

import pytest

from footplate.control.tuning.prior_studies import PriorStudies
from footplate.domain.errors import NotFound
from footplate.domain.names import StudyName, StudyUid
from footplate.domain.studies.records import StudyRecord
from tests.support.jobs import CREATED, make_job, make_spec
from tests.support.store import MemoryStore
from tests.support.trials import SEARCH, STUDY, succeeded

HERE = "projects/demo/locations/us-central1"


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def earlier(store: MemoryStore) -> PriorStudies:
    return PriorStudies(store, store.studies)


def keep(store: MemoryStore, uid: str, name: StudyName | None = None) -> None:
    """A study with one trial."""
    study = StudyRecord(
        StudyUid(uid), name, f"study {uid}", STUDY, "{}", seed=1, create_time=CREATED
    )
    store.studies.create(study)
    store.studies.write(replace(study, made=1, ended=1, version=2), (succeeded(1, 0.5),))


def submit(store: MemoryStore, name: str, uid: str) -> None:
    store.create(make_job(name, uid=uid, spec=replace(make_spec(), search=SEARCH)), ())
    keep(store, uid)


@pytest.mark.parametrize("name", [f"{HERE}/hyperparameterTuningJobs/9", "projects/demo/jobs/job_1"])
def test_a_tuning_job(store: MemoryStore, earlier: PriorStudies, name: str) -> None:
    submit(store, name, "u")
    (study,) = earlier.of(replace(SEARCH, learns_from=name))
    assert [trial.number for trial in study.trials] == [1]


@pytest.mark.parametrize("kind", ["studies", "hyperparameterTuningJobs"])
def test_a_study_also_where_only_its_id_is_known(
    store: MemoryStore, earlier: PriorStudies, kind: str
) -> None:
    keep(store, "u", StudyName("demo", "us-central1", "7"))
    (study,) = earlier.of(replace(SEARCH, learns_from=f"{HERE}/{kind}/7"))
    assert study.config == STUDY


@pytest.mark.parametrize(
    "name",
    [
        f"{HERE}/studies/8",
        f"{HERE}/hyperparameterTuningJobs/8",
        f"{HERE}/customJobs/7",
        "projects/demo/jobs/job_8",
        "projects/other/locations/us-central1/hyperparameterTuningJobs/7",
    ],
)
def test_what_is_not_there_tells_nothing(
    store: MemoryStore, earlier: PriorStudies, name: str
) -> None:
    keep(store, "u", StudyName("demo", "us-central1", "7"))
    with pytest.raises(NotFound):
        earlier.find(name)
    assert earlier.of(replace(SEARCH, learns_from=name)) == ()
