"""Submitting jobs in a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.names import GcsUri
from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE, LONG
from tests.console.screens import check_accessibility, look
from tests.e2e.service.conftest import BUCKET, Context
from tests.support.trainers import pack_trainer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PACKAGE = GcsUri(BUCKET, "submitted.tar.gz")
TEXTS = (
    *("project", "region", "name", "packages", "module", "args", "env", "machine"),
    *("labels", "output"),
)


@pytest.fixture(scope="module")
def package(context: Context) -> str:
    with context.client() as client:
        client.storage.upload(PACKAGE, pack_trainer("print('submitted')\n"))
    return str(PACKAGE)


def test_it_looks_right(browser: Browser, service: RunningService) -> None:
    look(browser, f"{service.url}/submit?project=demo", "submit", "#submit")
    look(browser, f"{service.url}/submit?from={LONG}", "submit-text", ".violations", brief=True)


def test_a_job_is_checked_while_it_is_written_and_then_submitted(
    page: Page, service: RunningService, package: str
) -> None:
    page.goto(f"{service.url}/jobs?project=demo")
    page.get_by_role("link", name="Submit a job").click()
    expect(page.get_by_label("Project")).to_have_value("demo")
    page.wait_for_load_state()  # the form has its script
    page.get_by_label("Name", exact=True).fill(f"written {HOSTILE}")
    preview = page.locator("#preview")
    expect(preview).to_contain_text("things are wrong")
    expect(page.locator("#error-module")).not_to_be_empty()
    page.get_by_label("Runtime").select_option(label="sklearn-cpu.1-9.py311, Python 3.11")
    page.get_by_label("Packages").fill(package)
    page.get_by_label("Module").fill("trainer.task")
    page.get_by_label("Machine type").fill("n9-standard")
    expect(page.locator("#error-machine")).to_contain_text("not a machine type of the catalogue")
    expect(page.locator("#error-module")).to_be_empty()
    page.get_by_label("Machine type").fill("n1-standard-8")
    page.locator("#f-replicas").fill("2")
    expect(preview).to_contain_text("Accepted")
    expect(preview.get_by_role("row", name="workerpool1-0")).to_contain_text("n1-standard-8")
    expect(page.locator("#error-machine")).to_be_empty()
    expect(page.locator("#text-gcloud")).to_contain_text("gcloud ai custom-jobs create")
    page.get_by_role("tab", name="YAML").click()
    expect(page.locator("#text-yaml")).to_contain_text("pythonModule: trainer.task")
    check_accessibility(page)
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page).to_have_url(re.compile(r"/jobs/projects/demo/locations/us-central1/customJobs/"))
    expect(page.get_by_role("heading", level=1)).to_have_text(f"written {HOSTILE}")
    name = page.url.partition("/jobs/")[2]
    httpx.post(f"{service.url}/v1/{name}:cancel", timeout=60).raise_for_status()

    page.get_by_role("link", name="Clone and edit").click()
    expect(page.get_by_label("Name", exact=True)).to_have_value(f"written {HOSTILE}")
    expect(page.locator("#f-replicas")).to_have_value("2")
    expect(page.get_by_label("Packages")).to_have_value(package)
    expect(preview).to_contain_text("Accepted")
    expect(page.locator("img")).to_have_count(0)


def test_a_job_of_the_other_api_is_edited_as_text(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/submit?from={LONG}")
    text = page.locator("#f-text")
    expect(text).to_have_value(re.compile(r"trainingInput:"))
    expect(page.get_by_label("Machine type")).not_to_be_visible()
    expect(page.locator("#preview")).to_contain_text("wrong")
    text.fill("jobSpec: [")
    expect(page.locator("#error-text")).to_contain_text("this text is not YAML: line 1")
    text.fill(HOSTILE)
    expect(page.locator("#error-text")).to_contain_text("this text is not a job")
    page.get_by_role("button", name="Submit", exact=True).click()
    expect(page.locator("#preview")).to_contain_text("wrong")
    expect(page).to_have_url(f"{service.url}/submit?from={LONG}")


def test_nothing_that_is_written_runs(page: Page, service: RunningService) -> None:
    page.goto(f"{service.url}/submit")
    for name in TEXTS:
        page.locator(f"#f-{name}").fill(HOSTILE)
    expect(page.locator("#error-project")).to_contain_text("no spaces")
    page.locator("#f-project").fill("demo")
    page.locator("#f-region").fill("us-central1")
    expect(page.locator("#error-machine")).to_contain_text("<img src=x")
    for tab in ("gcloud", "Python", "YAML"):
        page.get_by_role("tab", name=tab).click()
        expect(page.get_by_role("tabpanel")).to_contain_text("<img src=x")
    page.get_by_label("Container image").check()
    page.locator("#f-image").fill(HOSTILE)
    expect(page.locator("#error-image")).not_to_be_empty()
    expect(page.locator("img")).to_have_count(0)
    expect(page).to_have_title("Submit a job · Footplate")


def test_a_form_is_no_way_to_other_addresses(service: RunningService) -> None:
    headers = {"HX-Request": "true"}
    with httpx.Client(base_url=service.url, headers=headers, timeout=60) as client:
        for bad in ("../../x", "a/b", "a b", "a%2fb", "a?b"):
            answer = client.post("/submit/create", data={"project": bad, "region": "us-central1"})
            assert (answer.status_code, "no spaces, slashes" in answer.text) == (200, True)
        assert client.post("/submit/check", data={"text": "x" * (1 << 20)}).status_code == 400
        many = {f"field{number}": "x" for number in range(60)}
        assert client.post("/submit/check", data=many).status_code == 400
    assert httpx.post(f"{service.url}/submit/create", data={}).status_code == 404
