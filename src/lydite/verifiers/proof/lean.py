"""Lean 4: a candidate's file against the grader's statement.

Covered: the statement is elaborated from the grader's text alone, in a namespace and a module of its own. A program of
ours loads the compiled modules as data (no syntax, macro or initialiser of the candidate's runs in it), compares the
types of the two theorems as terms, collects what the candidate's rests on, and has the kernel check all that the
candidate's module declares once more. Not covered: faults of the kernel.
"""

from __future__ import annotations

import json
import re
import shutil
from functools import lru_cache

from lydite.errors import InputError, UnavailableError
from lydite.sandbox import ExecResult, Status
from lydite.verifiers.proof import tool
from lydite.verifiers.proof.outcome import Outcome

_IMPORT = re.compile(r"^import [^\n]*$", re.MULTILINE)
_THEOREM = re.compile(r"^[ \t]*(?:theorem|lemma)[ \t]+([\w.'«»]+)", re.MULTILINE)
_PROOF = re.compile(r":=\s*(?:by\s+sorry|by|sorry)?\s*$")
_SPACE = "LyditeStatement"
_CHECK = """import Lean
import Lean.Replay
open Lean

def say (reason : String) (axioms : List Name := []) : IO Unit :=
  IO.println (Json.mkObj [("reason", Json.str reason),
    ("axioms", Json.arr (axioms.map (fun name => Json.str name.toString)).toArray)]).compress

def main : IO Unit := do
  initSearchPath (← findSysroot) ["."]
  let stated ← importModules #[{module := `Statement}] {}
  let proved ← importModules #[{module := `Candidate}] {}
  let name := "@NAME@".toName
  let some wanted := stated.find? (`LyditeStatement ++ name) | throw (IO.userError "no statement")
  let some found := proved.find? name | say "not_proved"
  unless found matches .thmInfo _ do
    return ← say "not_proved"
  let levels := found.levelParams.map Level.param
  unless wanted.levelParams.length == levels.length
      && wanted.type.instantiateLevelParams wanted.levelParams levels == found.type do
    return ← say "statement_changed"
  let (_, state) := ((CollectAxioms.collect name).run proved).run {}
  let some index := proved.getModuleIdx? `Candidate | throw (IO.userError "no module")
  let mut fresh : Std.HashMap Name ConstantInfo := {}
  for (constant, info) in proved.constants.map₁.toList do
    if proved.getModuleIdxFor? constant == some index then
      fresh := fresh.insert constant info
  let base ← importModules #[@IMPORTS@{module := `Given}] {}
  try
    discard <| base.replay fresh
  catch _ =>
    return ← say "unsafe"
  say "proved" state.axioms.toList
"""


class Lean:
    """One statement.

    Args:
        statement: ``theorem NAME ... : ...``, with the imports and definitions that it needs before it.
        allowed: axioms that a proof may rest on, by full name (``propext``, ``Classical.choice``, ``Quot.sound``).

    Raises:
        InputError: the statement does not elaborate, or states nothing.
        UnavailableError: no Lean 4 here, or it does not run in the sandbox.
    """

    language = "lean"

    def __init__(self, statement: str, allowed: tuple[str, ...], seconds: float, memory_mb: int) -> None:
        self.allowed, self._limits = allowed, tool.limits(seconds, memory_mb)
        self._lean = _command()
        self._imports, body = split_imports(statement)
        theorems = list(_THEOREM.finditer(body))
        if not theorems:
            raise InputError("states no theorem", field="statement", remedy="it ends with: theorem NAME ... : ...")
        theorem = theorems[-1]
        self.name = theorem.group(1)
        self._before = body[: theorem.start()].strip()
        self._statement = _PROOF.sub("", body[theorem.start() :].strip()).rstrip()
        self._given, self._stated = self._prepare()

    def _prepare(self) -> tuple[bytes, bytes]:
        header = "".join(f"{line}\n" for line in self._imports)
        files: dict[str, bytes | str] = {
            "Given.lean": f"{header}{self._before}\n",
            "Statement.lean": f"{header}import Given\nnamespace {_SPACE}\n{self._statement} := sorry\nend {_SPACE}\n",
        }
        script = (
            f"{self._lean} -o Given.olean Given.lean >&2 && {self._lean} -o Statement.olean Statement.lean >&2"
            " && base64 -w0 Given.olean && echo && base64 -w0 Statement.olean"
        )
        result = self._run(script, files)
        made = tool.files_in(result, 2)
        if made is None:
            raise InputError(f"does not elaborate: {tool.words(result)}", field="statement", remedy="see Lean's words")
        return made[0], made[1]

    def _run(self, script: str, files: dict[str, bytes | str]) -> ExecResult:
        return tool.run(script, files, {"LEAN_PATH": "."}, self._limits)

    def source(self, text: str) -> str:
        """The candidate's file: its imports, those of the task, its text without what the task gives anyway; behind the
        statement where it is a proof alone."""
        imports, body = split_imports(text)
        own = body.replace(self._before, "", 1) if self._before else body
        if not any(match.group(1) == self.name for match in _THEOREM.finditer(own)):
            proof = own.strip().removeprefix(":=").strip()
            own = f"{self._statement} := {proof if proof.startswith('by') else 'by' + chr(10) + own}"
        lines = [*dict.fromkeys([*self._imports, *imports]), "import Given"]
        return "\n".join(lines) + f"\n{own}\n"

    def judge(self, text: str) -> Outcome:
        """Compile the candidate's file; compare, collect and replay in a program of ours."""
        result = self._run(
            f"{self._lean} -o Candidate.olean Candidate.lean >&2 && base64 -w0 Candidate.olean",
            {"Given.olean": self._given, "Candidate.lean": self.source(text)},
        )
        if reason := tool.failure(result):
            return Outcome(reason)
        made = tool.files_in(result, 1) if result.status is Status.OK else None
        if made is None:
            return Outcome("does_not_compile", tool.words(result))
        imports = [line.split()[-1] for line in split_imports(self.source(text))[0]]
        listed = "".join(f"{{module := `{name}}}, " for name in imports if name != "Given")
        check = _CHECK.replace("@NAME@", self.name).replace("@IMPORTS@", listed)
        files: dict[str, bytes | str] = {
            "Given.olean": self._given,
            "Statement.olean": self._stated,
            "Candidate.olean": made[0],
            "Check.lean": check,
        }
        result = self._run(f"{self._lean} --run Check.lean", files)
        if reason := tool.failure(result):
            return Outcome(reason)
        return self._said(result)

    def _said(self, result: ExecResult) -> Outcome:
        lines = result.stdout.decode("utf-8", "replace").strip().splitlines()
        try:
            said = json.loads(lines[-1]) if result.status is Status.OK and len(lines) == 1 else None
        except ValueError:
            said = None
        if said is None:
            return Outcome("unsafe", tool.words(result))
        axioms = tuple(said["axioms"])
        if said["reason"] != "proved":
            return Outcome(said["reason"])
        if "sorryAx" in axioms:
            return Outcome("admitted", "sorryAx", axioms)
        wrong = [name for name in axioms if name not in self.allowed]
        return Outcome("axioms", ", ".join(wrong)[:600], axioms) if wrong else Outcome("correct", axioms=axioms)


def split_imports(text: str) -> tuple[list[str], str]:
    """The import lines of a Lean file, and the rest."""
    return [line.strip() for line in _IMPORT.findall(text)], _IMPORT.sub("", text)


@lru_cache(maxsize=1)
def _command() -> str:
    found = shutil.which("lean")
    if found is None:
        raise UnavailableError("proofs in Lean need the command lean (version 4) on PATH")
    result = tool.run(f"{found} --version", {}, {}, tool.limits(60, 2048))
    if result.status is not Status.OK or b"version 4" not in result.stdout:
        words = tool.words(result)
        raise UnavailableError(f"lean does not run in the sandbox, which shows /usr alone: install it there ({words})")
    return found
