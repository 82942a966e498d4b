"""The port of log uploads over SQL: a row for each job whose event files are still read."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from footplate.domain.names import JobUid
from footplate.domain.tracking.event_logs import LogUpload
from footplate.store.documents import UploadBody, read, write
from footplate.store.tables import log_uploads as table
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from footplate.store.transactions import Transactions


class SqlLogUploads:
    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def put(self, upload: LogUpload) -> None:
        body = UploadBody(upload.experiment, upload.directory, upload.positions, upload.trial)
        with self._transactions.writing() as connection:
            upsert(connection, table, [{"uid": upload.uid, "body": write(body)}], "body")

    def all(self) -> tuple[LogUpload, ...]:
        with self._transactions.reading() as connection:
            rows = connection.execute(select(table).order_by(table.c.uid)).all()
        found = ((JobUid(row.uid), read(UploadBody, row.body)) for row in rows)
        return tuple(LogUpload(uid=uid, **vars(body)) for uid, body in found)

    def delete(self, uid: JobUid) -> None:
        with self._transactions.writing() as connection:
            connection.execute(delete(table).where(table.c.uid == uid))
