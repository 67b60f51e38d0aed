"""A policy small enough to train in a test: a byte-level Llama that answers with one of two digits, at random."""

from __future__ import annotations

from typing import Any

CHAT_TEMPLATE = (
    "{% for m in messages %}<|im_start|>{{ m.role }}\n{{ m.content }}<|im_end|>\n{% endfor %}"
    "{% if add_generation_prompt %}<|im_start|>assistant\n{% endif %}"
)


def make_tokenizer() -> Any:
    from tokenizers import AddedToken, Tokenizer, decoders, models, pre_tokenizers
    from transformers import PreTrainedTokenizerFast

    control = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"]
    alphabet = sorted(pre_tokenizers.ByteLevel.alphabet())
    bpe = Tokenizer(models.BPE(vocab={token: i for i, token in enumerate([*control, *alphabet])}, merges=[]))
    bpe.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False, use_regex=False)
    bpe.decoder = decoders.ByteLevel()
    bpe.add_special_tokens([AddedToken(token, special=True, normalized=False) for token in control])
    tokenizer = PreTrainedTokenizerFast(tokenizer_object=bpe, eos_token="<|im_end|>", pad_token="<|endoftext|>")
    tokenizer.chat_template = CHAT_TEMPLATE
    return tokenizer


def make_model(tokenizer: Any, seed: int = 0) -> Any:
    """Two layers of width 32, taught to say ``\\boxed{0}`` or ``\\boxed{1}`` whatever the question."""
    import random

    import torch

    torch.set_num_threads(1)  # more of them only get in each other's way at this size
    from transformers import LlamaConfig, LlamaForCausalLM

    torch.manual_seed(seed)
    config = LlamaConfig(
        vocab_size=272,
        hidden_size=32,
        intermediate_size=64,
        num_hidden_layers=2,
        num_attention_heads=2,
        num_key_value_heads=2,
        max_position_embeddings=256,
        tie_word_embeddings=True,
        eos_token_id=tokenizer.eos_token_id,
        pad_token_id=tokenizer.pad_token_id,
        bos_token_id=None,
    )
    model = LlamaForCausalLM(config)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-2)
    chance = random.Random(seed)
    for _ in range(120):
        texts = [
            f"<|im_start|>user\n{question(chance.randrange(10, 99))}<|im_end|>\n<|im_start|>assistant\n"
            f"\\boxed{{{chance.randrange(2)}}}<|im_end|>"
            for _ in range(8)
        ]
        ids = torch.tensor(tokenizer(texts)["input_ids"])
        labels = ids.clone()
        labels[:, :-10] = -100  # the answer and its end
        loss = model(input_ids=ids, labels=labels).loss
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
    return model


def question(number: int) -> str:
    return f"Is {number} odd?"


def task_document(number: int) -> dict[str, Any]:
    return {
        "id": f"odd-{number}",
        "prompt": question(number),
        "checker": {"type": "math", "config": {"answer": str(number % 2)}},
        "solution": f"\\boxed{{{number % 2}}}",
        "metadata": {"flags": {"no_visible_work": {"min_words": 0, "min_numbers": 0}}},
    }


def grpo(**changes: Any) -> dict[str, Any]:
    stage = {
        "kind": "grpo",
        "steps": 2,
        "num_generations": 4,
        "prompts_per_step": 4,
        "max_completion_length": 12,
        "learning_rate": 1e-3,
        "entropy_coef": 0.0,
        **({} if {"loss", "loss_type"} & changes.keys() else {"loss_type": "grpo"}),
    }
    return {**stage, **changes}
