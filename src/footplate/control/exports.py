"""Copies the files of models to the buckets that exports name."""

from __future__ import annotations

import logging
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import replace
from threading import Event

from footplate.control.models import change_model
from footplate.domain.errors import Aborted, Code, NotFound, ServiceError
from footplate.domain.model_registry import Export, end_export
from footplate.domain.names import GcsUri, ModelName
from footplate.ports.buckets import Buckets
from footplate.ports.clock import Clock
from footplate.ports.models import ModelStore

_CHUNK_BYTES = 1 << 20
_log = logging.getLogger(__name__)


class _Closed(Exception):
    """The server stops; the next one copies the files again."""


class Exports:
    """Copies the files of exports; an interrupted export simply starts again."""

    def __init__(self, store: ModelStore, buckets: Buckets, clock: Clock) -> None:
        self._store = store
        self._buckets = buckets
        self._clock = clock
        self._closed = Event()

    def close(self) -> None:
        """Stops copying."""
        self._closed.set()

    def step(self) -> None:
        """Carries out all exports that haven't ended."""
        for model in self._store.exporting():
            for export in model.exports:
                if export.end_time is None:
                    self._do(model.name, export)

    def _do(self, name: ModelName, export: Export) -> None:
        code, message = Code.OK, ""
        try:
            self._copy(export)
        except _Closed:
            return
        except ServiceError as error:
            code, message = error.code, error.message
        except OSError as error:
            code, message = Code.UNAVAILABLE, f"{export.source} can't be copied: {error}"
        if message:
            _log.error("export %d of %s failed: %s", export.number, name, message)
        self._end(name, replace(export, end_time=self._clock.now(), code=code, message=message))

    def _copy(self, export: Export) -> None:
        """Copies the files of an export. Raises NotFound: there are no files."""
        source, target = GcsUri.parse(export.source, ""), GcsUri.parse(export.destination, "")
        folder = f"{source.path.rstrip('/')}/" if source.path else ""
        copied, token = 0, None
        while True:
            page = self._buckets.list(source.bucket, prefix=folder, token=token)
            for found in page.objects:
                name = target.path + found.name.removeprefix(folder)
                chunks = self._chunks(source.bucket, found.name)
                self._buckets.write(target.bucket, name, chunks, content_type=found.content_type)
                copied += 1
            token = page.next_token
            if token is None:
                break
        if not copied:
            raise NotFound(f"the folder {export.source} has no files to export")

    def _chunks(self, bucket: str, name: str) -> Iterator[bytes]:
        with self._buckets.read(bucket, name) as file:
            while chunk := file.read(_CHUNK_BYTES):
                if self._closed.is_set():
                    raise _Closed
                yield chunk

    def _end(self, name: ModelName, export: Export) -> None:
        # The model was deleted meanwhile; or others write to it, and the next step ends it.
        with suppress(NotFound, Aborted):
            change_model(self._store, name, lambda model: end_export(model, export))
