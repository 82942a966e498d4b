"""The command line in this process, against a fake service."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest
from click.testing import CliRunner, Result

from footplate.cli.main import main
from tests.support.fake_service import FakeService


@pytest.fixture
def fake() -> Iterator[FakeService]:
    with FakeService() as fake:
        yield fake


@pytest.fixture
def invoke(fake: FakeService, monkeypatch: pytest.MonkeyPatch) -> Callable[..., Result]:
    """Run ``footplate WORDS``; an exception that is no exit is raised."""
    for name in ("FOOTPLATE_TOKEN", "FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    for name in ("GOOGLE_CLOUD_PROJECT", "CLOUDSDK_AI_REGION", "CLOUDSDK_COMPUTE_REGION"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("FOOTPLATE_URL", fake.url)

    def run(*words: str) -> Result:
        result = CliRunner().invoke(main, words, prog_name="footplate")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    return run
