"""The ledger: a run folder, its chain of verdicts, and the proof that nothing in it was changed."""

from lydite.ledger.audit import Audit, Problem
from lydite.ledger.folder import RunFolder
from lydite.ledger.info import RunInfo, State
from lydite.ledger.record import Graded, Mark, Record, Row
from lydite.ledger.verify import verify_run

__all__ = ["Audit", "Graded", "Mark", "Problem", "Record", "Row", "RunFolder", "RunInfo", "State", "verify_run"]
