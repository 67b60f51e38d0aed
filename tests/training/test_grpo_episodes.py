"""Episodes inside of TRL's trainer, with the real sandbox. What the policy says is written here, token for token; all
else is TRL's own path."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from lydite.environments import Environments
from lydite.errors import LyditeError, UnavailableError
from lydite.ledger import Row, RunFolder, verify_run
from lydite.reward import RewardScheme
from lydite.rollout import FinishReason, Message
from lydite.sampling import Judge
from lydite.task import Checker, Task
from lydite.training import parse_recipe

pytest.importorskip("trl")
pytestmark = pytest.mark.train

WRITE = '<tool_call>{"name": "write_file", "arguments": {"path": "a.txt", "content": "red"}}</tool_call>'
WRONG = WRITE.replace("red", "blue")
BROKEN = '<tool_call>{"name": "write_file", "arg</tool_call>'
LIST = '<tool_call>{"name": "list_dir", "arguments": {}}</tool_call>'
LONG = '<tool_call>{"name": "run_command", "arguments": {"command": "seq 1 3000"}}</tool_call>'
END = "<|im_end|>"
DONE = "Done." + END


def task(**changes: Any) -> Task:
    fields = {
        "id": "red",
        "prompt": (Message(role="user", content="Write red to a.txt."),),
        "checker": Checker(type="script", config={"script": "print(float(open('a.txt').read() == 'red'))"}),
        "env": "workspace",
        "max_steps": 4,
    }
    return Task(**{**fields, **changes})  # type: ignore[arg-type]


Play = Callable[..., tuple[dict[str, Any], list[Row], Any]]


@pytest.fixture
def play(tmp_path: Path) -> Iterator[Play]:
    """Runs one batch of attempts at one task; each attempt is the list of what the policy says, turn by turn."""
    from lydite.training.controls import Control
    from lydite.training.trl.grpo import grpo_trainer
    from lydite.training.trl.model import Learner
    from lydite.training.trl.quiet import hush
    from lydite.training.trl.reward import RewardColumn

    hush()
    environments = Environments()
    opened: list[Any] = []
    threads = ThreadPoolExecutor(4)

    def batch(
        *attempts: Sequence[str], of: Task | None = None, length: int = 400, env: Any = None, **changes: Any
    ) -> tuple[dict[str, Any], list[Row], Any]:
        tasks = [of or task()]
        stage = {"kind": "grpo", "steps": 1, "num_generations": len(attempts), "prompts_per_step": 1, **changes}
        stage |= {"max_completion_length": length, "loss_type": "grpo", "learning_rate": 1e-3}
        recipe = parse_recipe(
            {"policy": "builtin:tiny", "lora": None, "tasks": {"train": "unused.jsonl"}, "stages": [stage]}
        )
        learner = Learner(recipe)
        learner.offer_tools()
        run = RunFolder.create(tmp_path / f"run-{len(opened)}", kind="train", settings={}, tasks=tasks)
        opened.append(run)
        column = RewardColumn(
            run, tasks, Judge(RewardScheme()), recipe.stages[0], index=0, seed=0, policy="tiny", threads=threads,
            control=Control(),
        )  # fmt: skip
        trainer = grpo_trainer(
            recipe, 0, learner, tasks, column, tmp_path, [],
            environments={tasks[0].env: env or environments.find(tasks[0].env)}, threads=threads,
        )  # fmt: skip
        turns: dict[int, int] = {}

        def say(prompt_ids: list[list[int]], *_: Any) -> tuple[list[list[int]], None]:
            """The next turn of each attempt, found by what its prompt holds of the turns before."""
            said = []
            for place, ids in enumerate(prompt_ids):
                text = learner.tokenizer.decode(ids)
                number = text.count("<|im_start|>assistant") - 1
                fitting = [
                    at for at, attempt in enumerate(attempts)
                    if len(attempt) > number and all(turn in text for turn in attempt[:number])
                ]  # fmt: skip
                at = fitting[place] if number == 0 else fitting[0]
                turns[at] = number
                said.append(learner.tokenizer(attempts[at][number], add_special_tokens=False)["input_ids"])
            return said, None

        trainer._generate_single_turn = say
        trainer.model.train()
        output = trainer._generate_and_score_completions([trainer.train_dataset[0]] * len(attempts))
        return output, list(run.rows()), trainer

    yield batch
    for run in opened:
        run.close()
    environments.close()
    threads.shutdown()


def test_a_group_is_judged_by_what_it_left_behind(play: Play) -> None:
    output, rows, trainer = play([WRITE + END, DONE], [WRONG + END, DONE], [DONE])
    assert [row.record.verdict.score for row in rows] == [1.0, 0.0, 0.0]
    assert output["advantages"][0] > 0 > output["advantages"][1]
    assert output["advantages"][1] == output["advantages"][2]
    first = rows[0].rollout
    assert [message.role for message in first.completion] == ["assistant", "tool", "assistant"]
    assert first.completion[0].tool_calls[0].arguments == {"path": "a.txt", "content": "red"}
    assert first.completion[1].content == "wrote 3 bytes to a.txt"
    assert (first.env, first.finish) == ("workspace@2", FinishReason.STOP)
    assert first.calls is not None
    assert len(first.calls.seconds) == 1
    assert rows[2].rollout.calls is not None
    assert rows[2].rollout.calls.seconds == ()
    metrics = trainer._metrics["train"]
    assert metrics["tools/call_frequency"][0] == pytest.approx(2 / 3)
    assert metrics["rewards/workspace/mean"][0] == pytest.approx((1.0 - 0.1 - 0.1) / 3)
    assert metrics["tools/malformed_rate"] == [0.0]


def test_the_state_is_kept_and_the_verdict_can_be_replayed(play: Play, tmp_path: Path) -> None:
    _, rows, _ = play([WRITE + END, DONE], [WRONG + END, DONE])
    with RunFolder.open(tmp_path / "run-0") as run:
        for row in rows:
            state = run.state(row.rollout.workspace)
            assert state is not None
            assert Judge().judge(row.rollout, task(), state).verdict == row.record.verdict
        assert state.files == {"a.txt": b"blue"}
    assert verify_run(tmp_path / "run-0").problem is None


def test_only_what_the_policy_said_is_learned(play: Play) -> None:
    output, _, trainer = play([WRITE + END, DONE], [LIST + END, DONE])
    mask = (output["completion_mask"] * output["tool_mask"]).bool()
    said = [trainer._tokenizer.decode(ids[chosen]) for ids, chosen in zip(output["completion_ids"], mask, strict=True)]
    assert said == [WRITE + END + DONE, LIST + END + DONE]
    text = trainer._tokenizer.decode(output["completion_ids"][0][output["completion_mask"][0].bool()])
    whole = trainer._tokenizer.apply_chat_template(
        [
            {"role": "user", "content": "Write red to a.txt."},
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"type": "function", "function": json.loads(WRITE[11:-12])}],
            },
            {"role": "tool", "name": "write_file", "content": "wrote 3 bytes to a.txt"},
            {"role": "assistant", "content": "Done."},
        ],
        tools=trainer._env_tools["workspace"],
        tokenize=False,
    )
    prompt = trainer._tokenizer.decode(output["prompt_ids"][0][output["prompt_mask"][0].bool()])
    assert prompt + text + "\n" == whole  # token by token what the chat template makes of the conversation


def test_a_call_that_cannot_be_read_is_answered_and_counted(play: Play) -> None:
    _, rows, trainer = play([BROKEN + END, WRITE + END, DONE], [DONE])
    rollout = rows[0].rollout
    assert rows[0].record.verdict.correct
    assert [message.role for message in rollout.completion] == ["assistant", "user", "assistant", "tool", "assistant"]
    assert "could not be read" in rollout.completion[1].content
    assert rollout.calls is not None
    assert rollout.calls.malformed == 1
    assert trainer._metrics["train"]["tools/malformed_rate"] == [0.5]


def test_the_budget_of_calls_is_the_smaller_one_and_said(play: Play) -> None:
    _, rows, _ = play([LIST + END] * 3, [DONE], max_tool_calling_iterations=2)
    assert rows[0].rollout.finish is FinishReason.TOOL_LIMIT
    assert rows[0].rollout.calls is not None
    assert len(rows[0].rollout.calls.seconds) == 2
    _, rows, _ = play([LIST + END] * 3, [DONE], of=task(max_steps=1))
    assert rows[0].rollout.calls is not None
    assert len(rows[0].rollout.calls.seconds) == 1


def test_an_answer_that_does_not_fit_is_cut_with_a_mark(play: Play) -> None:
    output, rows, _ = play([LONG + END, DONE], [DONE], length=300)
    rollout = rows[0].rollout
    assert rollout.completion[1].content.startswith("1\n2\n3\n")
    assert "left out" in rollout.completion[1].content
    assert rollout.finish is FinishReason.STOP
    assert rollout.text == "Done."
    assert output["completion_mask"].sum(dim=1)[0] <= 300


def test_without_room_for_an_answer_the_attempt_is_cut_off_and_seen_to_be(play: Play) -> None:
    output, rows, _ = play([LONG + END, DONE], [DONE], length=90)
    assert rows[0].rollout.finish is FinishReason.LENGTH
    assert output["completion_mask"].sum(dim=1)[0] == 90


def test_an_unfinished_turn_is_not_acted_upon(play: Play) -> None:
    _, rows, _ = play([WRITE], [DONE])
    assert rows[0].rollout.finish is FinishReason.LENGTH
    assert not rows[0].record.verdict.correct


class _Fails:
    """An environment in which every second world cannot be had."""

    name, version, made = "workspace", 1, 0

    def __init__(self, real: Any, each: int) -> None:
        self._real, self._each, self.tools = real, each, real.tools

    def start(self, of: Task) -> Any:
        self.made += 1
        if self.made % self._each == 0:
            raise UnavailableError("no room in the machine")
        return self._real.start(of)

    def close(self) -> None:
        return None


def test_a_world_of_ours_that_fails_has_no_reward(play: Play) -> None:
    from lydite.environments.workspace import WorkspaceEnvironment

    real = WorkspaceEnvironment()
    output, rows, trainer = play([WRITE + END, DONE], [DONE], [DONE], [DONE], env=_Fails(real, 4))
    rewards = [row.record.reward for row in rows]
    assert rewards.count(None) == 1
    assert output["advantages"][rewards.index(None)] == 0
    assert trainer._metrics["train"]["invalid_rate"] == [0.25]
    assert next(row.record.verdict.reason for row in rows if row.record.reward is None).startswith("policy_error:env")
    real.close()


def test_when_no_world_can_be_had_training_stops_and_says_so(play: Play) -> None:
    from lydite.environments.workspace import WorkspaceEnvironment

    real = WorkspaceEnvironment()
    with pytest.raises(UnavailableError, match="no room in the machine"):
        play([DONE], [DONE], env=_Fails(real, 1))
    real.close()


def test_no_world_is_left_when_the_generation_fails(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    from lydite.environments.workspace import WorkspaceEnvironment, WorkspaceEpisode

    closed: list[WorkspaceEpisode] = []
    close = WorkspaceEpisode.close
    monkeypatch.setattr(WorkspaceEpisode, "close", lambda self: (closed.append(self), close(self))[1])
    real = WorkspaceEnvironment()
    with pytest.raises(IndexError):  # nothing to say in the second turn
        play([WRITE + END], [LIST + END], env=real)
    assert len({id(one) for one in closed}) == 2
    real.close()


def test_another_environment_than_asked_for_is_an_error(tmp_path: Path) -> None:
    from lydite.training import train

    file = tmp_path / "tasks.jsonl"
    file.write_text('{"prompt": "1+1?", "checker": {"type": "math", "config": {"answer": "2"}}}\n')
    stage = {"kind": "grpo", "env": "workspace", "steps": 1}
    recipe = {"policy": "builtin:tiny", "tasks": {"train": str(file), "eval_fraction": 0}, "stages": [stage]}
    with pytest.raises(LyditeError, match=r"stages\.0\.env: asks for workspace"):
        train(parse_recipe({**recipe, "evaluation": None}), tmp_path / "run")
