"""The pytest fixture ``footplate``: a service for one test.

pytest loads this in every project of an environment that has Footplate: so nothing is imported
before a test asks for the fixture.
"""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from collections.abc import Generator, Iterator

    from footplate.testing.workbench import Workbench


_WORKBENCH = pytest.StashKey["Workbench"]()


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Generator[None, Any, None]:
    """Adds failed jobs, with their last lines, to the report of a failed test."""
    outcome: Any = yield
    report = outcome.get_result()
    workbench = item.stash.get(_WORKBENCH, None)
    if report.failed and workbench is not None and (text := workbench.describe_failed_jobs()):
        report.sections.append(("Jobs that failed", text))


@pytest.fixture
def footplate_settings() -> dict[str, object]:
    """Returns the service's settings; define a fixture with this name to change them."""
    return {}


@pytest.fixture
def footplate(
    request: pytest.FixtureRequest,
    tmp_path_factory: pytest.TempPathFactory,
    footplate_settings: dict[str, object],
) -> Iterator[Workbench]:
    """Yields a training service on a free port, with its own data directory, for one test.

    Its jobs end with the test. Runtimes are cached where `footplate up` caches them.
    """
    from footplate.settings import load_settings
    from footplate.testing.service import running_service
    from footplate.testing.workbench import Workbench

    data_dir = tmp_path_factory.mktemp("footplate") / "data"
    cache = load_settings(os.environ).cache
    with running_service(data_dir, cache, **footplate_settings) as service:
        workbench = request.node.stash[_WORKBENCH] = Workbench(service)
        yield workbench
