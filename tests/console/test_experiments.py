"""Experiments, TensorBoards and models in a browser."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.names import GcsUri
from footplate.testing.service import RunningService
from tests.console.conftest import HOSTILE
from tests.console.screens import look
from tests.e2e.service.conftest import Context

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

PLACE = "projects/lab/locations/us-central1"
STORE = f"{PLACE}/metadataStores/default"
PAGE = "pages/page.html"
RATES = (0.1, 0.01, 0.001)


class Tracker:
    """Logs as the Vertex SDK does."""

    def __init__(self, http: httpx.Client) -> None:
        self._http = http

    def post(self, path: str, **body: object) -> Any:
        return self._http.post(path, json=body).raise_for_status().json()

    def track(self) -> None:
        made = self.post(f"{PLACE}/tensorboards", displayName=f"board {HOSTILE}")
        board = made["response"]["name"]
        experiment = self.post(
            f"{STORE}/contexts?contextId=first",
            displayName="first",
            description=HOSTILE,
            schemaTitle="system.Experiment",
            metadata={"backing_tensorboard_resource": board},
        )["name"]
        folder = f"{board}/experiments"
        self.post(f"{folder}?tensorboardExperimentId=first", displayName="first")
        for number, rate in enumerate(RATES):
            title = f"rate-{number}"
            metadata = {
                "_params": {"rate": rate, HOSTILE: HOSTILE},
                "_metrics": {"accuracy": 1 - rate, "note": HOSTILE},
                "_state": "COMPLETE",
            }
            run = self.post(
                f"{STORE}/contexts?contextId=first-{title}",
                displayName=title,
                schemaTitle="system.ExperimentRun",
                metadata=metadata,
            )["name"]
            self.post(f"{experiment}:addContextChildren", childContexts=[run])
            self.draw(f"{folder}/first", title)

    def draw(self, experiment: str, title: str) -> None:
        run = self.post(f"{experiment}/runs?tensorboardRunId={title}", displayName=title)["name"]
        for tag in ("loss", f"tag {HOSTILE}"):
            fields = {"displayName": tag, "valueType": "SCALAR"}
            series = self.post(f"{run}/timeSeries", **fields)["name"]
            values = [
                {
                    "step": step,
                    "wallTime": f"2026-01-01T00:00:{step:02d}Z",
                    "scalar": {"value": 1 / (1 + step)},
                }
                for step in range(5)
            ]
            data = {
                "tensorboardTimeSeriesId": series.rpartition("/")[2],
                "valueType": "SCALAR",
                "values": values,
            }
            self.post(f"{run}:write", timeSeriesData=[data])

    def upload_model(self, files: str) -> str:
        model = {
            "displayName": f"model {HOSTILE}",
            "description": HOSTILE,
            "artifactUri": files,
            "containerSpec": {"imageUri": "gcr.io/lab/serve:v1"},
            "versionDescription": HOSTILE,
        }
        answer = self.post(f"{PLACE}/models:upload", model=model)
        return str(answer["response"]["model"])


@pytest.fixture(scope="module")
def model(service: RunningService, context: Context) -> str:
    """An experiment of three runs, its TensorBoard, and a model; the model's name."""
    with context.client() as client:
        client.storage.create_bucket("lab", "weights")
        client.storage.upload(
            GcsUri("weights", f"m1/{PAGE}"), f"<script>{HOSTILE}</script>".encode()
        )
        client.storage.upload(GcsUri("weights", f"m1/{HOSTILE.replace('/', '')}"), b"12345")
    with httpx.Client(base_url=f"{service.url}/v1/", timeout=60) as http:
        tracker = Tracker(http)
        tracker.track()
        return tracker.upload_model("gs://weights/m1")


def test_it_looks_right(browser: Browser, service: RunningService, model: str) -> None:
    url = service.url
    look(browser, f"{url}/experiments?project=lab", "experiments", "#models", brief=True)
    look(browser, f"{url}/experiments?project=none", "experiments-empty", ".notice", brief=True)
    look(browser, f"{url}/experiments/{STORE}/contexts/first", "experiment", "figure canvas")
    look(browser, f"{url}/models/{model}", "model", "#files", brief=True)


def test_runs_are_compared(page: Page, service: RunningService, model: str) -> None:
    assert model
    page.goto(f"{service.url}/experiments?project=lab")
    expect(page.locator("#boards")).to_contain_text(f"board {HOSTILE}")
    page.locator("#experiments").get_by_role("link", name="first").click()
    rows = page.locator("#runs tbody tr")
    expect(rows).to_have_count(len(RATES))
    expect(page.locator("figure")).to_have_count(2)
    page.locator("#runs").get_by_role("link", name="accuracy").click()
    expect(rows.first).to_contain_text("rate-0")
    expect(page.get_by_role("columnheader", name="accuracy")).to_have_attribute(
        "aria-sort", "ascending"
    )
    page.get_by_label("Filter").fill("rate < 0.05")
    page.keyboard.press("Enter")
    expect(rows).to_have_count(2)
    page.get_by_label("Draw rate-2").check()
    page.get_by_role("button", name="Draw the ticked runs").click()
    expect(page.get_by_role("heading", name="Curves of 1 run")).to_be_visible()
    page.get_by_text("As a table").first.click()
    expect(page.get_by_role("table", name="loss")).to_contain_text("rate-2")
    page.get_by_label("Filter").fill("note < x")
    page.keyboard.press("Enter")
    expect(page.get_by_role("alert").filter(has_text="allowed: = and !=")).to_be_visible()


def test_all_places_are_listed_and_offered(page: Page, service: RunningService, model: str) -> None:
    assert model
    page.goto(f"{service.url}/experiments")
    expect(page.locator("#experiments tr", has_text="first")).to_contain_text("lab")
    expect(page.locator("#models")).to_contain_text("us-central1")
    expect(page.locator("#projects option[value=lab]")).to_have_count(1)
    page.get_by_role("combobox", name="Region").fill("europe-west4")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No models in europe-west4")).to_be_visible()
    page.get_by_role("link", name="Show all").click()
    expect(page.locator("#models")).to_be_visible()


def test_files_of_a_version_are_saved_and_never_shown(
    page: Page, service: RunningService, model: str
) -> None:
    page.goto(f"{service.url}/models/{model}")
    with page.expect_download() as caught:
        page.locator("#files").get_by_role("link").first.click()
    assert caught.value.path().read_bytes() == b"12345"
    html = {"Accept": "text/html"}
    with httpx.Client(base_url=service.url, headers=html, timeout=60) as http:
        answer = http.get(f"/models/{model}/download", params={"file": PAGE})
        assert answer.text == f"<script>{HOSTILE}</script>"
        assert answer.headers["content-type"] == "application/octet-stream"
        assert answer.headers["content-disposition"] == "attachment; filename*=UTF-8''page.html"
        assert answer.headers["x-content-type-options"] == "nosniff"
        assert answer.headers["content-security-policy"].startswith("sandbox")
        for file in ("none", "../secret", "", HOSTILE):
            missing = http.get(f"/models/{model}/download", params={"file": file})
            assert missing.status_code in (400, 404), file
            assert "<img src=x" not in missing.text


def test_a_tensorboard_is_a_click_away(page: Page, service: RunningService, model: str) -> None:
    assert model
    page.goto(f"{service.url}/experiments?project=lab")
    page.locator("#boards").get_by_role("link", name="first").click()
    expect(page.locator("#runs tbody tr")).to_have_count(len(RATES))
    expect(page.locator("figure canvas").first).to_be_visible()


def test_what_users_wrote_never_runs(page: Page, service: RunningService, model: str) -> None:
    page.goto(f"{service.url}/experiments/{STORE}/contexts/first")
    expect(page.get_by_role("columnheader", name=HOSTILE)).to_be_visible()
    expect(page.locator("figcaption").last).to_have_text(f"tag {HOSTILE}")
    page.goto(f"{service.url}/models/{model}")
    expect(page.get_by_role("heading", level=1)).to_have_text(f"model {HOSTILE}")
    expect(page.locator("#versions")).to_contain_text(HOSTILE)
    expect(page.locator("#files")).to_contain_text("<img src=x")
    expect(page).to_have_title(re.compile(r"^model <img"))
    expect(page.locator("img")).to_have_count(0)
