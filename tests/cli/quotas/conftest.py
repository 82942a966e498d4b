"""A service that knows quotas, and nothing else."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

import pytest
from click.testing import CliRunner, Result

from footplate.api.app import create_app
from footplate.api.footplate_v1.quotas import quota_routes
from footplate.api.security import Access
from footplate.cli.main import main
from footplate.control.quotas import EffectiveQuotas, QuotaBook
from footplate.domain.quotas import Quota
from footplate.domain.resources import Amounts
from tests.support.http_server import serve
from tests.support.quotas import CATALOGUE, MemoryQuotas


@dataclass
class Quotas:
    """What is stored, and what jobs hold."""

    store: MemoryQuotas = field(default_factory=MemoryQuotas)
    held: dict[tuple[str, str], Amounts] = field(default_factory=dict)

    def usage(self, project: str, region: str) -> Amounts:
        return self.held.get((project, region), {})


@pytest.fixture
def quotas() -> Quotas:
    return Quotas()


@pytest.fixture
def configured() -> tuple[Quota, ...]:
    return (Quota("*", "*", {"vcpus": 96}), Quota("maps", "europe-west4", {"jobs": 2}))


@pytest.fixture
def invoke(
    quotas: Quotas, configured: tuple[Quota, ...], monkeypatch: pytest.MonkeyPatch
) -> Iterator[Callable[..., Result]]:
    """Run ``footplate quotas WORDS``; an exception that is no exit is raised."""
    for name in ("FOOTPLATE_TOKEN", "FOOTPLATE_PROJECT", "CLOUDSDK_CORE_PROJECT"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.delenv("GOOGLE_CLOUD_PROJECT", raising=False)
    monkeypatch.setenv("CLOUDSDK_AI_REGION", "europe-west4")

    def run(*words: str) -> Result:
        result = CliRunner().invoke(main, ("quotas", *words), prog_name="footplate")
        if result.exception is not None and not isinstance(result.exception, SystemExit):
            raise result.exception
        return result

    book = QuotaBook(
        EffectiveQuotas(quotas.store, configured, CATALOGUE), quotas.usage, lambda: None
    )
    with serve(create_app(quota_routes(book), Access(None, frozenset()))) as url:
        monkeypatch.setenv("FOOTPLATE_URL", url)
        yield run
