"""The command line: one file per command group, imported only when that command is called."""

from __future__ import annotations

import errno
import importlib
import keyword
import os
import sys
from collections.abc import Sequence

COMMANDS = {
    "demo": "take the built-in policy through the whole loop, in minutes",
    "verify": "judge a file of completions",
    "verifiers": "list and show verifiers; check that one of your own keeps the contract",
    "sandbox": "run untrusted programs, isolated; what works here, and how fast",
    "environments": "list environments; check that one of your own keeps the contract",
    "tasks": "lint, split, compare and generate task files",
    "sample": "sample groups of attempts from a policy, judge them, keep a ledger",
    "eval": "measure a policy on tasks: pass@k with intervals",
    "compare": "compare two runs task by task",
    "train": "train a policy by a recipe: SFT, GRPO family, DPO",
    "probe": "attack the checkers of tasks before a policy does",
    "control": "carry a recipe out beside random and other rewards: does its gain count?",
    "probes": "keep hacks as a regression suite; impossible twins; the strength of tests",
    "models": "list models; check that one can be trained in episodes",
    "ledger": "verify, replay, rescore and show a run's ledger; prove records of it",
    "export": "preference pairs, SFT rows and KTO rows from a run",
    "flags": "list detectors; review the flags of a run; how often each detector is right",
    "report": "write a run's report.md with its curves",
    "import": "make a run of what TRL or verl dumped of its rollouts",
    "show": "show a run's attempts as readable transcripts",
    "serve": "serve runs and jobs: a page to look at them, an API to drive them",
    "index": "make a service's index again from its folders",
    "tokens": "make, list and revoke the tokens of a service",
}


def main(argv: Sequence[str] | None = None) -> None:
    """Entry point of ``lydite``. Leaves with 0 done, 1 done and the answer is no, 2 unusable input, 3 interrupted."""
    _fill_closed_streams()
    try:
        code = _run(list(sys.argv[1:] if argv is None else argv))
    except KeyboardInterrupt:  # before a command has begun
        code = _interrupted()
    sys.exit(code)


def _fill_closed_streams() -> None:
    """Where a standard stream is closed (``2>&-``), its number is taken: the next file that is opened would get it, and
    what is printed would land in that file. What is told on a closed stream is told to nobody; a command that must not
    lose it looks whether ``sys.__stdout__`` is ``None``."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.set_inheritable(os.open(os.devnull, os.O_RDWR), True)  # the lowest free number
    for number, name in enumerate(("stdin", "stdout", "stderr")):
        if getattr(sys, name) is None:
            mode = "w" if number else "r"
            setattr(sys, name, open(number, mode, encoding="utf-8", errors="replace", closefd=False))  # noqa: SIM115


def _run(argv: list[str]) -> int:
    if not argv or argv[0] in ("-h", "--help", "help"):
        print(_help())
        return 0 if argv else 2
    if argv[0] in ("-V", "--version", "version"):
        from lydite._version import __version__

        print(f"lydite {__version__}")
        return 0
    name, rest = argv[0], argv[1:]
    if name not in COMMANDS:
        from difflib import get_close_matches

        near = get_close_matches(name, COMMANDS, 1)
        hint = f"; did you mean '{near[0]}'?" if near else ""
        print(f"error: no command '{name}'{hint} (lydite --help lists them)", file=sys.stderr)
        return 2
    return _call(name, rest)


def _call(name: str, rest: list[str]) -> int:
    import typer

    from lydite.errors import InterruptedRunError, LyditeError

    module = importlib.import_module(f"lydite.cli.{name}_" if keyword.iskeyword(name) else f"lydite.cli.{name}")
    command = typer.main.get_command(module.app)
    try:
        result = command.main(args=rest, prog_name=f"lydite {name}", standalone_mode=False)
    except InterruptedRunError as error:
        print(error, file=sys.stderr)
        return error.exit_code
    except LyditeError as error:
        print(f"error: {_harmless(str(error))}", file=sys.stderr)
        return error.exit_code
    except (KeyboardInterrupt, typer.Abort):
        return _interrupted()
    except BrokenPipeError:
        # The reader of our output went away (`| head`): not an error, and nothing may be printed while shutting down.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return _failed(error)
    except Exception as error:
        show = getattr(error, "show", None)  # Typer's own usage errors
        if show is None:
            raise
        show()
        return int(getattr(error, "exit_code", 2))
    if result == _CTRL_C:
        return _interrupted()
    try:
        sys.stdout.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        return _failed(error)
    return result if isinstance(result, int) else 0


def _failed(error: OSError) -> int:
    """A file of the user's that is not what a command takes it for, or a standard output that takes nothing more."""
    if error.filename is not None:
        name = os.fsdecode(error.filename) if isinstance(error.filename, str | bytes) else error.filename
        print(f"error: {_harmless(str(name))}: {error.strerror or error}", file=sys.stderr)
        return 2
    if error.errno not in _FULL:
        raise error
    os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    print(f"error: standard output cannot be written: {error.strerror}", file=sys.stderr)
    return 3


_FULL = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EIO, errno.EFBIG})


_CTRL_C = 130
"""What Typer makes of a KeyboardInterrupt."""


def _interrupted() -> int:
    print("interrupted; the same command goes on from here", file=sys.stderr)
    return 3


def _harmless(text: str) -> str:
    """Text with control characters shown, not obeyed: servers and files get a word in our errors."""
    return "".join(char if char.isprintable() or char == "\n" else repr(char)[1:-1] for char in text)


def _help() -> str:
    width = max(map(len, COMMANDS))
    lines = [f"  {name.ljust(width)}  {text}" for name, text in COMMANDS.items()]
    return "\n".join(
        [
            "usage: lydite COMMAND [OPTIONS]",
            "",
            "Reinforcement learning with verifiable rewards, and rewards worth trusting.",
            "",
            *lines,
            "",
            "lydite COMMAND --help says more.",
            "Exit codes: 0 done, 1 done and the answer is no, 2 unusable input, 3 interrupted.",
        ]
    )
