"""What shell commands write, move and remove, as far as their text says so. Nothing is run or expanded.

A reader of words, not a shell: variables, substitutions, functions and programs that write on their own are not
followed. Text of programs in a command (``python -c``) is looked at by the words in it. Linear in the text."""

from __future__ import annotations

import re
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


def read_command(command: str) -> Read:
    """What a command does to files."""
    rest, bodies = _without_heredocs(command[:MAX_COMMAND])
    paths: list[str] = []
    written: list[Written] = []
    for simple in _simple_commands(rest):
        names, redirected = simple
        paths += redirected
        if bodies and redirected and any("<<" in name for name in names):
            written.append(Written(redirected[0], bodies.pop(0)))
        paths += _targets([name for name in names if "<<" not in name])
    return Read(paths, written, rest)


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


def _targets(names: list[str]) -> list[str]:
    """Paths that a simple command writes."""
    while names and (names[0] in _BEFORE or ("=" in names[0] and names[0].partition("=")[0].isidentifier())):
        names = names[1:]
    if not names:
        return []
    verb, rest = names[0].rpartition("/")[2], names[1:]
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
    if verb.startswith(("python", "perl", "ruby", "node")) and any(_SAYS_WRITE.search(name) for name in plain):
        return [path for name in plain for path in _PATH.findall(name)]
    return []
