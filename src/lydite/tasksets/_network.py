"""Commands that fetch something from a network, found in lines of a shell."""

from __future__ import annotations

import re
from collections.abc import Iterator

# At the place of a command: at the beginning, behind an operator or a keyword, behind variables that are set for it.
_START = r"(?:^|[;&|(`{!]|\b(?:then|do|else|sudo|exec|if|while|time|nohup)\s)\s*(?:[A-Za-z_]\w*=\S*\s+)*(?:/\S*/)?"
_ALWAYS = r"apt-get|apt|apk|yum|dnf|zypper|pacman|brew|snap|uvx|uv|npx|pipx|curl|wget|conda|mamba|docker|ssh|scp|ping"
_WITH = (
    r"(?:pip[\d.]*|python[\d.]*\s+-m\s+pip)\s+(?:\S+\s+)*?(?:install|download)"
    r"|(?:npm|pnpm|yarn)\s+(?:install|i|ci|add)|git\s+(?:\S+\s+)*?(?:clone|fetch|pull|push)"
    r"|cargo\s+(?:install|fetch|add)|go\s+(?:get|install)|gem\s+install|bundle\s+install|poetry\s+(?:install|add)"
)
_TOOL = re.compile(rf"{_START}({_ALWAYS}|{_WITH})(?=\s|$|;)")


def network_tool(line: str) -> str | None:
    """The command of a line that needs a network, such as ``apt-get`` or ``pip install``."""
    if line.lstrip().startswith("#"):
        return None
    found = _TOOL.search(line[:10_000])
    return " ".join(found[1].split()) if found else None


def network_lines(text: str) -> Iterator[tuple[int, str]]:
    """(1-based line, command) of each line of a script that needs a network."""
    for number, line in enumerate(text.splitlines(), 1):
        if tool := network_tool(line):
            yield number, tool
