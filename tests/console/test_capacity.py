"""The page on capacity in a browser: a region whose engine is away, quotas, and a queue."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import httpx
import pytest
from playwright.sync_api import expect

from footplate.domain.names import GcsUri
from footplate.testing.service import RunningService, running_service
from tests.console.conftest import HOSTILE
from tests.console.screens import cut_off_tables, look
from tests.e2e.service.conftest import BUCKET, CACHE, Context
from tests.support.trainers import pack_trainer

if TYPE_CHECKING:
    from playwright.sync_api import Browser, Page

SETTINGS = """
cluster_address = "127.0.0.1:0"
[[regions]]
name = "europe-west4"
backend = "slurm"
partition = "gpu"
[regions.machines]
"n1-standard-4" = "--constraint=c4"
"""
LASTING = "import time\ntime.sleep(3600)\n"
IMAGE = "us-docker.pkg.dev/vertex-ai/training/sklearn-cpu.1-9.py311:latest"
PLACE = "projects/ads/locations/us-central1"


def submit(url: str, title: str, gpus: int) -> None:
    pool = {
        "machineSpec": {
            "machineType": "n1-standard-4",
            "acceleratorType": "NVIDIA_TESLA_T4",
            "acceleratorCount": gpus,
        },
        "replicaCount": 1,
        "pythonPackageSpec": {
            "executorImageUri": IMAGE,
            "packageUris": [f"gs://{BUCKET}/lasting.tar.gz"],
            "pythonModule": "trainer.task",
        },
    }
    job = {"displayName": title, "jobSpec": {"workerPoolSpecs": [pool]}}
    httpx.post(f"{url}/v1/{PLACE}/customJobs", json=job, timeout=60).raise_for_status()


@pytest.fixture(scope="module")
def busy(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningService]:
    """Of four GPUs two are held, and a job waits for four."""
    folder = tmp_path_factory.mktemp("capacity")
    data_dir = folder / "data"
    data_dir.mkdir()
    (data_dir / "footplate.toml").write_text(SETTINGS)
    gpus = "simulated:NVIDIA_TESLA_T4=4"
    with running_service(data_dir, CACHE, stop_grace_s=1, gpus=gpus) as service:
        context = Context(service)
        with context.client() as client:
            client.storage.upload(GcsUri(BUCKET, "lasting.tar.gz"), pack_trainer(LASTING))
            client.quotas.change("ads", "us-central1", {"NVIDIA_TESLA_T4": 8})
            client.quotas.change("*", "*", {"jobs": 20})
        submit(service.url, f"holds two {HOSTILE}", 2)

        def holds() -> bool:
            active = httpx.get(f"{service.url}/footplate/v1/status").json()["activeJobs"]
            return bool(active.get("PREPARING") or active.get("RUNNING"))

        context.until(holds)
        submit(service.url, f"waits {HOSTILE}", 4)
        yield service


def test_it_looks_right(browser: Browser, busy: RunningService, guarded: RunningService) -> None:
    look(browser, f"{busy.url}/capacity", "capacity", "#queue")
    signed = browser.new_context()
    page = signed.new_page()
    page.goto(f"{guarded.url}/sign-in")
    page.get_by_label("Token").fill("sesame")
    page.keyboard.press("Enter")
    expect(page.get_by_text("No jobs yet")).to_be_visible()
    cookies = signed.cookies()
    signed.close()
    look(browser, f"{guarded.url}/capacity", "capacity-empty", "h2", cookies, brief=True)


def test_it_shows_what_is_used_by_whom_and_why_jobs_wait(page: Page, busy: RunningService) -> None:
    page.goto(f"{busy.url}/capacity")
    away = page.get_by_role("region", name="europe-west4")
    expect(away).to_contain_text("does not answer")
    expect(away).to_contain_text("n1-standard-4")
    here = page.get_by_role("region", name="All other regions")
    expect(here.get_by_role("row", name="GPUs")).to_contain_text("2 of 4")
    expect(here.get_by_role("row", name="GPUs")).to_contain_text("2 free")
    row = page.locator("#allowances tr", has_text="NVIDIA_TESLA_T4")
    expect(row.get_by_role("cell").nth(2)).to_have_text("2")
    expect(row.get_by_role("cell").nth(3)).to_have_text("8")
    expect(page.locator("#allowances tr", has_text="each project").first).to_contain_text("20")
    expect(page.locator("#holding")).to_contain_text("2 \u00d7 NVIDIA_TESLA_T4")
    waiting = page.locator("#queue tbody tr")
    expect(waiting.get_by_role("cell").first).to_have_text("1")
    expect(waiting).to_contain_text("Waits for 4 GPUs")
    expect(page.get_by_role("link", name=f"waits {HOSTILE}", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=f"holds two {HOSTILE}", exact=True)).to_be_visible()
    expect(page.locator("img")).to_have_count(0)
    expect(page).to_have_title("Capacity · Footplate")
    page.set_viewport_size({"width": 400, "height": 900})
    assert cut_off_tables(page) == []


def test_it_follows_the_queue(page: Page, busy: RunningService) -> None:
    page.goto(f"{busy.url}/capacity")
    expect(page.locator("#queue tbody tr")).to_have_count(1)
    found = httpx.get(f"{busy.url}/footplate/v1/jobs?filter=state=QUEUED").json()["jobs"]
    httpx.post(f"{busy.url}/v1/{found[0]['name']}:cancel", timeout=60).raise_for_status()
    expect(page.get_by_text("No job waits.")).to_be_visible()


def test_it_is_for_those_who_signed_in(guarded: RunningService) -> None:
    headers = {"HX-Request": "true"}
    with httpx.Client(base_url=guarded.url, headers=headers) as client:
        assert client.get("/capacity").status_code == 401
