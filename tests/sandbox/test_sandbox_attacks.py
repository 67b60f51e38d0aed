"""The attack programs against every back end that works here, as root and as an ordinary user.

One process per back end and user runs all its attacks; each attack is a test of its own. What the back end `landlock`
leaves open is listed with the reason, and an attack that is on the list but stopped fails as well: the list stays true.
"""

from __future__ import annotations

import functools
import os
from pathlib import Path
from typing import Any

import pytest
from attack_launch import launch, missing
from attack_programs import FOLDER, attacks

from lydite.sandbox.jail import arch
from lydite.sandbox.threats import DIMENSIONS

BACKENDS = ("namespaces", "namespaces-nocgroup", "landlock")
USERS = ("root", "ordinary")
HERE = "root" if os.getuid() == 0 else "ordinary"
ATTACKS = {attack.name: attack for attack in attacks()}

NO_COUNT = "buffers of sockets belong to no process, and without a network namespace nothing counts them"
NO_QUOTA = "no file system of its own, so no quota: a sampler stops what grows, not what one call reserves"
NO_STAT = "Landlock has no right for looking at a path: stat, access and readlink answer"
KNOWN_OPEN: dict[tuple[str, str], dict[str, str]] = {
    ("landlock", user): {
        "disk/reserved": NO_QUOTA,
        "disk/unlinked": NO_QUOTA,
        "disk/unlinked_by_many": NO_QUOTA,
        "file_system/look_outside": NO_STAT,
        "memory/socket_buffers": NO_COUNT,
    }
    for user in USERS
}
# Ordinary users' jobs may change no times and modes at all, since theirs could be the user's own files.
KNOWN_OPEN[("landlock", "root")]["file_system/change_modes"] = (
    "whoever may write a file may set its times to now, and Landlock does not stop that"
)


OTHER = "ordinary" if HERE == "root" else "root"
SLOW = {("namespaces-nocgroup", HERE), ("landlock", OTHER)}
"""Run whole with the slow tests. The other pairs, which share all of their code with these, are batteries."""


def _marks(backend: str, user: str, name: str | None = None) -> list[pytest.MarkDecorator]:
    if (backend, user) == ("namespaces", HERE):
        slow = name is not None and (ATTACKS[name].lasting or ATTACKS[name].beside)
        return [pytest.mark.slow] if slow else []
    return [pytest.mark.slow] if (backend, user) in SLOW else [pytest.mark.battery]


CASES = [
    pytest.param(backend, user, name, marks=_marks(backend, user, name))
    for backend in BACKENDS
    for user in USERS
    for name in ATTACKS
]


@functools.cache
def _why_not(backend: str, user: str) -> str:
    return missing(backend, user)


@functools.cache
def _records(backend: str, user: str, names: tuple[str, ...]) -> dict[str, dict[str, Any]]:
    return {record["attack"]: record for record in launch(backend, user, list(names))}


def _selected(session: pytest.Session, backend: str, user: str) -> tuple[str, ...]:
    """The attacks of this back end and user that this run of the tests asks for."""
    wanted = []
    for item in session.items:
        chosen = getattr(item, "callspec", None)
        if chosen is not None and chosen.params.get("backend") == backend and chosen.params.get("user") == user:
            wanted.append(chosen.params.get("name"))
    return tuple(name for name in wanted if name in ATTACKS)


@pytest.mark.parametrize(("backend", "user", "name"), CASES)
def test_attack(request: pytest.FixtureRequest, backend: str, user: str, name: str) -> None:
    if reason := _why_not(backend, user):
        pytest.skip(reason)
    records = _records(backend, user, _selected(request.session, backend, user))
    assert name in records, f"was not run: {records.get('after the end')}"
    record = records[name]
    open_because = KNOWN_OPEN.get((backend, user), {}).get(name)
    if open_because:
        assert not record["stopped"], f"stopped after all ({record['how']}): take it off the list"
    else:
        assert record["stopped"], record["how"]


@pytest.mark.parametrize(
    ("backend", "user"),
    [pytest.param(backend, user, marks=_marks(backend, user)) for backend in BACKENDS for user in USERS],
)
def test_nothing_is_left_after_the_end(request: pytest.FixtureRequest, backend: str, user: str) -> None:
    if reason := _why_not(backend, user):
        pytest.skip(reason)
    record = _records(backend, user, _selected(request.session, backend, user))["after the end"]
    assert record["stopped"], record["how"]


@pytest.mark.battery
@pytest.mark.parametrize("backend", ["bwrap", "nsjail", "runsc"])
def test_the_battery_of_a_tool_is_recorded_whole(backend: str) -> None:
    if reason := _why_not(backend, HERE):
        pytest.skip(reason)
    records = launch(backend, HERE)
    assert {record["attack"] for record in records} == {*ATTACKS, "after the end"}


@pytest.mark.slow
@pytest.mark.parametrize("user", USERS)
@pytest.mark.parametrize("backend", ["namespaces", "namespaces-nocgroup"])
def test_programs_of_the_shared_cases(shared: Path, backend: str, user: str) -> None:
    if reason := _why_not(backend, user):
        pytest.skip(reason)
    records = launch(backend, user, folder=shared / "cases" / "attacks")
    assert len(records) > 1
    assert {record["attack"]: record["how"] for record in records if not record["stopped"]} == {}


@pytest.mark.slow
@pytest.mark.parametrize("backend", ["namespaces", "namespaces-nocgroup"])
def test_attacks_as_the_first_of_a_batch(backend: str) -> None:
    """Each program runs twice in one batch. Those that leave something for the next run are left out: the runs of one
    batch share their folders."""
    if reason := _why_not(backend, HERE):
        pytest.skip(reason)
    names = [attack.name for attack in ATTACKS.values() if not attack.again]
    records = launch(backend, HERE, names, batch=True)
    assert {record["attack"]: record["how"] for record in records if not record["stopped"]} == {}
    assert len(records) == len(names) + 1


def test_the_harness_sees_what_succeeds() -> None:
    names = ["credentials/ssh_key", "file_system/look_outside", "file_system/write_outside", "network/udp_loopback"]
    records = {record["attack"]: record["stopped"] for record in launch("unsafe", HERE, names)}
    assert {name: records[name] for name in names} == dict.fromkeys(names, False)


def test_every_dimension_is_attacked_in_several_ways() -> None:
    counts = {name: sum(attack.dimension == name for attack in ATTACKS.values()) for name in DIMENSIONS}
    assert {name: count for name, count in counts.items() if count < 7} == {}
    assert {attack.dimension for attack in ATTACKS.values()} == set(DIMENSIONS)


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*/*.py")), ids=lambda path: f"{path.parent.name}/{path.stem}")
def test_an_attack_says_how_its_success_shows(path: Path) -> None:
    assert "\n\nShows: " in path.read_text().partition('\n"""')[0]


def test_the_kit_has_the_right_numbers() -> None:
    space: dict[str, Any] = {}
    exec((FOLDER / "kit.py").read_text(), space)
    for place, machine in enumerate(("x86_64", "aarch64")):
        numbers = arch.numbers(machine)
        assert {name: pair[place] for name, pair in space["NUMBERS"].items()} == {
            name: numbers.get(name, -1) for name in space["NUMBERS"]
        }


def test_the_list_of_open_attacks_names_attacks_that_exist() -> None:
    assert {name for known in KNOWN_OPEN.values() for name in known} <= set(ATTACKS)
