"""Finds what earlier jobs left in the output directory of a new one.

A program that finds another one's checkpoints in its directory goes on from them, or ends at once
and reports their metrics as its own.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Sequence

from footplate.domain.errors import ServiceError, Violation
from footplate.domain.formatting import quoted, shortened
from footplate.domain.jobs import Job
from footplate.domain.names import GcsUri
from footplate.domain.output_directories import output_directory
from footplate.domain.submission import Submission
from footplate.ports.buckets import Buckets

_STAGED = "packages/"
"""Where clients put the packages of a job below its directory, before they submit it."""
_TRIAL = re.compile(r"[1-9][0-9]{0,8}/")
_MAX_PAGES = 20


def trial_violations(submission: Submission, last: int, buckets: Buckets) -> Iterator[Violation]:
    """Yields a violation if a trial of a resumed search, after ``last``, would find files."""
    if not last or submission.search is None:
        return
    directory = output_directory(submission.spec)
    wanted = range(last + 1, last + submission.search.counts.trials + 1)
    entries = _entries(directory, buckets)
    found = (int(each[:-1]) for each in entries if _TRIAL.fullmatch(each))
    taken = min((number for number in found if number in wanted), default=None)
    if taken is None:
        return
    place = shortened(f"{directory}/{taken}/")
    said = f"{place} isn't empty: trial {taken} of this job would read the files in it as its own"
    way = "give another directory, or move the old directory away"
    yield Violation(submission.spec.directories[0].field, f"{said}; {way}")


def warn_of_owner(
    submission: Submission, writing_to: Callable[[str], Sequence[Job]], buckets: Buckets
) -> Iterator[str]:
    """Yields a warning if the output directory isn't empty and another job writes to it.

    ``writing_to`` returns the jobs with an output directory, the newest first. It reads all jobs,
    so the directory is checked first.
    """
    directory = output_directory(submission.spec)
    if not directory or not any(each != _STAGED for each in _entries(directory, buckets)):
        return
    owners = writing_to(directory)
    if not owners:
        return
    said = f"{shortened(directory)} isn't empty: {_name(owners[0], submission)} writes there, too"
    if owners[0].state.terminal:
        said = f"{shortened(directory)} isn't empty: {_name(owners[0], submission)} wrote there"
    risk = "the program may go on from that job's checkpoints, or report its results as new ones"
    field = submission.spec.directories[0].field
    yield f"{said}; {risk}. If you don't want this, give another {field}"


def _name(job: Job, submission: Submission) -> str:
    if job.name.project != submission.name.project:
        return "a job of another project"
    name = job.name.job_id
    called = "" if job.display_name in ("", name) else f" ({quoted(job.display_name)})"
    return f"job {name}{called}"


def _entries(directory: str, buckets: Buckets) -> Iterator[str]:
    """Yields the names in a directory of a bucket, folders with a slash; other paths have none."""
    if not directory.startswith("gs://"):
        return
    try:
        uri, token = GcsUri.parse(directory, ""), None
        prefix = f"{uri.path.rstrip('/')}/" if uri.path else ""
        for _ in range(_MAX_PAGES):
            page = buckets.list(uri.bucket, prefix=prefix, delimiter="/", token=token)
            names = (*page.prefixes, *(found.name for found in page.objects))
            yield from (name[len(prefix) :] for name in names if name != prefix)
            token = page.next_token
            if token is None:
                return
    except ServiceError:  # it can't be looked at, which other checks refuse where it matters
        return
