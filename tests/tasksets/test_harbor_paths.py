"""Absolute paths of a container, in texts, and commands that need a network."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.tasksets._network import network_lines, network_tool
from lydite.tasksets._relocate import relocated

NAMES = {"/app": "/here", "/tests": "/there", "/logs": "/l", "/logs/verifier": "/v"}


@pytest.mark.parametrize(
    ("text", "moved"),
    [
        ("cat /app/x", "cat /here/x"),
        ("cd /app", "cd /here"),
        ("cd /app && ls", "cd /here && ls"),
        ("/app/", "/here/"),
        ('open("/app/x.txt")', 'open("/here/x.txt")'),
        ("open('/app')", "open('/here')"),
        ('f"/tests/{name}"', 'f"/there/{name}"'),
        ("X=/app/y", "X=/here/y"),
        ("--out=/app", "--out=/here"),
        ("echo 1 > /logs/verifier/reward.txt", "echo 1 > /v/reward.txt"),
        ("2>/logs/agent/x", "2>/l/agent/x"),
        ("see /app.", "see /here."),
        ("`/app`, (/app)", "`/here`, (/here)"),
        ('"/app/$X"', '"/here/$X"'),
        ("/app/*.py", "/here/*.py"),
    ],
)
def test_paths_that_move(text: str, moved: str) -> None:
    assert relocated(text, NAMES) == moved


@pytest.mark.parametrize(
    "text",
    [
        "/apple",
        "/app-2/x",
        "/app.py",
        "/srv/app/x",
        "./app/x",
        "../tests/x",
        "$HOME/app",
        "${X}/app",
        "$(pwd)/tests",
        '"$DIR"/tests',
        "https://example.org/tests",
        "https://app/x",
        "~/app",
        "x:/app",
    ],
)
def test_paths_that_stay(text: str) -> None:
    assert relocated(text, NAMES) == text


@pytest.mark.parametrize(("text", "moved"), [("/app/x", "x"), ("/app", "./"), ("/app/ is", "./ is"), ("/app.", "./.")])
def test_an_instruction_names_paths_from_the_workspace(text: str, moved: str) -> None:
    assert relocated(text, {"/app": lambda goes_on: "" if goes_on else "./"}) == moved


@given(st.text(st.sampled_from("/aptes. \"'$x"), max_size=30))
def test_moving_to_the_same_place_changes_nothing(text: str) -> None:
    assert relocated(text, {name: name for name in NAMES}) == text


@pytest.mark.parametrize(
    "line",
    [
        "pip list",
        "echo apt-get",
        "grep curl x",
        "git log",
        "npm test",
        "cargo test",
        "uvicorn x",
        "# curl x",
        "my-curl x",
    ],
)
def test_commands_that_need_no_network(line: str) -> None:
    assert network_tool(line) is None


def test_lines_are_counted_from_one() -> None:
    assert list(network_lines("ls\n\nsudo apt install x\n")) == [(3, "apt")]
