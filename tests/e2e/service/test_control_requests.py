"""Questions that stand with a whole server."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import httpx

from footplate.control.tokens import Bearer, Tokens
from footplate.domain.names import AttemptId
from footplate.testing.service import running_service
from tests.e2e.service.conftest import CACHE
from tests.support.deadlines import EVENT_S
from tests.support.supervisor_process import wait_until


def test_the_end_of_the_server_waits_for_no_question_and_answers_each(tmp_path: Path) -> None:
    """Not answered, they would hold it up for its grace, and then be cut off."""
    with running_service(tmp_path / "data", CACHE) as service, ThreadPoolExecutor() as pool:
        secret = (service.data_dir / "secret").read_bytes()
        token = Tokens(secret).issue(Bearer(AttemptId("0123456789-1"), "master-replica-0"))
        url, headers = (
            f"{service.url}/replica/v1/control-requests",
            {"Authorization": f"Bearer {token}"},
        )
        with httpx.Client(timeout=60) as client:
            # While a second one is taken as the same replica's, the first is let go.
            standing = [pool.submit(client.get, url, headers=headers) for _ in range(2)]
            wait_until(lambda: any(question.done() for question in standing), "a first answer")
            service.stop()
            answers = [question.result(EVENT_S) for question in standing]
    assert [answer.status_code for answer in answers] == [200, 200]
    assert [answer.json()["control_requests"] for answer in answers] == [[], []]
