"""How many files the service and its programs may have open."""

from __future__ import annotations

import resource
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from urllib.request import urlopen

import pytest

from footplate.domain.errors import Unavailable
from footplate.domain.job_states import State
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE, Context
from tests.support.deadlines import EVENT_S

LIMIT = "import resource; print(resource.getrlimit(resource.RLIMIT_NOFILE)[0])"


@contextmanager
def soft_limit(most: int) -> Iterator[int]:
    """Of this process, and of what it starts; gives the hard one."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (most, hard))
    try:
        yield hard
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


@pytest.mark.usefixtures("started_services")
def test_the_service_takes_all_it_may_and_programs_have_what_it_was_given(tmp_path: Path) -> None:
    with soft_limit(700) as hard, running_service(tmp_path / "data", CACHE) as service:
        context = Context(service)
        assert resource.prlimit(service.pid, resource.RLIMIT_NOFILE) == (hard, hard)
        assert f"up to {hard} files and connections open at once" in service.log.read_text()
        name = context.submit(LIMIT)
        context.wait_for(name, State.SUCCEEDED)
        assert [line.message for line in context.lines(name)] == ["700"]


def test_no_job_loses_its_package_where_few_files_may_be_open(tmp_path: Path) -> None:
    with running_service(tmp_path / "data", CACHE) as service:
        context = Context(service)
        names = [context.submit("print('ran')") for _ in range(2)]
        resource.prlimit(service.pid, resource.RLIMIT_NOFILE, (64, 64))

        def ask() -> None:
            try:
                urlopen(f"{service.url}/v1/projects/demo/jobs").read()  # noqa: S310  loopback
            except OSError:
                return  # it says that it can't now, or nothing

        askers = [threading.Thread(target=ask, daemon=True) for _ in range(60)]
        for asker in askers:
            asker.start()
        deadline = time.monotonic() + EVENT_S
        while names:
            assert time.monotonic() < deadline, service.log.read_text()
            with suppress(Unavailable):  # it says that it can't now
                context.wait_for(names[-1], State.SUCCEEDED)
                names.pop()
        for asker in askers:
            asker.join()
