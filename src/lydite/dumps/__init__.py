"""Dumps: what other trainers wrote of their rollouts, made into run folders."""

from lydite.dumps.attempts import Attempt, Dump
from lydite.dumps.importing import Imported, import_dump
from lydite.dumps.judging import Judging
from lydite.dumps.recorded import Recorded
from lydite.dumps.trl import TrlDump
from lydite.dumps.verl import VerlDump

__all__ = ["Attempt", "Dump", "Imported", "Judging", "Recorded", "TrlDump", "VerlDump", "import_dump"]
