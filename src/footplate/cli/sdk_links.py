"""Rewrites the links that Google's SDK for Python logs into links to the console of the service.

``footplate run`` puts this file into a folder of PYTHONPATH, beside a ``sitecustomize.py`` that
calls ``install``. So it must run on Python 3.7, without this package, and cost nothing where the
SDK isn't imported.
"""

from __future__ import annotations

import os
import re
import sys
from importlib.machinery import PathFinder
from importlib.util import module_from_spec

_SDK = "google.cloud.aiplatform"
_LINK = re.compile(
    r"https://console\.cloud\.google\.com/(?:[a-z-]{1,40}/){1,6}locations/([a-z0-9-]+)/training/([0-9]+)"
    r"(?:/[a-z]+)?\?project=([^\s&]+)"
)


def rewrite(text: str, url: str) -> str:
    """Returns ``text`` with links to this service's pages of jobs, below ``url``, in place of
    Google's.

    The words before a link say which kind of job it is for; the link itself doesn't.
    """
    return _LINK.sub(lambda found: _page(text[: found.start()], found, url), text)


def _page(before: str, found: re.Match[str], url: str) -> str:
    words = before.lower()
    kind = "trainingPipelines"
    if "custom" in words:
        kind = "customJobs"
    elif "hyperparameter" in words:
        kind = "hyperparameterTuningJobs"
    location, job, project = found.groups()
    return f"{url.rstrip('/')}/jobs/projects/{project}/locations/{location}/{kind}/{job}"


class ImportWatcher:
    """An import hook that finds no module, but waits for the SDK's import to rewrite its log
    records.

    It loads ``logging`` only then.
    """

    def __init__(self, url: str) -> None:
        self._url = url

    def find_spec(self, name: str, path: object = None, target: object = None) -> None:  # noqa: ARG002 - Python's signature
        if name == _SDK:
            sys.meta_path.remove(self)
            rewrite_records(self._url)


def rewrite_records(url: str) -> None:
    """Makes all future log records of the SDK have links to this service."""
    import logging

    before = logging.getLogRecordFactory()

    def make(*args: object, **kw: object) -> logging.LogRecord:
        record: logging.LogRecord = before(*args, **kw)
        name = record.name  # None in makeLogRecord, which copies a record that has been here
        if name and name.startswith(_SDK) and isinstance(record.msg, str) and not record.args:
            record.msg = rewrite(record.msg, url)
        return record

    logging.setLogRecordFactory(make)


def run_next(folder: str) -> None:
    """Runs the ``sitecustomize.py`` that Python would have found without the one in ``folder``."""
    paths = [path for path in sys.path if os.path.abspath(path) != folder]  # noqa: PTH100 - sys.path has texts
    spec = PathFinder.find_spec("sitecustomize", paths)
    if spec is not None and spec.loader is not None:
        spec.loader.exec_module(module_from_spec(spec))


def install() -> None:
    url = os.environ.get("FOOTPLATE_URL", "")
    if url.startswith("http"):
        sys.meta_path.insert(0, ImportWatcher(url))
    run_next(os.path.dirname(os.path.abspath(__file__)))  # noqa: PTH100, PTH120 - as above
