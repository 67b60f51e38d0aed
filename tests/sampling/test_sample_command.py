"""``lydite sample``, ``ledger`` and ``show`` as a person calls them."""

from __future__ import annotations

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from lydite.ledger import RunFolder, verify_run

SLOW = """
import asyncio
from lydite.policies.scripted import ScriptedPolicy

class Slow(ScriptedPolicy):
    async def generate(self, *args, **kwargs):
        await asyncio.sleep(0.05)
        return await super().generate(*args, **kwargs)

policy = Slow(["4"], name="slow", batch=1, concurrency=1)
"""


def lydite(*arguments: str | Path, cwd: Path | None = None) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-c", "from lydite.cli import main; main()", *map(str, arguments)]
    return subprocess.run(command, capture_output=True, text=True, cwd=cwd, check=False, timeout=120)


def write_inputs(folder: Path, count: int = 6) -> tuple[Path, Path]:
    tasks, answers = folder / "tasks.jsonl", folder / "answers.jsonl"
    with tasks.open("w") as task_file, answers.open("w") as answer_file:
        for number in range(count):
            prompt = f"What is {number} + 1?"
            checker = {"type": "math", "config": {"answer": str(number + 1)}}
            task_file.write(json.dumps({"id": f"q{number}", "prompt": prompt, "checker": checker}) + "\n")
            for text in (f"It is \\boxed{{{number + 1}}}", "\x1b[31mIt is \\boxed{99}"):
                answer_file.write(json.dumps({"prompt": prompt, "completion": text}) + "\n")
    return tasks, answers


@pytest.fixture(scope="module")
def sampled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with tasks, answers and a finished run."""
    folder = tmp_path_factory.mktemp("sampled")
    tasks, answers = write_inputs(folder)
    done = lydite("sample", tasks, "--policy", f"replay:{answers}", "-n", 2, "-o", folder / "run", "--json")
    assert done.returncode == 0, done.stderr
    (folder / "summary.json").write_text(done.stdout)
    (folder / "told.txt").write_text(done.stderr)
    return folder


def again(folder: Path, *more: str | int | Path) -> subprocess.CompletedProcess[str]:
    given = ["-n", 2, *more] if "-n" not in more else list(more)
    policy = f"replay:{folder / 'answers.jsonl'}"
    return lydite("sample", folder / "tasks.jsonl", "--policy", policy, "-o", folder / "run", *given)


def test_the_summary_is_json_on_standard_output(sampled: Path) -> None:
    summary = json.loads((sampled / "summary.json").read_text())
    assert (summary["rollouts"], summary["outcomes"]["correct"], summary["outcomes"]["incorrect"]) == (12, 6, 6)
    assert summary["groups"] == {"mixed": 6, "all_correct": 0, "all_wrong": 0, "invalid": 0}
    assert summary["correct_rate"] == 0.5
    assert summary["head"] == RunFolder.open(sampled / "run").info.head


def test_a_person_is_told_the_head_and_the_groups(sampled: Path) -> None:
    told = (sampled / "told.txt").read_text()
    assert RunFolder.open(sampled / "run").info.head in told
    assert "groups mixed" in told


def test_a_finished_run_has_nothing_left_to_do(sampled: Path) -> None:
    before = (sampled / "run" / "run.json").read_bytes()
    done = again(sampled)
    assert done.returncode == 0
    assert "nothing was left to do" in done.stderr
    assert (sampled / "run" / "run.json").read_bytes() == before


@pytest.mark.parametrize(
    ("more", "named"),
    [(["-n", 3], "n"), (["--seed", 1], "seed"), (["--limit", 2], "other tasks"), (["--reward", "binary"], "reward")],
)
def test_another_run_in_the_same_folder_is_refused(sampled: Path, more: list[str | int], named: str) -> None:
    before = {path.name: path.read_bytes() for path in (sampled / "run").iterdir()}
    done = again(sampled, *more)
    assert done.returncode == 2
    assert named in done.stderr
    assert {path.name: path.read_bytes() for path in (sampled / "run").iterdir()} == before


def test_a_bad_task_is_named_and_no_folder_is_made(tmp_path: Path) -> None:
    tasks, answers = write_inputs(tmp_path)
    with tasks.open("a") as file:
        file.write('{"id": "bad", "prompt": "?", "checker": {"type": "math", "config": {}}}\n')
    done = lydite("sample", tasks, "--policy", f"replay:{answers}", "-o", tmp_path / "run")
    assert done.returncode == 2
    assert "answer" in done.stderr
    assert not (tmp_path / "run").exists()


def test_verify_says_yes_by_its_exit_code_and_in_json(sampled: Path) -> None:
    head = RunFolder.open(sampled / "run").info.head
    done = lydite("ledger", "verify", sampled / "run", "--head", head, "--json")
    assert done.returncode == 0
    found = json.loads(done.stdout)
    assert (found["ok"], found["records"], found["head"]) == (True, 12, head)
    assert lydite("ledger", "verify", sampled / "run", "--head", "0" * 64).returncode == 1


def test_verify_names_what_was_changed_and_exits_1(sampled: Path, tmp_path: Path) -> None:
    copy = tmp_path / "copy"
    shutil.copytree(sampled / "run", copy)
    path = copy / "ledger.jsonl"
    path.write_bytes(path.read_bytes().replace(b'"outcome":"incorrect"', b'"outcome":"correct"', 1))
    done = lydite("ledger", "verify", copy, "--json")
    assert done.returncode == 1
    problem = json.loads(done.stdout)["problem"]
    assert (problem["file"], problem["line"], problem["id"]) == ("ledger.jsonl", 2, "sample/q0/1")
    assert "ledger.jsonl:2" in done.stderr


@pytest.mark.parametrize("command", [["ledger", "verify"], ["ledger", "replay"], ["ledger", "show"], ["show"]])
def test_a_folder_that_is_no_run_is_unusable_input(tmp_path: Path, command: list[str]) -> None:
    done = lydite(*command, tmp_path)
    assert done.returncode == 2
    assert "run.json" in done.stderr


def test_replay_of_a_fresh_run_finds_nothing_that_differs(sampled: Path) -> None:
    done = lydite("ledger", "replay", sampled / "run", "--json")
    assert done.returncode == 0
    assert json.loads(done.stdout)["same"] == 12


def test_ledger_show_counts_outcomes_by_phase(sampled: Path) -> None:
    found = json.loads(lydite("ledger", "show", sampled / "run", "--json").stdout)
    assert found["phases"]["sample"]["correct"] == 6
    assert list(found["verifiers"].values()) == [12]


def test_show_lists_attempts(sampled: Path) -> None:
    done = lydite("show", sampled / "run", "--outcome", "incorrect", "--limit", 2)
    assert len(done.stdout.splitlines()) == 2
    assert "4 more" in done.stderr


def test_show_of_one_attempt_cannot_steer_the_terminal(sampled: Path) -> None:
    done = lydite("show", sampled / "run", "sample/q1/1")
    assert "What is 1 + 1?" in done.stdout
    assert "incorrect" in done.stdout
    assert "\x1b" not in done.stdout
    assert "\\x1b[31m" in done.stdout


def test_show_of_an_attempt_that_is_not_there_names_it(sampled: Path) -> None:
    done = lydite("show", sampled / "run", "sample/q1/7")
    assert (done.returncode, "sample/q1/7" in done.stderr) == (2, True)


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_a_run_that_is_stopped_or_killed_is_finished_by_the_same_command(
    tmp_path: Path, number: signal.Signals
) -> None:
    tasks, _ = write_inputs(tmp_path, 40)
    (tmp_path / "slow.py").write_text(SLOW)
    given = ["sample", str(tasks), "--policy", f"{tmp_path / 'slow.py'}:policy", "-n", "2", "-o", str(tmp_path / "run")]
    command = [sys.executable, "-c", "from lydite.cli import main; main()", *given]
    with subprocess.Popen(command, stderr=subprocess.PIPE, text=True) as process:
        ledger = tmp_path / "run" / "ledger.jsonl"
        deadline = time.monotonic() + 60
        while not (ledger.exists() and ledger.stat().st_size > 1000) and time.monotonic() < deadline:
            time.sleep(0.02)
        os.kill(process.pid, number)
        told = process.communicate(timeout=60)[1]
    assert process.returncode == (3 if number != signal.SIGKILL else -signal.SIGKILL)
    if number != signal.SIGKILL:
        assert "-n 2 -o" in told
    assert lydite("ledger", "verify", tmp_path / "run").returncode == 0
    assert 0 < verify_run(tmp_path / "run").records < 80
    done = lydite(*given)
    assert done.returncode == 0, done.stderr
    found = verify_run(tmp_path / "run")
    assert (found.problem, found.records, found.state) == (None, 80, "complete")
    assert len({row.rollout.id for row in RunFolder.open(tmp_path / "run").rows()}) == 80


def test_verify_says_when_a_run_is_not_complete(tmp_path: Path) -> None:
    with RunFolder.create(tmp_path / "run", kind="sample", settings={}, tasks=[]):
        pass
    done = subprocess.run(
        [sys.executable, "-m", "lydite", "ledger", "verify", str(tmp_path / "run")], capture_output=True, text=True
    )
    assert done.returncode == 0
    assert "interrupted" in done.stderr


def test_what_a_server_used_is_told_and_costed(tmp_path: Path) -> None:
    import threading
    from http.server import BaseHTTPRequestHandler, HTTPServer

    class Server(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            asked = json.loads(self.rfile.read(int(self.headers["content-length"])))
            choices = [
                {"index": i, "finish_reason": "stop", "message": {"role": "assistant", "content": "\\boxed{56}"}}
                for i in range(asked.get("n", 1))
            ]
            usage = {"prompt_tokens": 10, "completion_tokens": 20}
            body = json.dumps({"choices": choices, "usage": usage}).encode()
            self.send_response(200)
            self.send_header("content-length", str(len(body)))
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, *_: object) -> None:
            pass

    tasks = tmp_path / "tasks.jsonl"
    tasks.write_text(json.dumps({"prompt": "7 * 8?", "checker": {"type": "math", "config": {"answer": "56"}}}) + "\n")
    server = HTTPServer(("127.0.0.1", 0), Server)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    try:
        spec = "openai:m?price_prompt=100000&price_completion=50000"
        command = [sys.executable, "-m", "lydite", "sample", str(tasks), "--policy", spec, "-n", "3", "--json"]
        environment = {**os.environ, "OPENAI_BASE_URL": f"http://127.0.0.1:{server.server_port}/v1"}
        done = subprocess.run(
            [*command, "-o", str(tmp_path / "run")], capture_output=True, text=True, env=environment, timeout=60
        )
    finally:
        server.shutdown()
        server.server_close()
    assert done.returncode == 0, done.stderr
    served = json.loads(done.stdout)["served"]
    assert (served["requests"], served["prompt_tokens"], served["completion_tokens"]) == (1, 10, 20)
    assert served["cost"] == 2.0
    assert "10 tokens in, 20 out, cost 2.0000" in done.stderr
