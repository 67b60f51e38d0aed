"""Levels 1 and 2: one short tool call; two or three."""

from __future__ import annotations

import random
from typing import Final

from lydite.tasksets.files.draft import FOLDERS, Draft, Maker, lines, moved, names, words


def create(rng: random.Random) -> Draft:
    """A file of one word."""
    (name,), (word,) = names(rng, 1), words(rng, 1)
    prompt = f"Write {word} to {name}."
    return Draft(kind="create", prompt=prompt, changes=[["text", name, word]], files={name: word})


def rename(rng: random.Random) -> Draft:
    """A file gets another name."""
    (old, new), (word,) = names(rng, 2), words(rng, 1)
    return Draft(
        kind="rename",
        prompt=f"Rename {old} to {new}.",
        setup={old: lines(word)},
        changes=[moved(old, new, word)],
        commands=[f"mv {old} {new}"],
    )


def copy(rng: random.Random) -> Draft:
    """A file twice."""
    (old, new), (word,) = names(rng, 2), words(rng, 1)
    return Draft(
        kind="copy",
        prompt=f"Copy {old} to {new}.",
        setup={old: lines(word)},
        changes=[["text", new, word]],
        kept=[["text", old, word]],
        commands=[f"cp {old} {new}"],
    )


def delete(rng: random.Random) -> Draft:
    """One file of two goes."""
    (name, other), (one, two) = names(rng, 2), words(rng, 2)
    return Draft(
        kind="delete",
        prompt=f"Delete {name}, keep {other}.",
        setup={name: lines(one), other: lines(two)},
        changes=[["gone", name]],
        kept=[["text", other, two]],
        commands=[f"rm {name}"],
    )


def create_two(rng: random.Random) -> Draft:
    """Two files of one word each."""
    (first, second), (one, two) = names(rng, 2), words(rng, 2)
    return Draft(
        kind="create",
        prompt=f"Write {one} to {first} and {two} to {second}.",
        changes=[["text", first, one], ["text", second, two]],
        files={first: one, second: two},
    )


def create_and_rename(rng: random.Random) -> Draft:
    """A new file, and another name for an old one."""
    (new, old, other), (one, two) = names(rng, 3), words(rng, 2)
    return Draft(
        kind="rename",
        prompt=f"Write {one} to {new}. Rename {old} to {other}.",
        setup={old: lines(two)},
        changes=[["text", new, one], moved(old, other, two)],
        files={new: one},
        commands=[f"mv {old} {other}"],
    )


def into_folder(rng: random.Random) -> Draft:
    """A file goes into a folder that is not there yet."""
    (name,), (word,), folder = names(rng, 1), words(rng, 1), rng.choice(FOLDERS)
    return Draft(
        kind="rename",
        prompt=f"Make the folder {folder} and move {name} into it.",
        setup={name: lines(word)},
        changes=[moved(name, f"{folder}/{name}", word)],
        commands=[f"mkdir {folder}", f"mv {name} {folder}/{name}"],
    )


def edit(rng: random.Random) -> Draft:
    """One word for another."""
    (name,), (old, new, rest) = names(rng, 1), words(rng, 3)
    return Draft(
        kind="edit",
        prompt=f"In {name} change {old} to {new}.",
        setup={name: lines(f"{old} {rest}")},
        changes=[["text", name, f"{new} {rest}"]],
        commands=[f"sed -i s/{old}/{new}/ {name}", f"cat {name}"],
    )


def count(rng: random.Random) -> Draft:
    """Lines of a file."""
    name, out = names(rng, 2)
    held = words(rng, rng.randint(2, 9))
    return Draft(
        kind="count",
        prompt=f"Count the lines of {name}. Write the number to {out}.",
        setup={name: lines(*held)},
        changes=[["text", out, str(len(held))]],
        kept=[["text", name, lines(*held).rstrip()]],
        commands=[f"wc -l < {name} > {out}", f"cat {out}"],
    )


def search(rng: random.Random) -> Draft:
    """The one file of three that holds a word."""
    *held, out = names(rng, 4)
    found = words(rng, 3)
    return Draft(
        kind="search",
        prompt=f"Which file holds {found[0]}? Write its name to {out}.",
        setup=dict(sorted(zip(held, map(lines, found), strict=True))),
        changes=[["text", out, held[0]]],
        kept=[["text", name, word] for name, word in zip(held, found, strict=True)],
        commands=[f"grep -l {found[0]} *.txt > {out}", f"cat {out}"],
    )


LEVEL_1: Final[tuple[Maker, ...]] = (create, rename, copy, delete)
LEVEL_2: Final[tuple[Maker, ...]] = (create_two, create_and_rename, into_folder, edit, count, search)
