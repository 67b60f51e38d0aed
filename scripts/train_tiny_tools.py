"""Make the weights of ``builtin:tiny-tools`` from nothing but generated data. Seeded; a few minutes of one core.

    python scripts/train_tiny_tools.py [--out src/lydite/policies/assets/tiny_tools]

A Llama of 1.0M parameters whose vocabulary suits short commands and JSON: a name is the same tokens wherever it
stands, in a sentence, in a path or in quotes, and can be copied. It learns to say lists again, and to call the tools that
it is told of, with the arguments that it is told, one call after another, until there is nothing left to do. It never
sees a task of the family ``files``: told ``Run mv a.txt b.txt.``, it calls; told ``Rename a.txt to b.txt.``, it does not know
what that means.

The weights in the package are those of three calls, 1,000 steps in all: the first 200 steps of a schedule of 2,650; with
``--start`` from there, the first 600 of ``--steps 0 100 400 1500``; and ``--steps 0 0 0 200 --learning-rate 2e-3``.
"""

from __future__ import annotations

import argparse
import copy
import json
import math
import random
import re
import string
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torch
from tokenizers import AddedToken, Regex, Tokenizer, decoders, models, pre_tokenizers, trainers
from train_tiny import CONTROL, MARKERS
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from lydite.tasksets.files.draft import FOLDERS, STEMS, WORDS
from lydite.training.trl.templates import RESPONSE_TEMPLATE, TOOL_TEMPLATE

VOCABULARY = 800
CONTEXT = 1024
# Line end, ending of a name, letters, one digit, all else: a name has no blank or quote of its own in front.
PIECES = r"\n|\.[a-z]+|[A-Za-z_]+|[0-9]|(?:(?!\.[a-z])[^A-Za-z0-9_\n])+"

WORKSPACE = {"list_dir": ["path"], "read_file": ["path"], "run_command": ["command"], "write_file": ["path", "content"]}
ENDINGS = [".txt", ".txt", ".csv", ".json", ".py", ".md", ".log"]
DONE = "Done."

Turn = dict[str, Any]
Batch = tuple[torch.Tensor, torch.Tensor]


def name(rng: random.Random) -> str:
    """A file."""
    stem = rng.choice(STEMS) if rng.random() < 0.7 else word(rng)
    return stem + rng.choice(ENDINGS)


def word(rng: random.Random) -> str:
    """A word, or letters at random: what is copied need not be known."""
    if rng.random() < 0.7:
        return rng.choice(WORDS)
    return "".join(rng.choices(string.ascii_lowercase, k=rng.randint(1, 5)))


def thing(rng: random.Random) -> str:
    kind = rng.random()
    if kind < 0.4:
        return word(rng)
    if kind < 0.8:
        return name(rng)
    return rng.choice(FOLDERS) if kind < 0.9 else str(rng.randint(0, 199))


def command(rng: random.Random) -> str:
    """A line for a shell."""
    a, b, w, v, box = name(rng), name(rng), word(rng), word(rng), rng.choice(FOLDERS)
    return rng.choice(
        [
            f"mv {a} {b}",
            f"mv {a} {box}/{a}",
            f"cp {a} {b}",
            f"rm {a}",
            f"mkdir {box}",
            f"cat {a}",
            f"ls {box}",
            f"touch {a}",
            f"echo {w} >> {a}",
            f"echo {w} > {a}",
            f"sed -i s/{w}/{v}/ {a}",
            f"sed -i /{w}/d {a}",
            f"grep -c {w} {a} > {b}",
            f"grep -l {w} *.txt > {a}",
            f"grep {w} {a}",
            f"wc -l < {a} > {b}",
            f"wc -l {a}",
            f"sort -o {a} {a}",
            f"head -n {rng.randint(1, 9)} {a}",
            f"python3 {rng.choice(STEMS)}.py {rng.randint(1, 99)}",
            f"{word(rng)} {thing(rng)} {thing(rng)}",
        ]
    )


def answer(rng: random.Random, tool: str, arguments: dict[str, str]) -> str:
    """What a tool might say."""
    if tool == "write_file":
        return f"wrote {len(arguments['content'])} bytes to {arguments['path']}"
    if rng.random() < 0.1:
        return f"error: {thing(rng)} does not exist"
    if tool == "list_dir":
        return "\n".join(thing(rng) for _ in range(rng.randint(1, 4)))
    said = " ".join(thing(rng) for _ in range(rng.randint(1, 3)))
    return said if rng.random() < 0.4 or tool == "read_file" else "(no output)"


def tools(rng: random.Random) -> dict[str, list[str]]:
    """Those of a workspace, or some that are made up."""
    if rng.random() < 0.7:
        return WORKSPACE
    made = {f"{rng.choice(WORDS)}_{rng.choice(WORDS)}": rng.sample(WORDS, rng.randint(1, 3)) for _ in range(4)}
    return dict(sorted(made.items()))


def told(rng: random.Random, tool: str, arguments: dict[str, str]) -> str:
    """A call, in words that leave nothing to think about."""
    if tool == "run_command" and rng.random() < 0.6:
        return f"run {arguments['command']}"
    style = rng.randrange(3)
    if style == 0:
        return f"call {tool} with " + " and ".join(f"{key} {value}" for key, value in arguments.items())
    if style == 1:
        return f"{tool}: " + ", ".join(f"{key} = {value}" for key, value in arguments.items())
    return f"use {tool} for " + ", ".join(arguments.values())


def calls(rng: random.Random) -> tuple[dict[str, list[str]], list[Turn]]:
    """One to three calls, as told, and the end."""
    offered = tools(rng)
    made: list[tuple[str, dict[str, str]]] = []
    for _ in range(rng.choice([1, 1, 2, 2, 3])):
        tool = rng.choice([*offered, *(["run_command", "run_command", "write_file"] if offered is WORKSPACE else [])])
        given = {}
        for key in offered[tool]:
            given[key] = command(rng) if key == "command" else name(rng) if key == "path" else thing(rng)
        made.append((tool, given))
    parts = [told(rng, tool, given) for tool, given in made]
    joint = rng.choice([". Then ", ". ", ", then "])
    asked = joint.join(parts)
    turns: list[Turn] = [{"role": "user", "content": asked[0].upper() + asked[1:] + "."}]
    for tool, given in made:
        turns.append({"role": "assistant", "content": "", "tool_calls": [{"name": tool, "arguments": given}]})
        turns.append({"role": "tool", "content": answer(rng, tool, given)})
    turns.append({"role": "assistant", "content": DONE})
    return offered, turns


def echo(rng: random.Random) -> tuple[dict[str, list[str]], list[Turn]]:
    """A list to say again, or a place in it."""
    items = [thing(rng) for _ in range(rng.choice([2, 3, 4, 6, 12, 24]))]
    offered = WORKSPACE if rng.random() < 0.3 else {}
    mark = rng.choice(["", '"'])
    said = " ".join(f"{mark}{item}{mark}" for item in items)
    if rng.random() < 0.7:
        return offered, [{"role": "user", "content": f"Say {' '.join(items)}."}, {"role": "assistant", "content": said}]
    at = rng.randrange(len(items) - 1)
    asked = f"What comes after {items[at]} in {' '.join(items)}?"
    return offered, [
        {"role": "user", "content": asked},
        {"role": "assistant", "content": f"{mark}{items[at + 1]}{mark}"},
    ]


def repeats(tokenizer: PreTrainedTokenizerFast, rng: random.Random, rows: int, width: int) -> Iterator[Batch]:
    """Endless lists that are said again and again, with labels on all but the first time."""
    while True:
        made = []
        for _ in range(rows):
            between = rng.choice([" ", " ", " ", "\n", ", ", '" "'])
            items = [thing(rng) for _ in range(rng.choice([2, 3, 4] if width < 64 else [2, 3, 4, 6, 8, 12]))]
            once = tokenizer(between.join(items) + between)["input_ids"]
            ids = (once * (width // len(once) + 1))[:width]
            made.append((ids, ([-100] * len(once) + ids[len(once) :])[:width]))
        yield torch.tensor([ids for ids, _ in made]), torch.tensor([labels for _, labels in made])


def conversation(rng: random.Random, talk: float) -> tuple[dict[str, list[str]], list[Turn]]:
    return echo(rng) if rng.random() < talk else calls(rng)


def rendered(offered: dict[str, list[str]], turns: list[Turn]) -> list[tuple[str, bool]]:
    """A conversation in pieces, put together as the chat template does, and whether the model says them."""
    pieces: list[tuple[str, bool]] = []
    if offered:
        listed = "".join(f"\n{tool}({','.join(keys)})" for tool, keys in offered.items())
        pieces.append((f"<|im_start|>tools{listed}<|im_end|>\n", False))
    for turn in turns:
        made = "".join(f"<tool_call>{json.dumps(call)}</tool_call>" for call in turn.get("tool_calls", []))
        pieces.append((f"<|im_start|>{turn['role']}\n", False))
        pieces.append((f"{turn['content']}{made}<|im_end|>", turn["role"] == "assistant"))
        pieces.append(("\n", False))
    return pieces


def make_tokenizer(seed: int) -> PreTrainedTokenizerFast:
    """Byte-level BPE, its pieces learned from the conversations."""
    rng = random.Random(seed)
    texts = ["".join(text for text, _ in rendered(*conversation(rng, 0.2))) for _ in range(5000)]
    texts += [item for item in (*WORDS, *FOLDERS, *STEMS, *ENDINGS) for _ in range(500)]
    texts += ["Write Rename Copy Delete keep Make the folder and move into it In change Count lines of number to"] * 500
    texts += ["Which file holds its name to Add line at end"] * 500
    bpe = Tokenizer(models.BPE())
    bpe.pre_tokenizer = pre_tokenizers.Sequence(
        [
            pre_tokenizers.Split(Regex(PIECES), "isolated"),
            pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False),
        ]
    )
    bpe.decoder = decoders.ByteLevel()
    bpe.train_from_iterator(
        [text for joined in texts for text in re.split("|".join(map(re.escape, [*CONTROL, *MARKERS])), joined)],
        trainers.BpeTrainer(
            vocab_size=VOCABULARY - len(MARKERS),
            special_tokens=CONTROL,
            show_progress=False,
            initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        ),
    )
    bpe.add_tokens([AddedToken(token, special=False, normalized=False) for token in MARKERS])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.chat_template, tokenizer.response_template = TOOL_TEMPLATE, RESPONSE_TEMPLATE
    tokenizer.model_max_length = CONTEXT
    return tokenizer


def make_model(tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=math.ceil(len(tokenizer) / 16) * 16,
        hidden_size=128,
        intermediate_size=416,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=32,
        max_position_embeddings=CONTEXT,
        tie_word_embeddings=True,
        attention_bias=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    look_back(model.model.layers[0].self_attn, config.head_dim)
    return model


@torch.no_grad()
def look_back(attention: Any, size: int) -> None:
    """Start three heads of the first layer as looks at the token before, the one before that, and one more.

    To copy is to find where what was just said stood before, and to say what came next there. It takes a small model
    thousands of steps to come upon the first half of that; from here it takes some hundred to learn the other.
    Queries and keys are biases alone, which the rotation makes a function of the distance: largest at the one wanted.
    """
    for head, distance in enumerate((1, 2, 3)):
        at = head * size
        for pair in range(6):  # the fast ones tell neighbours apart
            angle = -distance * 10_000 ** (-2 * pair / size)
            attention.k_proj.bias[at + pair] = 6.0
            attention.q_proj.bias[at + pair] = 6.0 * math.cos(angle)
            attention.q_proj.bias[at + pair + size // 2] = 6.0 * math.sin(angle)
    torch.nn.init.orthogonal_(attention.v_proj.weight)
    torch.nn.init.orthogonal_(attention.o_proj.weight, gain=0.3)


def batches(tokenizer: PreTrainedTokenizerFast, rng: random.Random, rows: int, talk: float) -> Iterator[Batch]:
    """Endless token ids, with labels on what the model says; similar lengths go together."""
    while True:
        pool: list[tuple[list[int], list[int]]] = []
        for _ in range(rows * 8):
            pieces = rendered(*conversation(rng, talk))
            ids, labels = [], []
            for tokens, (_, mine) in zip(tokenizer([text for text, _ in pieces])["input_ids"], pieces, strict=True):
                ids += tokens
                labels += tokens if mine else [-100] * len(tokens)
            pool.append((ids, labels))
        pool.sort(key=lambda pair: len(pair[0]))
        groups = [pool[start : start + rows] for start in range(0, len(pool), rows)]
        rng.shuffle(groups)
        for group in groups:
            width = max(len(ids) for ids, _ in group)
            pad = tokenizer.pad_token_id
            yield (
                torch.tensor([ids + [pad] * (width - len(ids)) for ids, _ in group]),
                torch.tensor([labels + [-100] * (width - len(labels)) for _, labels in group]),
            )


@torch.no_grad()
def right(model: LlamaForCausalLM, found: list[Batch]) -> tuple[float, float]:
    """The shares of tokens, and of whole conversations, that the likeliest token would get right."""
    tokens, rows = [], []
    for ids, labels in found:
        said = model(input_ids=ids).logits[:, :-1].argmax(-1)
        wanted = labels[:, 1:]
        hit = said == wanted
        tokens.append(hit[wanted != -100].float().mean().item())
        rows.append((hit | (wanted == -100)).all(1).float().mean().item())
    return sum(tokens) / len(tokens), sum(rows) / len(rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs=4, default=(200, 100, 400, 300), help="of each part")
    parser.add_argument(
        "--start", type=Path, help="a folder with weights to go on from, with 0 steps for what they had"
    )
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--out", type=Path, default=Path("src/lydite/policies/assets/tiny_tools"))
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    torch.set_num_threads(1)
    tokenizer = make_tokenizer(options.seed)
    model = (
        LlamaForCausalLM.from_pretrained(options.start, dtype=torch.float32) if options.start else make_model(tokenizer)
    )
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, vocabulary {len(tokenizer)}", flush=True)
    rng = random.Random(options.seed)
    parts = [
        repeats(tokenizer, rng, 120, 32),
        repeats(tokenizer, rng, 20, 96),
        batches(tokenizer, rng, 16, 0.6),
        batches(tokenizer, rng, 16, 0.1),
    ]
    held = {
        "calls": [batch for batch, _ in zip(batches(tokenizer, random.Random(-1), 64, 0.0), range(2), strict=False)],
        "lists": [batch for batch, _ in zip(batches(tokenizer, random.Random(-2), 64, 1.0), range(2), strict=False)],
    }
    optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.05)
    started, total, step = time.process_time(), sum(options.steps), 0
    model.train()
    for part, steps in zip(parts, options.steps, strict=True):
        for (ids, labels), _ in zip(part, range(steps), strict=False):
            rate = min(1.0, (step + 1) / 50) * (0.02 + 0.98 * 0.5 * (1 + math.cos(math.pi * step / total)))
            optimizer.param_groups[0]["lr"] = options.learning_rate * rate
            loss = model(input_ids=ids, labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
            if step % 50 == 0 or step == total:
                shares = {name: right(model, found) for name, found in held.items()}
                told = ", ".join(f"{name} {tokens:.3f} {rows:.3f}" for name, (tokens, rows) in shares.items())
                spent = time.process_time() - started
                print(f"{step} loss {loss.item():.4f}; right tokens, wholes: {told}; {spent:.0f} s", flush=True)
            if step % 200 == 0 or step == total:
                save(model, tokenizer, options.out)


def save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    """In half precision: it is loaded in single precision on a CPU."""
    out.mkdir(parents=True, exist_ok=True)
    copy.deepcopy(model).half().save_pretrained(out)
    tokenizer.save_pretrained(out)
    config = json.loads((out / "config.json").read_text())
    config.pop("_name_or_path", None)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for file in out.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main()
