"""GRPO in one file: everything visible, no trainer.

    python examples/rl_loop.py [--steps 60]

The same parts that the library uses (tasks, policy, judge, advantages), and a plain PyTorch update between them. What
is left out, on purpose: clipping and importance ratios (each batch is used once, so every ratio is 1), a KL term, LoRA,
checkpoints, the ledger. `lydite train` has them.
"""

from __future__ import annotations

import argparse
import asyncio

import torch

from lydite.policies.hf import HFPolicy
from lydite.policies.protocol import SamplingParams
from lydite.policies.weights import load_local
from lydite.reward import RewardScheme, Signal, advantages, signal
from lydite.rollout import Rollout
from lydite.sampling import Judge, attempt_seed
from lydite.task import Task
from lydite.tasksets import generate, split_tasks

GROUP = 8  # attempts at each task
PROMPTS = 8  # tasks in a step
PARAMS = SamplingParams(temperature=1.0, max_tokens=72)


def roll_out(policy: HFPolicy, judge: Judge, tasks: list[Task], phase: str, n: int):
    """n attempts at each task, judged: one list of Graded per task."""
    seeds = [[attempt_seed(0, phase, task.id, index) for index in range(n)] for task in tasks]
    answers = asyncio.run(policy.generate([task.prompt for task in tasks], seeds, PARAMS))
    return [
        [
            judge.judge(
                Rollout(
                    id=f"{phase}/{task.id}/{index}",
                    task=task.id,
                    task_digest=task.digest,
                    prompt=task.prompt,
                    completion=attempt.completion,
                    error=attempt.error,
                ),
                task,
            )
            for index, attempt in enumerate(attempts)
        ]
        for task, attempts in zip(tasks, answers, strict=True)
    ]


def log_probs(model, tokenizer, pairs: list[tuple[str, str]]):
    """Log-probability of each completion token: (B, T) values, and a (B, T) mask of which of them count."""
    heads = tokenizer([head for head, _ in pairs])["input_ids"]
    tails = tokenizer([tail for _, tail in pairs])["input_ids"]
    width = max(len(head) + len(tail) for head, tail in zip(heads, tails, strict=True))
    ids = torch.full((len(pairs), width), tokenizer.pad_token_id)
    mask = torch.zeros(len(pairs), width)
    for row, (head, tail) in enumerate(zip(heads, tails, strict=True)):
        ids[row, : len(head) + len(tail)] = torch.tensor(head + tail)
        mask[row, len(head) : len(head) + len(tail)] = 1
    logits = model(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id).long()).logits[:, :-1]
    return torch.log_softmax(logits, -1).gather(2, ids[:, 1:, None]).squeeze(2), mask[:, 1:]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--held-out", type=int, default=50)
    options = parser.parse_args()

    torch.manual_seed(0)
    model, tokenizer = load_local("builtin:tiny")
    policy = HFPolicy("builtin:tiny", model, tokenizer, batch=GROUP * PROMPTS)
    judge = Judge(RewardScheme())
    train, held_out = split_tasks(generate("arithmetic", levels=[1, 2], n=1000, seed=0))
    held_out = held_out[: options.held_out]
    optimizer = torch.optim.AdamW(model.parameters(), lr=2e-4)

    def pass_at_1(phase: str) -> float:
        groups = roll_out(policy, judge, held_out, phase, 4)
        return sum(graded.verdict.correct for group in groups for graded in group) / (4 * len(held_out))

    print(f"held-out pass@1 before: {pass_at_1('before'):.3f}")
    for step in range(options.steps):
        start = step * PROMPTS % (len(train) - PROMPTS)
        groups = roll_out(policy, judge, train[start : start + PROMPTS], f"train-{step}", GROUP)

        # Advantages are relative to the group; an invalid attempt has reward None and is in no mean.
        rewards = [[graded.reward for graded in group] for group in groups]
        weights = torch.tensor([value for group in advantages(rewards) for value in group])

        pairs = []
        for graded in (graded for group in groups for graded in group):
            chat = [{"role": "user", "content": graded.rollout.prompt_text}]
            head = tokenizer.apply_chat_template(chat, add_generation_prompt=True, tokenize=False)
            pairs.append((head, graded.rollout.text + tokenizer.eos_token))
        logps, mask = log_probs(model, tokenizer, pairs)
        loss = -(weights[:, None] * logps * mask).sum() / mask.sum()
        loss.backward()
        torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
        optimizer.step()
        optimizer.zero_grad()

        if step % 10 == 9 or step == options.steps - 1:
            known = [reward for group in rewards for reward in group if reward is not None]
            mixed = sum(signal(graded.verdict for graded in group) is Signal.MIXED for group in groups)
            print(f"step {step + 1}: reward {sum(known) / len(known):+.3f}, mixed groups {mixed}/{len(groups)}")
    print(f"held-out pass@1 after:  {pass_at_1('after'):.3f}")


if __name__ == "__main__":
    main()
