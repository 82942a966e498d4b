"""Leads Google's gRPC clients, in programs that may call the API, to this service."""

from __future__ import annotations

from typing import TYPE_CHECKING

from footplate.control.program_calls import asks_for_access

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from footplate.domain.jobs import Job

_DIRECT = "localhost,127.0.0.1,::1"


class ProgramApi:
    """``projects`` is the setting ``api_access``.

    ``proxy`` returns the address of the proxy, None where programs aren't told from users by their
    connections or there is no proxy; ``make_account`` returns the key file of a made-up service
    account, of its project and its email.
    """

    def __init__(
        self,
        projects: Sequence[str] = (),
        proxy: Callable[[], str | None] = lambda: None,
        make_account: Callable[[str, str], str] = lambda _project, _email: "",
    ) -> None:
        self._projects = projects
        self._proxy = proxy
        self._make_account = make_account

    def variables(self, job: Job) -> tuple[tuple[str, str], ...]:
        """gRPC alone reads them: other clients of the program go where they went."""
        proxy = self._proxy()
        if proxy is None or not asks_for_access(job, self._projects):
            return ()
        project = job.name.project
        return (
            ("grpc_proxy", proxy),
            ("no_grpc_proxy", _DIRECT),
            ("GOOGLE_CLOUD_PROJECT", project),
        )

    def account(self, job: Job) -> str:
        """Empty: it isn't led."""
        email = job.spec.service_account
        return self._make_account(job.name.project, email) if email and self.variables(job) else ""
