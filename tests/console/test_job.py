"""The page of a job in a browser."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.job_states import State
from footplate.domain.names import TrainingJobName
from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE, LINES, LONG, PAGE_NAME, SLOW
from tests.console.screens import check_accessibility, look
from tests.e2e.service.conftest import Context
from tests.support.deadlines import EVENT_MS

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page, Route

FAILING = f"""
import sys, time
print("\\x1b[32mgreen\\x1b[0m", {HOSTILE!r}, flush=True)
for step in range(100):
    print("step", step)
sys.stdout.flush()
time.sleep(2)
raise ValueError({HOSTILE!r})
"""
_KEEP_TEXTS = """
const texts = new WeakMap();
const draw = CanvasRenderingContext2D.prototype.fillText;
CanvasRenderingContext2D.prototype.fillText = function (text, ...where) {
  texts.set(this.canvas, [...(texts.get(this.canvas) ?? []), text]);
  return draw.call(this, text, ...where);
};
window.textsOf = (canvas) => texts.get(canvas) ?? [];
"""
"""What is written on each canvas."""
LASTING = """
import time
for step in range(100000):
    print("tick", step, flush=True)
    time.sleep(0.1)
"""


@pytest.fixture(scope="module")
def failed(context: Context) -> TrainingJobName:
    name = context.submit(FAILING)
    context.wait_for(name, State.FAILED)
    return name


@pytest.fixture
def http(service: RunningService) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=service.url, headers={"Accept": "text/html"}) as client:
        yield client


def lines(page: Page) -> list[str]:
    found: list[str] = page.locator("#log .message").all_text_contents()
    return found


def test_it_looks_right(browser: Browser, service: RunningService, failed: TrainingJobName) -> None:
    look(browser, f"{service.url}/jobs/{failed}", "job", "figure canvas")
    look(browser, f"{service.url}/jobs/{LONG}", "job-long", ".line", brief=True)


def test_what_users_wrote_never_runs(
    page: Page, service: RunningService, failed: TrainingJobName
) -> None:
    page.goto(f"{service.url}/jobs/{failed}")
    expect(page.locator(".verdict")).to_contain_text(HOSTILE)
    expect(page.locator(".replicas")).to_contain_text(HOSTILE)
    expect(page.locator(".replicas")).to_contain_text("ended")
    expect(page.locator("#log")).to_contain_text(HOSTILE)
    expect(page.locator("#log .ansi-f2")).to_be_attached()
    page.goto(f"{service.url}/jobs/{LONG}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"long {HOSTILE}")
    expect(page.locator("#events")).to_contain_text(HOSTILE)
    expect(page).to_have_title(f"long {HOSTILE} · Footplate")
    expect(page.locator("img")).to_have_count(0)


def test_a_running_job_is_followed_and_cancelled(page: Page, context: Context) -> None:
    name = context.submit(LASTING)
    page.on("dialog", lambda dialog: dialog.accept())
    page.goto(f"{context.service.url}/jobs/{name}")
    job = page.locator("#job")
    expect(job).to_have_attribute("data-state", "RUNNING")
    expect(page.locator("#log")).to_contain_text("tick 5")
    expect(page.locator("#log")).to_contain_text("tick 25")
    expect(page.locator("figure canvas").first).to_be_visible()
    page.get_by_role("button", name="Stacks").click()
    expect(page.locator("#stacks")).to_contain_text("task.py:5")
    check_accessibility(page)
    page.get_by_role("button", name="Cancel").click()
    expect(job).to_have_attribute("data-state", "CANCELLED")
    expect(page.get_by_role("button", name="Cancel")).to_have_count(0)
    expect(page.locator("#events")).to_contain_text("cancelled")


def test_a_change_that_comes_while_the_page_is_read_is_shown(page: Page, context: Context) -> None:
    """What was read before the change arrives after it, and no other change follows."""
    name = context.submit(LASTING)
    context.wait_for(name, State.RUNNING)
    script = "document.querySelector('script[src*=\"console.js\"]').src"
    announce = f"import({script}).then((console) => console.announceChange())"
    page.route("**/console/changes", lambda route: route.abort())
    page.goto(f"{context.service.url}/jobs/{name}")
    job = page.locator("#job")
    expect(job).to_have_attribute("data-state", "RUNNING")

    def hold(route: Route) -> None:
        page.unroute("**/jobs/**")
        before = route.fetch()
        with context.client() as client:
            client.cancel(name)
        context.wait_for(name, State.CANCELLED)
        page.evaluate(announce)
        route.fulfill(response=before)

    page.route("**/jobs/**", hold)
    page.evaluate(announce)
    expect(job).to_have_attribute("data-state", "CANCELLED")


def test_a_job_runs_again_after_a_question(
    page: Page, context: Context, failed: TrainingJobName
) -> None:
    page.goto(f"{context.service.url}/jobs/{failed}")
    page.get_by_role("link", name="Run again").click()
    expect(page.get_by_role("group", name="Request")).to_contain_text("pythonModule: trainer.task")
    expect(page.get_by_role("link", name="Edit first")).to_have_attribute(
        "href", f"/submit?from={failed}"
    )
    check_accessibility(page)
    page.get_by_label("Job id").fill("no spaces")
    page.get_by_role("button", name="Submit").click()
    expect(page.get_by_role("alert").filter(has_text="jobId")).to_be_visible()
    page.get_by_label("Job id").fill("once_more")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/jobs/projects/demo/jobs/once_more$"))
    again = TrainingJobName("demo", "once_more")
    context.wait_for(again, State.FAILED)
    assert len(context.messages(again)) == len(context.messages(failed))


def test_labels_and_a_note_are_written(page: Page, service: RunningService) -> None:
    name = "projects/demo/locations/us-central1/customJobs/8890"
    page.goto(f"{service.url}/jobs/{name}")
    page.get_by_role("link", name="Labels and note").click()
    page.locator("#f-note").fill(f"the best so far {HOSTILE}")
    page.locator("#f-labels").fill("Team=x")
    check_accessibility(page)
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#wrong")).to_contain_text("Team")
    page.locator("#f-labels").fill("owner=ann\nowner=bob")
    page.get_by_role("button", name="Save").click()
    expect(page.locator("#wrong")).to_contain_text("'owner' is given twice")
    page.locator("#f-labels").fill("owner=ann\nkept")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(f"{service.url}/jobs/{name}")
    expect(page.locator("p.note")).to_have_text(f"the best so far {HOSTILE}")
    page.get_by_role("link", name="owner=ann").click()
    expect(page.locator("tbody tr")).to_have_count(1)
    expect(page.locator("tbody .note")).to_contain_text("the best so far")
    page.goto(f"{service.url}/jobs/{name}/notes")
    expect(page.locator("#f-labels")).to_have_value("owner=ann\nkept=")
    for field in ("#f-labels", "#f-note"):
        page.locator(field).fill("")
    page.get_by_role("button", name="Save").click()
    expect(page).to_have_url(f"{service.url}/jobs/{name}")
    expect(page.locator("p.note")).to_have_count(0)
    expect(page.locator("img")).to_have_count(0)


def test_running_again_needs_no_scripts(browser: Browser, context: Context) -> None:
    quiet = browser.new_context(java_script_enabled=False)
    page = quiet.new_page()
    page.set_default_timeout(EVENT_MS)
    page.goto(f"{context.service.url}/jobs/{LONG}/again")
    page.get_by_label("Job id").fill("no_scripts")
    page.get_by_role("button", name="Submit").click()  # its request is of nothing that exists
    expect(page.locator("#wrong")).not_to_be_empty()
    expect(page.get_by_label("Job id")).to_have_value("no_scripts")
    page.goto(f"{context.service.url}/jobs/{LONG}")
    page.get_by_role("link", name="Show the files of this job").click()
    expect(page.locator("table.files")).to_contain_text("train/")
    quiet.close()


def test_reported_metrics_are_charts_with_tables(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    metrics = page.locator("#metrics")
    expect(metrics.locator("canvas")).to_have_count(2)
    expect(metrics.locator("figcaption")).to_have_text([HOSTILE, "loss"])
    expect(metrics.locator(".legend").last.locator("span")).to_have_text(["eval", "train"])
    expect(page.locator("#metric-note")).to_have_text("Dashed lines mark restarts of replicas.")
    metrics.get_by_text("As a table").last.click()
    table = metrics.get_by_role("table", name="loss")
    expect(table.get_by_role("row")).to_have_text(
        [re.compile("^Source"), "eval49000.25420.25421.5", "train49000.16950.16951"]
    )
    page.get_by_label("over").select_option("time")
    expect(metrics.locator("canvas")).to_have_count(2)


def test_an_idle_replica_measured_once_has_readable_axes(
    page: Page, service: RunningService
) -> None:
    idle = {"mean": 0, "peak": 0}
    kinds = {"cpu": idle, "readBytesPerSecond": idle, "memoryBytes": {"mean": 3e8, "peak": 3e8}}
    point = {"time": "2026-01-02T03:04:05.5Z", **kinds}
    usage = {"replicas": [{"replica": "r0", "overall": kinds, "points": [point]}]}
    page.route("**/usage", lambda route: route.fulfill(json=usage))
    page.add_init_script(_KEEP_TEXTS)
    page.goto(f"{service.url}/jobs/{LONG}")
    charts = page.locator("#usage figure")
    expect(charts.locator("canvas")).to_have_count(3)
    texts: list[list[str]] = charts.locator("canvas").evaluate_all("all => all.map(textsOf)")
    found = {text for drawn in texts for text in drawn if text}
    times = {text for text in found if ":" in text}
    assert {text[:5] for text in times} == {"10:03", "10:04"}
    assert found - times == {"0", "0.500", "1", "0 B", "128 MiB", "256 MiB", "512 B", "1 KiB"}


def test_files_of_the_job_directory(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    files = page.locator("#files")
    expect(files.get_by_role("row")).to_have_count(5)  # three folders, a page
    expect(files.get_by_role("link", name=PAGE_NAME)).to_be_visible()
    files.get_by_role("link", name="many/").click()
    expect(files.get_by_role("row")).to_have_count(201)
    expect(files).to_contain_text("part-199")
    files.get_by_role("link", name="More files").click()
    expect(files.get_by_role("row")).to_have_count(51)
    files.get_by_role("link", name="gs://long/out").click()
    with page.expect_download() as download:
        files.get_by_role("link", name=PAGE_NAME).click()
    assert HOSTILE in download.value.path().read_text("utf-8")
    expect(page).to_have_title(f"long {HOSTILE} · Footplate")


def test_a_page_in_a_bucket_is_never_shown(service: RunningService) -> None:
    url = f"{service.url}/jobs/{LONG}/file"
    answer = httpx.get(url, params={"path": PAGE_NAME}, headers={"Accept": "text/html"})
    assert (answer.status_code, HOSTILE in answer.text) == (200, True)
    assert answer.headers["content-type"] == "application/octet-stream"
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert "sandbox" in answer.headers["content-security-policy"]
    shown = answer.headers["content-disposition"]
    assert shown.startswith("attachment; filename*=UTF-8''page")
    assert "%3Cimg" in shown
    missing = httpx.get(url, params={"path": "../secret"}, headers={"Accept": "text/html"})
    assert missing.status_code in (400, 404)
    assert missing.headers["content-type"].startswith("text/html")


def test_where_a_program_has_to_write(http: httpx.Client) -> None:
    none = http.get("/jobs/projects/demo/locations/us-central1/customJobs/8999/files").text
    assert "baseOutputDirectory" in none
    assert "AIP_MODEL_DIR" in none
    training = http.get("/jobs/projects/vision/jobs/train_3/files").text
    assert "jobDir" in training
    empty = http.get(f"/jobs/{LONG}/files", params={"folder": HOSTILE}).text
    assert "The job has left no files" in empty
    assert "<img src=x" not in empty


def test_a_long_log_is_read_from_any_place(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log = page.locator("#log")
    expect(log).to_contain_text(HOSTILE)  # the last line
    page.get_by_role("button", name="Start", exact=True).click()
    expect(log.locator(".message").first).to_have_text("step 0 red")
    last = log.locator(".message").last
    for _ in range(12):
        before = last.inner_text()
        log.evaluate("box => box.scrollTop = box.scrollHeight")
        expect(last).not_to_have_text(before)
    expect(log.locator(".message").first).not_to_have_text("step 0 red")
    found = [int(text.split()[1]) for text in lines(page)]
    assert found == list(range(found[0], found[-1] + 1)), "lines are missing or doubled"
    assert len(found) <= 1500

    page.get_by_role("slider", name="Position in the log").fill("500")
    middle = re.compile(r"step (2[5-9]|3[0-4])\d{3} red")  # of 60,000
    expect(log.locator(".message").first).to_have_text(middle)
    page.get_by_role("button", name="First error").click()
    expect(log.locator(".current")).to_contain_text("step 54321")
    expect(page).to_have_url(re.compile(r"#line-\d+$"))
    address = page.url
    page.get_by_label("Search the log").fill("STEP 54400")
    page.keyboard.press("Enter")
    expect(log.locator(".current mark")).to_have_text("step 54400")
    page.goto("about:blank")
    page.goto(address)
    expect(log.locator(".current")).to_contain_text("step 54321")


def test_a_search_counts_and_goes_round(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log, status = page.locator("#log"), page.locator("#log-status")
    page.get_by_role("button", name="Start", exact=True).click()
    expect(log.locator(".message").first).to_have_text("step 0 red")
    page.get_by_label("Search the log").fill("STEP 5440")
    for button, found, place in (
        ("Next match", "step 5440 ", 1),
        ("Previous match", "step 54409 ", 11),
        ("Previous match", "step 54408 ", 10),
        ("Next match", "step 54409 ", 11),
        ("Next match", "step 5440 ", 1),
        ("Next match", "step 54400 ", 2),
    ):
        page.get_by_role("button", name=button).click()
        expect(log.locator(".current")).to_contain_text(found)
        expect(status).to_have_text(f"Match {place} of 11.")
    page.get_by_role("button", name="First error").click()
    expect(log.locator(".current")).to_contain_text("step 54321")
    expect(status).to_have_text("")
    page.get_by_label("regex").check()
    page.get_by_label("Search the log").fill(r"step 999[89]\b")
    page.keyboard.press("Enter")
    expect(log.locator(".current")).to_contain_text("step 9998 ")
    expect(status).to_have_text("Match 1 of 2.")
    page.get_by_label("Search the log").fill("nowhere at all")
    page.keyboard.press("Enter")
    expect(status).to_have_text("No match.")


def test_lines_are_chosen(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log = page.locator("#log")
    page.get_by_label("Least severity").select_option("ERROR")
    expect(log.locator(".line")).to_have_count(1)
    expect(log).to_contain_text("step 54321")
    page.get_by_label("Least severity").select_option("")
    page.get_by_role("button", name="worker-replica-0").click()
    expect(log.locator(".line")).to_have_count(2)
    expect(log).to_contain_text(HOSTILE)
    page.get_by_role("button", name="attempt 1").click()
    expect(page.locator("#log-status")).to_have_text("No line matches.")
    page.get_by_role("button", name="attempt 2").click()
    expect(log.locator(".line")).to_have_count(2)
    page.evaluate("() => document.body.dispatchEvent(new CustomEvent('htmx:afterSettle'))")
    expect(page.get_by_role("button", name="attempt 2")).to_have_attribute("aria-pressed", "true")


def test_lines_are_found_by_regular_expressions(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log, search = page.locator("#log"), page.get_by_label("Search the log")
    expect(log).to_contain_text(HOSTILE)
    page.get_by_label("regex").check()
    search.fill(r"STEP 5443[0-4] r\w+$")
    page.get_by_label("only matches").check()
    expect(log.locator(".line")).to_have_count(5)
    expect(log.locator(".line").first.locator("mark")).to_have_text(["step 54430 ", "red"])


def test_a_slow_or_wrong_expression_stops_nothing(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    log, search = page.locator("#log"), page.get_by_label("Search the log")
    expect(log).to_contain_text(HOSTILE)
    page.get_by_label("regex").check()
    search.fill("(a+)+$")
    page.get_by_role("button", name="Previous match").click()
    page.get_by_role("button", name="Start", exact=True).click()  # the page goes on meanwhile
    expect(log.locator(".message").first).to_have_text("step 0 red")
    page.get_by_role("button", name="Follow").click()
    expect(log).to_contain_text(HOSTILE)
    expect(page.locator("#log-status")).to_contain_text("takes too long")
    page.get_by_label("only matches").check()
    expect(page.locator("#problem")).to_contain_text("takes too long")
    search.fill("(")
    page.keyboard.press("Enter")
    expect(page.locator("#problem")).to_contain_text("Invalid regular expression")
    search.fill("^a+!$")
    page.keyboard.press("Enter")
    expect(log.locator(".current mark")).to_have_text(SLOW)
    expect(page.locator("#problem")).to_be_hidden()


def test_the_definition_has_tabs(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/jobs/{LONG}")
    page.get_by_role("tab", name="Request").click()
    page.keyboard.press("ArrowRight")
    page.keyboard.press("ArrowRight")
    expect(page.get_by_role("tab", name="gcloud")).to_be_focused()
    expect(page.get_by_role("tabpanel")).to_contain_text("gcloud ai-platform jobs submit training")
    page.keyboard.press("ArrowLeft")
    values = page.get_by_role("table", name="How the service understands the request, and why")
    expect(values).to_contain_text("default, as in both of Google's services: a week")


def test_a_log_is_downloaded(service: RunningService) -> None:
    answer = httpx.get(f"{service.url}/jobs/{LONG}/log.txt", headers={"Accept": "text/html"})
    assert answer.headers["content-disposition"] == 'attachment; filename="log.txt"'
    assert answer.headers["content-type"].startswith("text/plain")
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert len(answer.text.splitlines()) == LINES


def test_a_job_that_is_deleted_meanwhile_is_said(page: Page, service: RunningService) -> None:
    name = "projects/demo/locations/us-central1/customJobs/8996"
    page.goto(f"{service.url}/jobs/{name}")
    expect(page.locator("#job")).to_be_visible()
    assert httpx.delete(f"{service.url}/v1/{name}").status_code == 200
    page.evaluate("() => document.body.dispatchEvent(new CustomEvent('footplate:change'))")
    expect(page.locator("#problem")).to_contain_text("does not exist")
    page.reload()
    expect(page.get_by_role("heading", name="Not found")).to_be_visible()
