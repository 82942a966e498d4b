"""The pages of a training pipeline that tunes: what its search did, found from the pipeline."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import timedelta
from typing import TYPE_CHECKING

import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.domain.jobs import Ending, JobEvent
from footplate.domain.names import JobUid, backing_job_name, backing_uid, parse_job_name
from footplate.domain.pipelines import Pipeline
from footplate.store import open_store
from footplate.testing.service import RunningService, running_service
from tests.support.jobs import CREATED, make_job, make_search, make_spec
from tests.support.study_records import make_study

if TYPE_CHECKING:
    from playwright.sync_api import Page

PIPELINE = "projects/demo/locations/us-central1/trainingPipelines/9"
SEARCH = backing_job_name(parse_job_name(PIPELINE), tunes=True)


@pytest.fixture
def tuned(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with a pipeline that has ended, and the tuning job behind it."""
    data_dir = tmp_path_factory.mktemp("pipeline") / "data"
    data_dir.mkdir()
    uid = JobUid("f" * 32)
    spec = replace(make_spec(SEARCH), search=make_search())
    search = make_job(SEARCH, uid=backing_uid(uid), spec=spec, display_name="behind")
    pipeline = make_job(PIPELINE, uid=uid, display_name="tunes")
    as_pipeline = replace(spec, pipeline=Pipeline("behind", "{}"))
    pipeline = replace(pipeline, spec=as_pipeline)
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        for job in (pipeline, search):
            event = JobEvent(CREATED, "NOTE", f"an event of {job.display_name}")
            ended = replace(job, state=State.SUCCEEDED, ending=Ending(State.SUCCEEDED))
            times = replace(ended, start_time=CREATED, end_time=CREATED + timedelta(hours=1))
            store.create(times, [event])
        store.studies.create(make_study(None, uid=search.uid))
    with running_service(data_dir) as service:
        yield service


def test_its_page_leads_to_the_trials_of_its_search(page: Page, tuned: RunningService) -> None:
    page.goto(f"{tuned.url}/jobs")
    expect(page.locator("#rows tbody tr")).to_have_count(1)
    page.get_by_role("link", name="tunes", exact=True).click()
    expect(page.get_by_text("an event of tunes")).to_be_visible()
    expect(page.get_by_text("an event of behind")).to_be_visible()
    expect(page.get_by_role("link", name="hyperparameterTuningJobs/9")).to_be_visible()
    page.get_by_role("link", name="show the trials").click()
    expect(page).to_have_url(f"{tuned.url}/searches/{SEARCH}")
    expect(page.get_by_role("heading", level=1)).to_contain_text("behind")


def test_the_page_of_its_search_leads_back(page: Page, tuned: RunningService) -> None:
    page.goto(f"{tuned.url}/jobs/{SEARCH}")
    page.locator("dt", has_text="Pipeline").locator("..").get_by_role("link").click()
    expect(page).to_have_url(f"{tuned.url}/jobs/{PIPELINE}")
