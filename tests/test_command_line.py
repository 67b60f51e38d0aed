"""The command line as a whole: exit codes and what an error may do to a terminal."""

from __future__ import annotations

import subprocess
import sys

import pytest

from lydite.cli import COMMANDS


def lydite(*words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, "-m", "lydite", *words], capture_output=True, text=True, timeout=120)


def test_without_a_command_it_says_what_there_is() -> None:
    done = lydite()
    assert done.returncode == 2
    assert all(name in done.stdout for name in COMMANDS)


def test_a_misspelt_command_is_answered_with_the_nearest() -> None:
    done = lydite("verfy")
    assert done.returncode == 2
    assert "'verify'" in done.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_every_command_has_help(name: str) -> None:
    done = lydite(name, "--help")
    assert done.returncode == 0
    assert "Usage" in done.stdout


@pytest.mark.parametrize("name", COMMANDS)
def test_an_unknown_option_is_unusable_input(name: str) -> None:
    done = lydite(name, "--no-such-option")
    assert done.returncode == 2
    assert "Traceback" not in done.stderr


def test_errors_show_control_characters_and_do_not_obey_them() -> None:
    done = lydite("verify", "no\x1b[31m such\x07file.jsonl")
    assert done.returncode == 2
    assert "\x1b" not in done.stderr
    assert "\\x1b[31m" in done.stderr
