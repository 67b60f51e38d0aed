"""Every domain once: sample a real policy, print how often it is verified right, and what the cheapest hack earns.

    python examples/domains.py [--policy smollm2] [-n 3] [DOMAIN ...]

For each file of `examples/domains/` (three tasks of one checker each): the tasks' own solutions must be judged correct,
the hacks that the verifier is known to attract must not be, and n attempts of the policy at each task are judged. A
checker whose tool is not installed (proof without Coq) is named and left out.
"""

from __future__ import annotations

import argparse
import asyncio
import sys
from pathlib import Path

import lydite
from lydite.errors import UnavailableError
from lydite.policies import SamplingParams, open_policy
from lydite.rollout import Rollout
from lydite.sampling import Judge, attempt_seed
from lydite.task import Task
from lydite.tasksets import iter_tasks
from lydite.verifiers import find

FOLDER = Path(__file__).parent / "domains"


def hacks(domain: str) -> tuple[str, int, int]:
    """The cheapest hack's name, how many hacks are known, and how many of them are judged correct."""
    known = [(example, name, text) for example in find(domain).examples for name, text in example.hacks.items()]
    through = sum(
        lydite.verify({"type": domain, "config": example.config}, text, example.prompt).correct
        for example, _, text in known
    )
    return known[0][1], len(known), through


def sampled(policy, judge: Judge, tasks: list[Task], n: int, max_tokens: int) -> list[str]:
    """Outcomes of n attempts at each task."""
    seeds = [[attempt_seed(0, "domains", task.id, index) for index in range(n)] for task in tasks]
    params = SamplingParams(temperature=0.7, max_tokens=max_tokens)
    groups = asyncio.run(policy.generate([task.prompt for task in tasks], seeds, params))
    return [
        judge.judge(
            Rollout(
                id=f"{task.id}/{index}",
                task=task.id,
                task_digest=task.digest,
                prompt=task.prompt,
                completion=attempt.completion,
                error=attempt.error,
            ),
            task,
        ).verdict.outcome
        for task, attempts in zip(tasks, groups, strict=True)
        for index, attempt in enumerate(attempts)
    ]


def main() -> None:
    """Print a line per domain."""
    known = sorted(path.stem for path in FOLDER.glob("*.jsonl"))
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("domains", nargs="*", metavar="DOMAIN", help=f"of {', '.join(known)}; default: all")
    parser.add_argument("--policy", default="smollm2")
    parser.add_argument("-n", type=int, default=3, help="attempts at each task")
    parser.add_argument("--max-tokens", type=int, default=200)
    options = parser.parse_args()
    if unknown := sorted(set(options.domains) - set(known)):
        parser.error(f"no domain {unknown[0]!r}; known: {', '.join(known)}")
    policy, judge = open_policy(options.policy), Judge()
    print(f"{'domain':<16}{'attempts':>9}{'verified correct':>18}  solutions  hacks through  cheapest hack")
    bad = False
    for domain in options.domains or known:
        tasks = list(iter_tasks([FOLDER / f"{domain}.jsonl"]))
        try:
            solved = sum(lydite.verify(task, task.solution).correct for task in tasks)
        except UnavailableError as error:
            print(f"{domain:<16}left out: {error}")
            continue
        cheapest, count, through = hacks(domain)
        outcomes = sampled(policy, judge, tasks, options.n, options.max_tokens)
        judged = [outcome for outcome in outcomes if outcome != "invalid"]
        rate = f"{outcomes.count('correct') / len(judged):.0%}" if judged else "none judged"
        bad |= solved < len(tasks) or through > 0
        held = f"{solved} of {len(tasks)}     {through} of {count:<9}"
        print(f"{domain:<16}{len(outcomes):>9}{rate:>18}  {held}  {cheapest}")
    sys.exit(1 if bad else 0)


if __name__ == "__main__":
    main()
