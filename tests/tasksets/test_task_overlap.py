"""Duplicates and near duplicates between sets, and the index under them."""

from __future__ import annotations

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from lydite.errors import InputError
from lydite.rollout import Message
from lydite.task import Checker, Task
from lydite.tasksets import Overlap, find_overlap, generate, load_tasks, split_tasks
from lydite.tasksets._grams import Index, masked, words

STORY = "Anna has 12 red apples in a basket and gives 5 of them to her brother before they walk home."


def task(name: str, prompt: str, **metadata: str) -> Task:
    checker = Checker(type="math", config={"answer": "1"})
    return Task(id=name, prompt=(Message(role="user", content=prompt),), checker=checker, metadata=dict(metadata))


def only(train: str, held: str) -> Overlap | None:
    found = find_overlap([task("t", train)], [task("e", held)])
    assert len(found) <= 1
    return found[0] if found else None


@pytest.mark.parametrize("same", [STORY, f"  {STORY.upper()}\n", STORY.replace(" ", "\n\n"), STORY.replace(".", " .")])
def test_the_same_prompt_is_a_duplicate_whatever_its_case_and_spacing(same: str) -> None:
    found = only(STORY, same)
    assert found is not None
    assert (found.kind, found.eval_id, found.train_id, found.share, found.contaminates) == (
        "duplicate",
        "e",
        "t",
        1,
        True,
    )


def test_short_prompts_with_other_signs_differ() -> None:
    assert only("3 + 4", "3 * 4") is None
    assert only("3 + 4", "3+4") is not None


def test_a_prompt_inside_a_longer_one_is_near() -> None:
    found = only(f"Read this with care. {STORY} What is left?", STORY)
    assert found is not None
    assert (found.kind, found.share) == ("near", 1.0)
    assert 0 < found.jaccard < 1
    assert found.example in " ".join(STORY.casefold().replace(".", " .").split())
    assert len(found.example.split()) == 8


def test_the_share_is_of_the_evaluated_prompt() -> None:
    assert only(STORY, f"{STORY} {' '.join(f'w{i}' for i in range(60))}") is None


def test_the_share_is_exact() -> None:
    words = [f"w{i}" for i in range(20)]
    found = only(" ".join(words[:16]), " ".join(words))
    assert found is not None
    assert found.share == 9 / 13  # 8-grams: 13 in the evaluated prompt, 9 of them in the other
    assert found.jaccard == 9 / 13


def test_other_numbers_in_the_same_words_are_a_template() -> None:
    other = STORY.replace("12", "1,340").replace("5", "77")
    found = only(STORY, other)
    assert found is not None
    assert (found.kind, found.contaminates) == ("template", False)


@pytest.mark.parametrize(("text", "hidden"), [("12km, x1 and 1,250.5!", "#km, x1 and #!"), ("3/4 at 10:30", "# at #")])
def test_numbers_are_masked_and_names_are_not(text: str, hidden: str) -> None:
    assert masked(text) == hidden


def test_different_stories_do_not_overlap() -> None:
    assert (
        only(STORY, "A train leaves at noon and travels 60 miles each hour until it comes to the coast at dusk.")
        is None
    )


def test_the_instruction_of_a_data_set_is_not_compared() -> None:
    rule = " Think step by step and write the final answer on the last line of what you say."
    train = [task("t", "Short one?" + rule, question="Short one?")]
    assert find_overlap(train, [task("e", "Other one!" + rule, question="Other one!")]) == []


def test_an_instruction_shared_by_the_whole_set_does_not_count() -> None:
    rule = " Think step by step and write the final answer on the last line of what you say."
    names = ["Anna", "Ben", "Cleo", "Dora", "Emil", "Fay", "Gus", "Hugo", "Ida", "Jon"]
    held = [task(f"e{i}", f"{name} asks something of {name * 2}.{rule}") for i, name in enumerate(names)]
    train = [task(f"t{i}", f"Now {name} says a thing to {name * 3}!{rule}") for i, name in enumerate(names)]
    assert find_overlap(train, held) == []


def test_the_closest_training_task_is_named_and_the_others_counted() -> None:
    train = [
        task("far", " ".join(STORY.split()[:14])),
        task("close", STORY + " And then?"),
        task("no", "Something else"),
    ]
    (found,) = find_overlap(train, [task("e", STORY)])
    assert (found.train_id, found.others) == ("close", 1)


def test_findings_come_in_the_order_of_the_evaluated_set_whatever_the_training_order() -> None:
    train = [task(f"t{i}", STORY.replace("Anna", name)) for i, name in enumerate(("Ben", "Cleo", "Dora"))]
    held = [task("e2", STORY.replace("Anna", "Dora")), task("e1", STORY.replace("Anna", "Ben"))]
    assert [item.eval_id for item in find_overlap(train, held)] == ["e2", "e1"]
    assert [item.train_id for item in find_overlap(reversed(train), held)] == ["t2", "t0"]


@pytest.mark.parametrize(("n", "threshold"), [(2, 0.5), (51, 0.5), (8, 0.0), (8, 1.5), (8, float("nan"))])
def test_parameters_out_of_range(n: int, threshold: float) -> None:
    with pytest.raises(InputError):
        find_overlap([], [], n=n, threshold=threshold)


def test_a_generated_family_splits_without_contamination() -> None:
    train, held = split_tasks(generate("arithmetic", levels=[1, 2, 3, 4, 5, 6], n=300, seed=5), 0.25)
    found = find_overlap(train, held)
    assert [item for item in found if item.contaminates] == []
    assert any(item.kind == "template" for item in found)


def test_gsm8k_train_and_test(shared: Path) -> None:
    train, held = (load_tasks(shared / "data" / f"gsm8k_{name}.jsonl") for name in ("train", "test"))
    assert not [item for item in find_overlap(train, held) if item.kind == "duplicate"]
    planted = [*held[:3], task("rewritten", f"Please read: {held[50].metadata['question']} Thanks!")]
    found = [item for item in find_overlap([*train, *planted], held) if item.train_id in {item.id for item in planted}]
    assert [item.kind for item in found] == ["duplicate"] * 3 + ["near"]


TEXTS = st.lists(st.lists(st.sampled_from("abcd"), max_size=14), max_size=14)


@given(TEXTS, st.lists(st.sampled_from("abcd"), max_size=14))
def test_the_index_says_what_comparing_all_with_all_says(texts: list[list[str]], query: list[str]) -> None:
    n = 3

    def grams(text: list[str]) -> list[tuple[str, ...]]:
        return [tuple(text[i : i + n]) for i in range(len(text) - n + 1)]

    counts = [set(grams(text)) for text in texts]
    common = {g for c in counts for g in c if sum(g in other for other in counts) > 5}

    def own(text: list[str]) -> set[tuple[str, ...]]:
        covered = {j for i, gram in enumerate(grams(text)) if gram in common for j in range(i, i + n)}
        return {gram for i, gram in enumerate(grams(text)) if not covered & set(range(i, i + n))}

    expected = {}
    for place, text in enumerate(texts):
        if both := own(text) & own(query):
            expected[place] = (len(both) / len(own(text)), len(both) / len(own(text) | own(query)), " ".join(min(both)))
    found = {match.place: (match.containment, match.jaccard, match.example) for match in Index(texts, n).matches(query)}
    assert found == expected


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Convert 2500 g to kg. Put it down.", "Convert 2500 g to kg! Put it down"),
        ("Well-known: “Anna”, and Ben…", "well known Anna; and 'Ben'?"),
        ("Add 1.5 and 1,250.", "add 1.5, and 1,250?"),
        ("The list 1, 2, 3.", "The list: 1,2,3"),
        ("Don't stop, go", "don’t stop — go"),
    ],
)
def test_punctuation_does_not_make_another_prompt(one: str, other: str) -> None:
    found = only(one, other)
    assert found is not None
    assert found.kind == "duplicate"


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("Add 1.5 to it", "Add 15 to it"),
        ("Add 1.5 to it", "Add 1 5 to it"),
        ("Add 1,250 to it", "Add 1 250 to it"),
        ("What is 5!", "What is 5"),
        ("What is n! here", "What is n here"),
        ("What is f'(x)", "What is f(x)"),
        ("What is 3 - 4", "What is 3 4"),
        ("What is -4", "What is 4"),
        ("What is x-y", "What is x y"),
        ("What is (2 + 3) * 4", "What is 2 + (3 * 4)"),
        ("What is .5", "What is 5"),
        ("???", "!!!"),
    ],
)
def test_signs_and_numbers_make_another_prompt(one: str, other: str) -> None:
    found = only(one, other)
    assert found is None or found.kind == "template"


def test_numbers_are_one_word_each() -> None:
    assert words("1.5 and 1,250 or 1,250.75, at 10:30.") == ["1.5", "and", "1,250", "or", "1,250.75", "at", "10:30"]
