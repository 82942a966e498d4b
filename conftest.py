import os
import signal
from collections.abc import Iterator

import pytest
from hypothesis import settings

from tests.support.postgresql import Postgresql, find_binaries, private_postgresql

if os.environ.get("CI") != "true":  # there Hypothesis has a profile of its own, without deadlines
    settings.register_profile("development", deadline=None)
    settings.load_profile("development")

# To be said before NumPy is imported. The last bits of sums, which a replay of a suggestion has to
# meet, depend on the number of threads, and the service gives its tuner one. Matrices are small
# here: threads that wait for each other on a busy machine take a hundred times as long.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

# Begun in a shell's background, what is started here would ignore Ctrl-C.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)


@pytest.fixture(scope="session")
def postgresql() -> Iterator[Postgresql]:
    """A running server; without its binaries tests are skipped, and in CI they fail."""
    binaries = find_binaries()
    if binaries is None:
        reason = "no PostgreSQL server found (Debian: apt-get install postgresql)"
        if os.environ.get("CI") == "true":
            pytest.fail(reason)
        pytest.skip(reason)
    with private_postgresql(binaries) as server:
        yield server
