"""Rules about what a policy can see and reach: graded text that it can read, nothing hidden, paths out of reach."""

from __future__ import annotations

import json
import re
import shlex
from collections.abc import Iterator
from typing import Any, Final

from lydite.task import Checker, Task
from lydite.tasksets._findings import Finding, Rule
from lydite.tasksets.checkers import STATE, nested, walk
from lydite.tasksets.paths import normal

_LONG = 20  # characters of a text that does not stand somewhere by chance
_ASSERTION = re.compile(r"\s*(?:assert\b.{8,}|self\.assert\w+\(.{4,})")
# Where containers keep their work, and a workspace has nothing.
_ELSEWHERE = re.compile(
    r"(?<![\w./~$})-])/(?:app|home|root|data|mnt|srv|var|opt|repo|code|testbed|input|output|logs|tests|solution)"
    r"(?:/[\w.*-]+)*/?(?![\w-])"
)
_INTERPRETERS: Final = frozenset(
    {"sh", "bash", "dash", "zsh", "python", "python3", "node", "perl", "ruby", "source", "."}
)
_HARMLESS: Final = frozenset({"cd", "true", "set", "export", ":"})


def hidden_findings(task: Task) -> Iterator[Finding]:
    """Graded text within reach of the policy, else what leaves nothing hidden from it."""
    own = _Own(task)
    for field, part in walk(task.checker):
        found = (
            own.tests(field, part)
            if part.type == "pytest"
            else own.cases(field, part)
            if part.type in ("code", "text_transform", "regex")
            else own.command(field, part)
            if part.type == "exit_code"
            else own.text(field, part)
        )
        if found is not None:
            yield found


def outside_findings(task: Task) -> Iterator[Finding]:
    """Paths that no workspace has."""
    own = _Own(task)
    for field, part in walk(task.checker):
        for name in ("paths", "test_paths", "files") if part.type in STATE else ():
            given = part.config.get(name)
            named = enumerate(given) if isinstance(given, list) else ((path, path) for path in given or ())
            for key, path in named:
                if (why := _outside(str(path).partition("::")[0])) is not None:
                    where = f"{field}.config.{name}.{key}"
                    yield own.finding("outside_workspace", f"{path!r:.80} {why}", where, _RELATIVE)
    if task.env == "workspace" and any(part.type in STATE for part in nested(task.checker)):
        texts = [("prompt", task.prompt_text)]
        texts += [
            (f"{field}.config.command", part.config["command"])
            for field, part in walk(task.checker)
            if part.type == "exit_code"
        ]
        for field, text in texts:
            if found := _ELSEWHERE.search(text):
                message = f"{found[0]!r:.80} lies outside of the workspace: a policy has nothing there"
                yield own.finding("outside_workspace", message, field, _RELATIVE)


_RELATIVE = "give a path relative to the workspace"


class _Own:
    """One task, and what its policy can read."""

    def __init__(self, task: Task) -> None:
        self.id, self.prompt, self.setup = task.id, task.prompt_text, task.setup_files

    def finding(self, rule: Rule, message: str, field: str, remedy: str) -> Finding:
        return Finding(rule=rule, message=message, task=self.id, field=field, remedy=remedy)

    def tests(self, field: str, part: Checker) -> Finding | None:
        """Hidden tests are not to stand in what can be read; and some are to be hidden."""
        where = f"{field}.config.files"
        files = part.config.get("files")
        if not isinstance(files, dict) or not files:
            given = part.config.get("test_paths")
            below = [_spelled(str(path).partition("::")[0]) for path in given] if isinstance(given, list) else []
            if not any(f"{_spelled(path)}/".startswith(f"{test}/") for path in self.setup for test in below):
                return None  # there are no tests at all, which the verifier says
            message = "the tests are files of the set-up, which the policy can read: it can write what they ask for"
            return self.finding("no_hidden_part", message, where, "give tests of the grader's own, with other values")
        shown = {_spelled(path): text for path, text in self.setup.items()}
        hidden = {path: text for path, text in files.items() if shown.get(_spelled(path)) != text}
        if not hidden:
            message = "every test is a file of the set-up too: the policy can read them all"
            return self.finding("no_hidden_part", message, where, "give tests of the grader's own, with other values")
        for path, text in hidden.items():
            wanted = [line.strip() for line in str(text).splitlines() if _ASSERTION.match(line)]
            if (place := self._tells(str(text), wanted)) is not None:
                return self._told(f"what {path} asserts", place)
        return None

    def cases(self, field: str, part: Checker) -> Finding | None:
        """Tests that are not to be seen."""
        tests = _tests(part)
        if not tests:
            return None
        shown = part.config.get("visible")
        seen = shown if isinstance(shown, list) else []
        hidden = [test for test in tests if test not in seen and not (isinstance(test, dict) and _input(test) in seen)]
        name = {"code": "tests", "text_transform": "cases", "regex": "must_match"}[part.type]
        where, remedy = f"{field}.config.{name}", "give some that stand nowhere that the policy can read"
        if not hidden:
            message = "everything that is tried is visible: an answer can list it"
            return self.finding("no_hidden_part", message, where, remedy)
        texts = [test for test in hidden if isinstance(test, str)]
        for text in texts if part.type == "code" else ():
            if (place := self._tells(text, [])) == "setup":
                return self._told("a hidden test", place)
        if part.type == "regex" and all(_word(text, self.prompt) for text in texts if text.strip()):
            return self.finding("no_hidden_part", "the prompt gives every text that is tried", where, remedy)
        if all(isinstance(test, dict) and self._shows(test) for test in hidden):
            message = "the prompt gives the input and the expected output of every test: an answer can list them"
            return self.finding("no_hidden_part", message, where, remedy)
        return None

    def command(self, field: str, part: Checker) -> Finding | None:
        """A command that only runs what the policy can rewrite proves nothing."""
        files = {_spelled(path) for path in self.setup}
        runs = [_runs(words) for words in _commands(part.config["command"])]
        doing = [run for run in runs if run != ""]
        if not doing or not all(run is not None and _spelled(run) in files for run in doing):
            return None
        message = f"the command only runs {doing[0]}, a file of the set-up, which the policy can rewrite"
        remedy = "compare what it prints with what it should, or use pytest or script, whose files are the grader's"
        return self.finding("no_hidden_part", message, f"{field}.config.command", remedy)

    def text(self, field: str, part: Checker) -> Finding | None:
        """A grader's text in a file of the set-up. (The prompt is looked at elsewhere.)"""
        name = {"script": "script", "sql": "reference"}.get(part.type)
        text = part.config.get(name) if name else None
        if isinstance(text, str) and self._tells(text, []) == "setup":
            return self._told(f"the {name}", "setup")
        return None

    def _shows(self, test: dict[str, Any]) -> bool:
        expected = test.get("expected")
        said = expected if isinstance(expected, str) else json.dumps(expected)
        given = test.get("input") if "input" in test else test.get("args")
        items = given if isinstance(given, list) else [given]
        texts = [item if isinstance(item, str) else json.dumps(item) for item in items]
        return bool(said.strip()) and all(_word(text.strip(), self.prompt) for text in (said, *texts) if text.strip())

    def _tells(self, text: str, lines: list[str]) -> str | None:
        """Where a long text, or all of these lines, can be read: ``prompt``, ``setup`` or nowhere."""
        whole = text.strip()
        for place, readable in (("prompt", [self.prompt]), ("setup", list(self.setup.values()))):
            for held in readable:
                if len(whole) >= _LONG and whole in held:
                    return place
                if lines and all(line in held for line in lines):
                    return place
        return None

    def _told(self, what: str, place: str) -> Finding:
        if place == "prompt":
            remedy = "take it out of the prompt"
            return self.finding("gold_in_prompt", f"{what} stands in the prompt", "prompt", remedy)
        message = f"{what} stands in a file of the set-up, which the policy can read"
        return self.finding("gold_in_setup", message, "setup_files", "take it out of the set-up")


def _tests(part: Checker) -> list[Any]:
    """What a checker of answers tries."""
    names = {"code": ["tests"], "text_transform": ["cases"], "regex": ["must_match", "must_not_match"]}[part.type]
    given = [part.config.get(name) for name in names]
    return [test for tests in given if isinstance(tests, list) for test in tests]


def _input(test: dict[str, Any]) -> Any:
    """By which a case of a transform is named where it is visible; no value that a list holds for a test in code."""
    return test.get("input") if "call" not in test else None


def _outside(path: str) -> str | None:
    try:
        normal(path)
    except ValueError as error:
        return None if path in (".", "./") else str(error)
    return None


def _spelled(path: str) -> str:
    try:
        return normal(path)
    except ValueError:
        return path


def _word(text: str, held: str) -> bool:
    return re.search(rf"(?<!\w){re.escape(text)}(?!\w)", held) is not None


def _commands(line: str) -> list[list[str]]:
    """The simple commands of a line for the shell, as words; none where it is more than a list of commands."""
    if re.search(r"[|`<>]|\$\(", line):
        return []
    try:
        return [words for part in re.split(r"&&|;|\n", line) if (words := shlex.split(part, comments=True))]
    except ValueError:
        return []


def _runs(words: list[str]) -> str | None:
    """The file that a command runs; an empty text for a command that does nothing of account; None for any other."""
    name = words[0].rpartition("/")[2]
    if words[0] in _HARMLESS:
        return ""
    if name in _INTERPRETERS:
        files = [word for word in words[1:] if not word.startswith("-")]
        return files[0] if files and "-c" not in words and "-m" not in words else None
    return words[0]
