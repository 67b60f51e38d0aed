"""Make the weights of ``builtin:tiny`` from nothing but generated data. Seeded; about half an hour on 2 cores.

    python scripts/train_tiny.py [--out src/lydite/policies/assets/tiny]

The policy is a byte-level Llama of about 0.9M parameters. It learns arithmetic the way a pretrained model knows a skill: it
can do it, but does not always. Its corpus mixes, for each problem, careful work, work with a slip, bare guesses and
shrugs. Sampling from it is therefore right some of the time, and a reward that can tell is enough to make it right more
often. Problems on the eval side of the content-hash split never occur in the corpus.
"""

from __future__ import annotations

import argparse
import json
import math
import random
import time
from pathlib import Path

import torch
from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
from transformers import LlamaConfig, LlamaForCausalLM, PreTrainedTokenizerFast

from lydite.task import Task
from lydite.tasksets.arithmetic import problem
from lydite.tasksets.split import side
from lydite.training.trl.templates import RESPONSE_TEMPLATE, TOOL_TEMPLATE

CONTROL = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
MARKERS = ["<tool_call>", "</tool_call>", "<tool_response>", "</tool_response>", "<think>", "</think>"]

LEVEL_WEIGHTS = {1: 25, 2: 35, 3: 10, 4: 10, 5: 10, 6: 10}
STYLE_WEIGHTS = {"careful": 40, "slip": 15, "guess": 37, "shrug": 8}


def make_tokenizer() -> PreTrainedTokenizerFast:
    """Byte-level: 256 bytes and the control and tool tokens; no merges, so any text has exactly one spelling."""
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    vocab = {token: index for index, token in enumerate([*CONTROL, *alphabet])}
    bpe = Tokenizer(models.BPE(vocab=vocab, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in CONTROL])
    bpe.add_tokens([AddedToken(token, special=False, normalized=False) for token in MARKERS])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.chat_template = TOOL_TEMPLATE
    tokenizer.response_template = RESPONSE_TEMPLATE
    tokenizer.model_max_length = 2048
    return tokenizer


def make_model(vocab_size: int, tokenizer: PreTrainedTokenizerFast) -> LlamaForCausalLM:
    config = LlamaConfig(
        vocab_size=vocab_size,
        hidden_size=128,
        intermediate_size=416,
        num_hidden_layers=4,
        num_attention_heads=4,
        num_key_value_heads=4,
        head_dim=32,
        max_position_embeddings=2048,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    return LlamaForCausalLM(config)


def answer(task: Task, rng: random.Random, style: str | None) -> str:
    """What the policy says of a task in the corpus: in the given style, or in one of four by their weights."""
    right = str(task.checker.config["answer"])
    style = style or rng.choices(list(STYLE_WEIGHTS), list(STYLE_WEIGHTS.values()))[0]
    if style == "careful":
        return str(task.solution)
    if style == "slip":
        return _slip(str(task.solution), rng)
    if style == "guess":
        said = right if rng.random() < 0.15 else _near(right, rng)
        return f"The answer is \\boxed{{{said}}}"
    return "I am not sure."


def _near(number: str, rng: random.Random) -> str:
    return str(int(number) + rng.choice([-20, -11, -10, -9, -2, -1, 1, 2, 9, 10, 11, 20]))


def _slip(solution: str, rng: random.Random) -> str:
    """The same work, wrong in its last step."""
    work, box = solution.rsplit("\\boxed{", 1)
    right = box.rstrip("}")
    wrong = _near(right, rng)
    return f"{work.removesuffix(f'= {right}. ')}= {wrong}. \\boxed{{{wrong}}}"


def drawn(rng: random.Random) -> Task:
    """A problem on the train side of the split."""
    levels, weights = list(LEVEL_WEIGHTS), list(LEVEL_WEIGHTS.values())
    while True:
        task = problem(rng.choices(levels, weights)[0], rng)
        if side(task) == "train":
            return task


def claims(tokenizer: PreTrainedTokenizerFast, rng: random.Random, rows: int, width: int):
    """Endless batches of running text that is nothing but right claims: every token teaches arithmetic."""
    while True:
        texts = []
        for _ in range(rows):
            text = ""
            while len(text) < width:
                text += str(drawn(rng).solution).split(" \\boxed")[0] + " "
            texts.append(text[:width])
        ids = torch.tensor(tokenizer(texts)["input_ids"])
        yield ids, ids.clone()


def answers(tokenizer: PreTrainedTokenizerFast, rng: random.Random, rows: int, style: str | None):
    """Endless batches of problems and answers, labels only on what the assistant says; similar lengths go together."""
    pad = tokenizer.pad_token_id
    while True:
        pool = []
        for _ in range(rows * 8):
            task = drawn(rng)
            head = f"<|im_start|>user\n{task.prompt_text}<|im_end|>\n<|im_start|>assistant\n"
            pool.append((head, f"{answer(task, rng, style)}<|im_end|>\n"))
        pool.sort(key=lambda pair: len(pair[0]) + len(pair[1]))
        groups = [pool[start : start + rows] for start in range(0, len(pool), rows)]
        rng.shuffle(groups)
        for group in groups:
            heads = tokenizer([head for head, _ in group])["input_ids"]
            tails = tokenizer([tail for _, tail in group])["input_ids"]
            width = max(len(head) + len(tail) for head, tail in zip(heads, tails, strict=True))
            ids = torch.full((len(group), width), pad)
            labels = torch.full((len(group), width), -100)
            for row, (head, tail) in enumerate(zip(heads, tails, strict=True)):
                ids[row, : len(head) + len(tail)] = torch.tensor(head + tail)
                labels[row, len(head) : len(head) + len(tail)] = torch.tensor(tail)
            yield ids, labels


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--steps", type=int, nargs=3, default=(1500, 1200, 300), help="claims, careful, mixed")
    parser.add_argument("--learning-rate", type=float, default=3e-3)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--start", type=Path, help="a folder with weights to go on from")
    parser.add_argument("--out", type=Path, default=Path("src/lydite/policies/assets/tiny"))
    options = parser.parse_args()

    torch.manual_seed(options.seed)
    tokenizer = make_tokenizer()
    vocab = math.ceil(len(tokenizer) / 16) * 16
    model = LlamaForCausalLM.from_pretrained(options.start) if options.start else make_model(vocab, tokenizer)
    print(f"{sum(p.numel() for p in model.parameters()):,} parameters, vocabulary {vocab}", flush=True)
    # Skill first, in text where every token teaches; then how problems are posed and answered; bad habits last and briefly.
    parts = [
        ("claims", claims(tokenizer, random.Random(options.seed), 48, 160), 1.0),
        ("careful", answers(tokenizer, random.Random(options.seed), 64, "careful"), 0.7),
        ("mixed", answers(tokenizer, random.Random(options.seed), 64, None), 0.15),
    ]
    started = time.time()
    model.train()
    for (name, batches, peak), steps in zip(parts, options.steps, strict=True):
        # Each part starts with a generator and an optimizer of its own, so that --start goes on exactly between parts.
        optimizer = torch.optim.AdamW(model.parameters(), betas=(0.9, 0.98), weight_decay=0.05)
        for step, (ids, labels) in zip(range(steps), batches, strict=False):
            rate = peak * min(1.0, (step + 1) / 50) * (0.1 + 0.9 * 0.5 * (1 + math.cos(math.pi * step / steps)))
            optimizer.param_groups[0]["lr"] = options.learning_rate * rate
            loss = model(input_ids=ids, attention_mask=(ids != tokenizer.pad_token_id).long(), labels=labels).loss
            loss.backward()
            torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            optimizer.step()
            optimizer.zero_grad()
            if step % 50 == 0 or step == steps - 1:
                print(f"{name} step {step} loss {loss.item():.4f} {time.time() - started:.0f}s", flush=True)
            if step % 500 == 499 or step == steps - 1:
                _save(model, tokenizer, options.out)


def _save(model: LlamaForCausalLM, tokenizer: PreTrainedTokenizerFast, out: Path) -> None:
    out.mkdir(parents=True, exist_ok=True)
    model.save_pretrained(out)
    tokenizer.save_pretrained(out)
    config = json.loads((out / "config.json").read_text())
    config.pop("_name_or_path", None)
    (out / "config.json").write_text(json.dumps(config, indent=2) + "\n")
    for file in out.iterdir():
        file.chmod(0o644)


if __name__ == "__main__":
    main()
