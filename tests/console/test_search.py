"""The trials of a tuning job in a browser."""

from __future__ import annotations

import gzip
import re
from collections.abc import Iterator
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.domain.jobs import Ending
from footplate.domain.names import StudyUid, parse_job_name, trial_run_name
from footplate.domain.studies.metrics import Goal, Measurement, Metric
from footplate.domain.studies.parameters import CategoricalParameter, DoubleParameter
from footplate.domain.studies.records import Report, StudyRecord, StudyState
from footplate.domain.studies.space import SearchSpace
from footplate.domain.studies.study import StudyConfig
from footplate.domain.tuning.search import Search, TrialCounts
from footplate.store import open_store
from footplate.testing.service import RunningService, running_service
from tests.console.conftest import HOSTILE
from tests.console.screens import look, weigh
from tests.support.jobs import make_job, make_spec
from tests.support.trials import succeeded

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

NAME = "projects/demo/locations/us-central1/hyperparameterTuningJobs/77"
RUN = trial_run_name(parse_job_name(NAME), 5)
TRIALS = 12
POINTS = 10


def reports(number: int, start: datetime) -> list[Report]:
    """A curve that falls to the trial's result; of the 9th, which was stopped, the first half."""
    end = abs(number - 5) / 10 + 0.25
    return [
        Report(
            f"{number}-{at}",
            {"rmse": end + 1 / at - 1 / POINTS},
            number * 100 * at // POINTS,
            60.0 * at / POINTS,
            start,
            "hypertune",
        )
        for at in range(1, POINTS + 1)
        if number != 9 or at <= POINTS // 2
    ]


@pytest.fixture(scope="module")
def searched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """A service with an ended search, of hostile names and values."""
    data_dir = tmp_path_factory.mktemp("search") / "data"
    data_dir.mkdir()
    space = SearchSpace(
        (DoubleParameter("learning_rate", 0.0, 1.0), CategoricalParameter(HOSTILE, ("a", HOSTILE)))
    )
    config = StudyConfig(space, (Metric("rmse", Goal.MINIMIZE),))
    search = Search(config, TrialCounts(TRIALS, 2))
    now = datetime.now(UTC)
    job = make_job(NAME, spec=replace(make_spec(), search=search), created=now)
    ended = replace(
        job,
        display_name="Rates and layers",
        state=State.SUCCEEDED,
        start_time=now,
        end_time=now,
        ending=Ending(State.SUCCEEDED),
    )
    study = StudyRecord(StudyUid(job.uid), None, "", config, "{}", 1, now)
    trials = [
        replace(
            succeeded(number, 0.0),
            point={"learning_rate": number / 100, HOSTILE: HOSTILE if number % 2 else "a"},
            final=Measurement({"rmse": abs(number - 5) / 10 + 0.25}, number * 100, 60.0),
            outcome=State.SUCCEEDED,
            stop_reason=HOSTILE if number == 9 else "",
        )
        for number in range(1, TRIALS + 1)
    ]
    run = make_job(str(RUN), spec=replace(make_spec(), trial="5"), created=now)
    run = replace(run, state=State.SUCCEEDED, end_time=now, tuning_job=job.uid)
    with closing(open_store(f"sqlite:///{data_dir / 'footplate.db'}")) as store:
        store.create(ended, ())
        store.create(run, ())
        store.studies.create(study)
        made = replace(
            study, made=TRIALS, ended=TRIALS, state=StudyState.COMPLETED, version=study.version + 1
        )
        store.studies.write(made, trials)
        for number in range(1, TRIALS + 1):
            store.studies.report(study.uid, number, reports(number, now))
    with running_service(data_dir) as service:
        yield service


def test_it_looks_right(browser: Browser, searched: RunningService) -> None:
    look(browser, f"{searched.url}/searches/{NAME}", "search", "#parallel canvas")


def test_it_is_light(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    page.locator("#parallel canvas").wait_for()
    assert 100_000 < weigh(page) < 600_000


def test_it_is_reached_filtered_sorted_and_compared(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/jobs")
    page.get_by_role("link", name="12 trials").click()
    expect(page.locator(".best")).to_contain_text("Trial 5: rmse 0.25 at step 500")
    rows = page.locator("#trial-rows tbody tr")
    expect(rows).to_have_count(TRIALS)
    expect(rows.first.locator(".state.succeeded .icon")).to_have_text("✓")
    expect(page.locator("#history canvas")).to_be_visible()

    page.get_by_label("Filter").fill("rmse < 0.5 AND training_steps > 400")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(3)
    page.get_by_role("link", name="rmse", exact=True).click()
    page.get_by_role("link", name="rmse", exact=True).click()
    expect(page).to_have_url(re.compile(r"orderBy=rmse\+desc"))
    expect(rows.first.get_by_role("rowheader")).to_have_text("7")

    page.get_by_label("Compare trial 7").check()
    page.get_by_label("Compare trial 5").check()
    page.get_by_role("button", name="Compare").click()
    expect(page.locator("#compared thead th")).to_have_text(["Value", "Trial 5", "Trial 7"])
    expect(page.locator("#compared")).to_contain_text("learning_rate")
    expect(rows).to_have_count(3)
    expect(page.locator("img")).to_have_count(0)
    expect(page).to_have_title("Trials of Rates and layers · Footplate")


def test_a_wrong_filter_stays_on_the_page_and_says_what_is_allowed(
    page: Page, searched: RunningService
) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    page.get_by_label("Filter").fill("rsme < 0.5")
    page.keyboard.press("Enter")

    expect(page.get_by_role("alert")).to_contain_text("unknown field; allowed: ")
    expect(page.get_by_label("Filter")).to_have_value("rsme < 0.5")
    expect(page.locator("#trial-rows tbody tr")).to_have_count(TRIALS)


def test_an_ended_trial_leads_to_its_job_and_back(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/jobs/{NAME}")
    page.get_by_role("link", name="show the trials").click()
    jobs = page.get_by_role("navigation", name="Main").get_by_role("link", name="Jobs")
    expect(jobs).to_have_attribute("aria-current", "page")
    page.locator("#trial-rows").get_by_role("link", name="5", exact=True).click()
    expect(page).to_have_url(f"{searched.url}/jobs/{RUN}")
    page.get_by_role("link", name="5 of 77").click()
    expect(page.get_by_role("heading", name="Trials of Rates and layers")).to_be_visible()


def test_a_range_of_an_axis_chooses_rows_until_the_reader_wants_all(
    page: Page, searched: RunningService
) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    parallel = page.locator("#parallel")
    parallel.locator("canvas").wait_for()
    parallel.scroll_into_view_if_needed()
    shown = page.locator("#trial-rows tbody tr:visible")
    expect(shown).to_have_count(TRIALS)
    box = parallel.bounding_box()
    assert box is not None
    x, low = box["x"] + 60, box["y"] + box["height"] - 20  # the lower end of the first axis
    page.mouse.move(x, low - 2)
    page.mouse.down()
    page.mouse.move(x, low - (box["height"] - 52) / 2, steps=8)
    page.mouse.up()
    expect(shown).to_have_count(6)
    expect(shown.last.get_by_role("rowheader")).to_have_text("6")

    page.evaluate("""() => {
      const part = document.getElementById("trials");
      part.setAttribute("hx-vals", '{"seen": "another"}');
      part.dataset.old = "true";
      document.body.dispatchEvent(new CustomEvent("footplate:change"));
    }""")
    expect(page.locator("#trials:not([data-old])")).to_be_attached()
    expect(shown).to_have_count(6)
    page.get_by_role("button", name="Show all rows").click()
    expect(shown).to_have_count(TRIALS)


def test_curves_bars_and_importance_have_tables(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    expect(page.locator("#curves canvas")).to_be_visible()
    page.get_by_text("As a table").click()
    rows = page.locator("#curve-rows tbody tr")
    expect(rows).to_have_count(TRIALS)
    expect(rows.nth(4).locator("td")).to_have_text(["10", "1.15", "0.25", "0.25 at step 500", ""])
    expect(rows.nth(8)).to_contain_text(HOSTILE)
    bars = page.get_by_role("region", name="Trials over time").locator("tbody tr")
    expect(bars).to_have_count(TRIALS)
    expect(bars.nth(8).locator(".stopped")).to_be_attached()
    importance = page.get_by_role("region", name="Importance of parameters")
    expect(importance.locator("tbody tr").first).to_contain_text("learning_rate")
    expect(page.locator("img")).to_have_count(0)


def test_another_stopping_rule_is_replayed(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    page.get_by_role("combobox", name="Stopping rule").select_option("median")
    page.get_by_role("button", name="Replay").click()
    replayed = page.locator("#replayed")
    expect(replayed).to_contain_text(re.compile("The median rule would have stopped"))


def test_a_search_goes_on(page: Page, searched: RunningService) -> None:
    page.goto(f"{searched.url}/searches/{NAME}")
    sent = []
    page.on("request", lambda request: sent.append(request.url))
    page.get_by_label("Go on with").fill("3")
    page.get_by_role("button", name="Submit").click()
    expect(page.locator("#problem")).to_contain_text("studySpec")
    assert any(url.endswith("/extend") for url in sent)


def test_all_that_it_loads_is_small(searched: RunningService) -> None:
    with httpx.Client(base_url=searched.url, headers={"Accept": "text/html"}) as http:
        text = http.get(f"/searches/{NAME}").text
        whole = len(gzip.compress(text.encode()))
        for address in set(re.findall(r'(?:src|href)="(/console/static/[^"]+)"', text)):
            with http.stream("GET", address) as answer:
                whole += sum(map(len, answer.iter_raw()))
    assert "<img src=x" not in text
    assert whole < 600_000


def test_a_filter_that_is_wrong_is_explained(searched: RunningService) -> None:
    headers = {"Accept": "text/html"}
    url = f"{searched.url}/searches/{NAME}"
    answer = httpx.get(url, params={"filter": "nothing < 1"}, headers=headers)
    assert answer.status_code == 400
    assert "learning_rate" in answer.text
