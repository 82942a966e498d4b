"""The quota port over SQL."""

from __future__ import annotations

from collections.abc import Mapping
from itertools import groupby
from typing import TYPE_CHECKING

from sqlalchemy import delete, select

from footplate.domain.quotas import Quota
from footplate.domain.text_validation import storable
from footplate.ports.notifications import NoticeKind
from footplate.store.input_checks import check_quota_texts
from footplate.store.tables import quotas
from footplate.store.transactions import Transactions
from footplate.store.upsert import upsert

if TYPE_CHECKING:
    from sqlalchemy import ColumnElement

_ALL = select(quotas).order_by(quotas.c.project, quotas.c.region, quotas.c.resource)
"""Put together once: that takes as long as the rest."""


class SqlQuotas:
    """Stores quotas in SQL; any number of threads and servers may use it at once."""

    def __init__(self, transactions: Transactions) -> None:
        self._transactions = transactions

    def list(self) -> tuple[Quota, ...]:
        with self._transactions.reading() as connection:
            rows = connection.execute(_ALL).all()
        return tuple(
            Quota(project, region, {row.resource: row.amount for row in limits})
            for (project, region), limits in groupby(rows, lambda row: (row.project, row.region))
        )

    def change(self, project: str, region: str, limits: Mapping[str, int | None]) -> None:
        check_quota_texts(project, region, limits)
        with self._transactions.writing() as connection:
            # In one order everywhere: else two writers could each wait for the other's row.
            for resource in sorted(limits):
                amount = limits[resource]
                if amount is None:
                    here = _at(project, region) & (quotas.c.resource == resource)
                    connection.execute(delete(quotas).where(here))
                else:
                    row = {"project": project, "region": region, "resource": resource}
                    upsert(connection, quotas, [{**row, "amount": amount}], "amount")
            self._transactions.tell(connection, NoticeKind.QUOTAS)

    def remove(self, project: str, region: str) -> None:
        if not (storable(project) and storable(region)):
            return
        with self._transactions.writing() as connection:
            connection.execute(delete(quotas).where(_at(project, region)))
            self._transactions.tell(connection, NoticeKind.QUOTAS)


def _at(project: str, region: str) -> ColumnElement[bool]:
    return (quotas.c.project == project) & (quotas.c.region == region)
