"""Alembic's environment: runs migrations in the given transaction."""

from __future__ import annotations

from alembic import context

from footplate.store.tables import REVISION_TABLE, metadata

context.configure(
    connection=context.config.attributes["connection"],
    target_metadata=metadata,
    version_table=REVISION_TABLE,
    render_as_batch=True,
)
with context.begin_transaction():
    context.run_migrations()
