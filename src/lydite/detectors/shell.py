"""What shell commands write, move and remove, as far as their text says so. Nothing is run or expanded.

A reader of words, not a shell: variables, substitutions, functions and programs that write on their own are not
followed. Text of programs in a command (``python -c``) is looked at by the words in it. Linear in the text."""

from __future__ import annotations

import re
from posixpath import join
from typing import NamedTuple

MAX_COMMAND = 200_000
"""Characters of one command that are read."""

_HEREDOC = re.compile(r"<<-?[ \t]*(['\"]?)([A-Za-z_]\w{0,40})\1")
_TOKEN = re.compile(
    r"(?P<end>&&|\|\||[;\n|&()])|(?P<out>\d?>>?\|?&?)|(?P<word>(?:\$\((?:'[^']{0,300}'|[^()']|\([^()]{0,200}\)){0,200}+\)|\\.|'[^']*'|\"(?:\\.|[^\"\\])*+\"|[^\s;&|()<>'\"\\])+)"
    r"|(?P<other>.)",
    re.DOTALL,
)
_QUOTED = re.compile(r"'([^']*)'|\"((?:\\.|[^\"\\])*)\"|\\(.)", re.DOTALL)
_ESCAPED = re.compile(r"\\(.)", re.DOTALL)
_ALL = {
    "rm",
    "unlink",
    "shred",
    "mv",
    "rename",
    "touch",
    "tee",
    "truncate",
    "chmod",
    "chown",
    "chattr",
    "patch",
    "rmdir",
}
_LAST = {"cp", "install", "ln", "rsync", "link"}
_IN_PLACE = {"sed", "perl", "ruby"}
_BEFORE = {"sudo", "env", "nohup", "time", "exec", "command", "xargs", "then", "do", "else", "{", "!"}
_SAYS_WRITE = re.compile(r"""['"][wax]b?\+?['"]|write_|unlink|remove|rename|replace\(|rmtree|shutil|truncate|touch\(""")
_PATCHED = re.compile(r"^\+\+\+ (?:b/)?([^\s]{1,400})", re.MULTILINE)
_VARIABLE = re.compile(r"\$\{?([A-Za-z_]\w{0,40})\}?")
MAX_PATHS = 5000
"""Paths of one command that are told."""
MAX_NAMES, MAX_VALUE = 50, 400
"""Variables of a command, and characters of each, that are followed."""
_PATH = re.compile(r"[\w./~-]{2,200}")


class Written(NamedTuple):
    """A file that a command writes whole, with its text where the command holds it."""

    path: str
    text: str


class Read(NamedTuple):
    """What a command was seen to do: paths that it writes, moves, links or removes; files whose text it holds; the
    command without these texts."""

    paths: list[str]
    written: list[Written]
    rest: str


def read_command(command: str, depth: int = 2) -> Read:
    """What a command does to files. ``depth``: commands within commands (``sh -c``) that are followed."""
    rest, bodies = _without_heredocs(command[:MAX_COMMAND])
    paths: list[str] = []
    written: list[Written] = []
    names: dict[str, str] = {}
    folder = ""
    for words, redirected in _simple_commands(rest):
        words = [_filled(word, names) for word in words]
        redirected = [_filled(word, names) for word in redirected]
        body = bodies.pop(0) if bodies and "<<" in words else ""
        words = _bare([word for word in words if word != "<<"], names)
        verb = words[0].rpartition("/")[2] if words else ""
        if verb == "cd" and len(words) > 1:
            folder = join(folder, words[1]) if len(folder) + len(words[1]) < MAX_VALUE else folder
            continue
        found = [*redirected, *_targets(verb, words[1:])]
        if body and redirected:
            written.append(Written(join(folder, redirected[0]), body))
        elif body and verb.startswith("python"):
            written.append(Written("stdin.py", body))
            found += _in_program(body)
        elif body and verb in ("patch", "git"):
            found += _PATCHED.findall(body)
        if depth and verb in ("sh", "bash", "zsh", "eval") and len(words) > 1:
            inner = read_command(words[-1] if verb != "eval" else " ".join(words[1:]), depth - 1)
            found += inner.paths
            written += inner.written
        paths += [join(folder, path) for path in found[: MAX_PATHS - len(paths)]]
        if len(paths) >= MAX_PATHS:
            break
    return Read(paths, written, rest)


def _filled(word: str, names: dict[str, str]) -> str:
    """A word with the variables that the command set itself."""
    if not names or "$" not in word:
        return word
    return _VARIABLE.sub(lambda match: names.get(match[1], match[0]), word)


def _bare(words: list[str], names: dict[str, str]) -> list[str]:
    """A simple command without what may stand before its name; assignments are noted."""
    at = 0
    while at < len(words):
        name, sign, value = words[at].partition("=")
        if sign and name.isidentifier():
            if len(names) < MAX_NAMES and len(value) < MAX_VALUE and "$" not in value:
                names[name] = value
        elif words[at] not in _BEFORE:
            break
        at += 1
    return words[at:]


def _without_heredocs(command: str) -> tuple[str, list[str]]:
    """A command without the bodies of here-documents, and these."""
    if "<<" not in command:
        return command, []
    kept: list[str] = []
    bodies: list[str] = []
    lines = command.split("\n")
    at = 0
    while at < len(lines):
        line = lines[at]
        at += 1
        match = _HEREDOC.search(line)
        if match is None:
            kept.append(line)
            continue
        kept.append(line[: match.start()] + " '<<' " + line[match.end() :])
        body: list[str] = []
        while at < len(lines) and lines[at].strip() != match[2]:
            body.append(lines[at])
            at += 1
        at += 1
        bodies.append("\n".join(body) + "\n")
    return "\n".join(kept), bodies


def _simple_commands(text: str) -> list[tuple[list[str], list[str]]]:
    """Words, and targets of redirections, of each simple command."""
    found: list[tuple[list[str], list[str]]] = []
    names: list[str] = []
    redirected: list[str] = []
    out = False
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup
        if kind == "end":
            found.append((names, redirected))
            names, redirected, out = [], [], False
        elif kind == "out":
            out = not match["out"].endswith("&")
        elif kind == "word":
            word = _QUOTED.sub(_unquoted, match["word"])
            (redirected if out else names).append(word)
            out = False
    found.append((names, redirected))
    return found


def _unquoted(part: re.Match[str]) -> str:
    if part[2] is not None:
        return _ESCAPED.sub(r"\1", part[2])
    return part[1] if part[1] is not None else part[3]


def _in_program(text: str) -> list[str]:
    """Paths in the text of a program that says somewhere that it writes."""
    return _PATH.findall(text) if _SAYS_WRITE.search(text) else []


def _targets(verb: str, rest: list[str]) -> list[str]:
    """Paths that a simple command writes."""
    plain = [name for name in rest if not name.startswith("-")]
    if verb == "git" and plain[:1] in (["rm"], ["mv"]):
        return plain[1:]
    if verb in _ALL:
        return plain
    if verb in _LAST:
        return plain[-1:]
    if verb == "dd":
        return [name[3:] for name in plain if name.startswith("of=")]
    if verb in _IN_PLACE and any(re.match(r"-\w{0,4}i|--in-place", name) for name in rest):
        return plain[1:]
    if verb.startswith(("python", "perl", "ruby", "node")):
        return [path for name in plain for path in _in_program(name)]
    if verb == "find" and ("-delete" in rest or "rm" in rest):
        return plain
    return []
