"""What Alembic runs: migrations in the transaction that ``migrating.upgrade`` gives."""

from __future__ import annotations

from alembic import context

from lydite.server.database.tables import metadata

connection = context.config.attributes["connection"]
context.configure(connection=connection, target_metadata=metadata)
context.run_migrations()
