"""Bringing tables to today's shape with Alembic, in a transaction that is under way."""

from __future__ import annotations

from pathlib import Path

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import Connection

_SCRIPTS = Path(__file__).parent / "migrations"


def knows(revision: str) -> bool:
    """Whether a revision is one of ours."""
    return revision in {script.revision for script in ScriptDirectory(str(_SCRIPTS)).walk_revisions()}


def upgrade(connection: Connection) -> None:
    """Carry out the migrations that are missing."""
    config = Config()
    config.set_main_option("script_location", str(_SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    command.upgrade(config, "head")
