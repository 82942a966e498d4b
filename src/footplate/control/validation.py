"""Validates a job without creating anything."""

from __future__ import annotations

from collections.abc import Callable

from footplate.control.preflight import NOTHING, Staging
from footplate.control.submission_checks import SubmissionChecks
from footplate.domain.admission import Explanation
from footplate.domain.catalogue import Catalogue
from footplate.domain.errors import NotFound, ServiceError, name_taken
from footplate.domain.jobs import JobSpec
from footplate.domain.machine_hours import NO_PRICES, Prices
from footplate.domain.names import TrainingJobName
from footplate.domain.preview.advice import shortcomings
from footplate.domain.preview.parity import parity_of
from footplate.domain.preview.plan import JOB_ID, Plan, plan
from footplate.domain.preview.verdict import Outlook, Verdict
from footplate.domain.sites import Site
from footplate.domain.submission import Submission
from footplate.ports.store import Store
from footplate.wire.json_model import THE_REST


class Validation:
    """Validates jobs.

    ``site`` returns the capacity of a region. ``outlook`` explains why a job would wait; None: it
    would start at once.
    """

    def __init__(
        self,
        store: Store,
        submission_checks: SubmissionChecks,
        catalogue: Catalogue,
        site: Callable[[str], Site],
        outlook: Callable[[JobSpec, str], Explanation | None],
        check_room: Callable[[], None] = lambda: None,
        prices: Prices = NO_PRICES,
    ) -> None:
        """Stores the dependencies; ``check_room`` raises Unavailable if the disk is full."""
        self._store = store
        self._submission_checks = submission_checks
        self._catalogue = catalogue
        self._site = site
        self._outlook = outlook
        self._check_room = check_room
        self._prices = prices

    def validate(self, submission: Submission, staging: Staging = NOTHING) -> Verdict:
        """Returns the result that a submit would have, after the uploads in ``staging``."""
        violations = self._submission_checks.violations(submission, staging)
        wrong = {violation.field for violation in submission.violations} | {THE_REST}
        absent = [violation for violation in violations if violation.field not in wrong]
        refusal = None if violations else self._refusal(submission, staging)
        accepted = not violations and refusal is None
        return Verdict(
            violations=violations,
            warnings=self._warnings(submission, staging, accepted=accepted),
            parity=parity_of(submission, self._catalogue, absent),
            refusal=None if refusal is None else refusal.message,
            plan=self._plan(submission) if accepted else None,
            queue=self._queue(submission) if accepted else None,
        )

    def _refusal(self, submission: Submission, staging: Staging) -> ServiceError | None:
        """Returns the first error that a submit would return, in the order in which it checks."""
        refusal = self._submission_checks.refusal(submission, staging) or self._no_room()
        name = submission.name
        if refusal is not None or not isinstance(name, TrainingJobName):
            return refusal
        try:
            self._store.get(name)
        except NotFound:
            return None
        return name_taken(name)

    def _no_room(self) -> ServiceError | None:
        try:
            self._check_room()
        except ServiceError as error:
            return error
        return None

    def _warnings(
        self, submission: Submission, staging: Staging, *, accepted: bool
    ) -> tuple[str, ...]:
        """Returns warnings; those about the site only for an accepted job.

        A refused job may be too large to examine.
        """
        spec, site = submission.spec, self._site(submission.spec.region)
        here = shortcomings(spec, self._catalogue, site) if accepted else ()
        return (*self._submission_checks.warnings(submission, staging), *here)

    def _plan(self, submission: Submission) -> Plan:
        spec, name = self._submission_checks.spec(submission), submission.name
        job_id = name.job_id if isinstance(name, TrainingJobName) else JOB_ID
        site = self._site(spec.region)
        return plan(
            spec,
            self._catalogue,
            site,
            job_id=job_id,
            search=submission.search,
            first=self._submission_checks.last_number(submission) + 1,
            prices=self._prices,
        )

    def _queue(self, submission: Submission) -> Outlook:
        explanation = self._outlook(submission.spec, submission.name.project)
        if explanation is None:
            return Outlook(starts_now=True)
        return Outlook(starts_now=False, place=explanation.place, text=explanation.text)
