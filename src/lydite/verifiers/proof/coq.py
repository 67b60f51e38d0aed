"""Coq (Rocq): a candidate's file against the grader's statement.

Covered: the statement is compiled from the grader's text alone, so notations, scopes, or another definition of the same
name in the candidate's file cannot change what is proved; the proof is compared with it by the kernel, in another run
of the prover than the candidate's; what it rests on is read there by full name, and an axiom of the candidate's own is
never allowed; ``coqchk`` checks the compiled proof once more with a kernel of its own, so that guard, positivity or
universe checks that were switched off show. Not covered: faults of both kernels.

Files: ``Given`` holds what stands before the statement (definitions, notations); ``Statement`` the statement, admitted,
never on the candidate's path; ``Candidate`` the completion; ``Check`` compares.
"""

from __future__ import annotations

import re
import shutil
from collections.abc import Mapping
from functools import lru_cache
from pathlib import Path

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import ExecResult, Status
from lydite.verifiers.proof import tool
from lydite.verifiers.proof.outcome import Outcome
from lydite.verifiers.proof.sentences import is_replayed, name_of, plain, sentences

_AXIOM = re.compile(r"^([^\s:]+)(?=\s*:|\s*$)", re.MULTILINE)
_UNSAFE = re.compile(r"^\S+ (?:is assumed|is positive|relies on|is treated)", re.MULTILINE)
_EXPANDS = re.compile(r"Expands to:\s+\w+\s+(\S+)")
_SUMMARY = re.compile(r"^\* (Constants/Inductives relying on .*|Inductives whose .*):(?! <none>)", re.MULTILINE)
_CONFIG = ("OCAMLFIND_CONF", Path("/etc/ocamlfind.conf"))


class Coq:
    """One statement.

    Args:
        statement: ``Theorem NAME ... : ... .``, with what it needs before it: imports, definitions, notations.
        allowed: axioms that a proof may rest on, by full name or the end of one.

    Raises:
        InputError: the statement does not compile, or states nothing.
        UnavailableError: no Coq here, or it does not run in the sandbox.
    """

    language = "coq"

    def __init__(self, statement: str, allowed: tuple[str, ...], seconds: float, memory_mb: int) -> None:
        self.allowed, self._limits = allowed, tool.limits(seconds, memory_mb)
        self._compile, self._check = _commands()
        said = sentences(statement.strip() if statement.strip().endswith(".") else statement.strip() + ".")
        name = name_of(said[-1]) if said else None
        if name is None or ":=" in said[-1]:
            remedy = "its last sentence is Theorem NAME : ..., without the proof"
            raise InputError("states no theorem", field="statement", remedy=remedy)
        self.name, self._statement, self._before = name, said[-1], said[:-1]
        self._header = "\n".join([s for s in self._before if is_replayed(s)] + ["Require Import Given.", ""])
        self._given, self._stated = self._prepare()

    def _prepare(self) -> tuple[bytes, bytes]:
        script = (
            f"{self._compile} Given.v >&2 && {self._compile} Statement.v >&2"
            " && base64 -w0 Given.vo && echo && base64 -w0 Statement.vo"
        )
        files = {
            "Given.v": "\n".join(self._before) + "\n",
            "Statement.v": f"{self._header}{self._statement}\nAdmitted.\n",
        }
        result = self._run(script, files)
        made = tool.files_in(result, 2)
        if made is None:
            raise InputError(
                f"does not compile: {tool.words(result)}", field="statement", remedy="see the prover's words"
            )
        return made[0], made[1]

    def _run(self, script: str, files: Mapping[str, bytes | str]) -> ExecResult:
        variable, path = _CONFIG
        if path.is_file():  # what Debian's OCaml looks for below /etc, which the sandbox does not show
            return tool.run(
                script, {**files, "findlib.conf": path.read_bytes()}, {variable: "findlib.conf"}, self._limits
            )
        return tool.run(script, files, {}, self._limits)

    def source(self, text: str) -> str:
        """The candidate's file: its text without what the task gives anyway; behind the statement where it is a proof
        alone."""
        known = {plain(sentence) for sentence in self._before}
        own = [sentence for sentence in sentences(text) if plain(sentence) not in known]
        if not any(name_of(sentence) == self.name for sentence in own):
            imports = [sentence for sentence in own if is_replayed(sentence)]
            own = [*imports, self._statement, *(sentence for sentence in own if not is_replayed(sentence))]
        return self._header + "\n".join(own) + "\n"

    def judge(self, text: str) -> Outcome:
        """Compile the candidate's file, compare what it proves, ask what it rests on, check it again."""
        result = self._run(
            f"{self._compile} Candidate.v >&2 && base64 -w0 Candidate.vo",
            {"Given.vo": self._given, "Candidate.v": self.source(text)},
        )
        if reason := tool.failure(result):
            return Outcome(reason)
        made = tool.files_in(result, 1) if result.status is Status.OK else None
        if made is None:
            return Outcome("does_not_compile", tool.words(result))
        files: dict[str, bytes | str] = {"Given.vo": self._given, "Statement.vo": self._stated, "Candidate.vo": made[0]}
        check = (
            "Require Given Statement Candidate.\n"
            f"Definition lydite_check : ltac:(let t := type of @Statement.{self.name} in exact t)"
            f" := @Candidate.{self.name}.\n"
            "Print Assumptions lydite_check.\n"
        )
        script = f"{self._compile} Check.v && {self._check} -silent -o -norec Candidate -norec Check >&2"
        result = self._run(script, {**files, "Check.v": check})
        if reason := tool.failure(result):
            return Outcome(reason)
        said = result.stdout.decode("utf-8", "replace")
        if "Axioms:" not in said and "Closed under the global context" not in said:
            missing = f"Candidate.{self.name} was not found" in " ".join(tool.words(result).split())
            return Outcome("not_proved" if missing else "statement_changed", tool.words(result))
        if _UNSAFE.search(said):
            return Outcome("unsafe", said.strip()[:600])
        if "Axioms:" in said and (outcome := self._rests_on(said, files)) is not None:
            return outcome
        summary = result.stderr.decode("utf-8", "replace")
        if result.status is not Status.OK or "CONTEXT SUMMARY" not in summary or _SUMMARY.search(summary):
            return Outcome("unsafe", tool.words(result))
        return Outcome("correct")

    def _rests_on(self, said: str, files: dict[str, bytes | str]) -> Outcome | None:
        """What is wrong with the axioms of a proof; ``None`` where all are allowed."""
        shown = [name for name in _AXIOM.findall(said.partition("Axioms:")[2]) if name]
        about = "Require Given Statement Candidate.\n" + "".join(f"About {name}.\n" for name in shown)
        result = self._run(f"{self._compile} About.v", {**files, "About.v": about})
        full = tuple(_EXPANDS.findall(result.stdout.decode("utf-8", "replace")))
        if len(full) != len(shown):
            return Outcome("axioms", said.strip()[:600], tuple(shown))
        wrong = tuple(name for name in full if not self._may(name))
        if not wrong:
            return None
        own = f"Candidate.{self.name}" in wrong
        return Outcome("admitted" if own else "axioms", ", ".join(wrong)[:600], full)

    def _may(self, name: str) -> bool:
        own = name.partition(".")[0] in ("Candidate", "Check")
        return not own and any(name == allowed or name.endswith("." + allowed) for allowed in self.allowed)


@lru_cache(maxsize=1)
def _commands() -> tuple[str, str]:
    """The compiler and the checker: ``coqc`` and ``coqchk``, or those of a newer Rocq."""
    compiler = shutil.which("coqc") or (f"{found} compile" if (found := shutil.which("rocq")) else None)
    checker = shutil.which("coqchk") or shutil.which("rocqchk")
    if compiler is None or checker is None:
        raise UnavailableError("proofs in Coq need coqc and coqchk on PATH (Debian: apt-get install coq)")
    return f"{compiler} -q", checker
