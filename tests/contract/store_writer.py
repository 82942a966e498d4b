"""Writes one job again and again, and says each version once it is kept; until it is killed."""

import sys
from dataclasses import replace

from footplate.domain.jobs import JobEvent
from footplate.domain.names import JobUid
from footplate.store import open_store
from tests.support.jobs import CREATED

store = open_store(sys.argv[1])
while True:
    job = store.get_by_uid(JobUid(sys.argv[2]))
    version = job.version + 1
    events = [JobEvent(CREATED, "NOTE", f"{version}{half}") for half in "ab"]
    store.update(replace(job, version=version, attempt=version), events)
    print(version, flush=True)
