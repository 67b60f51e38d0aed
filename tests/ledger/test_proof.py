"""A proof file convinces somebody who does not have the run, and any other file does not."""

from __future__ import annotations

import builtins
import hashlib
import json
import random
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from ledger_making import grades, make_run
from rescoring_making import MATH, STRICT, attempt, judged_run

from lydite.cli import main
from lydite.errors import InputError, MissingExtraError
from lydite.ledger import RunFolder, verify_run
from lydite.ledger.chain import link
from lydite.ledger.changes import Swap, by_swaps
from lydite.ledger.merkle import consistency, inclusion, root_of
from lydite.ledger.proof import Proof, encode, prove, prove_extension
from lydite.ledger.proof_check import check_proof
from lydite.sampling import Judge, rescore
from lydite.sandbox import Snapshot
from lydite.tasksets import parse_task


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Twelve records, a rescoring of them behind these."""
    path = judged_run(tmp_path_factory.mktemp("proofs") / "run")
    rescore(path, by_swaps([Swap(None, "math", {"extraction": "strict"})], MATH), {"checker": STRICT}, name="strict")
    return path


@pytest.fixture(scope="module")
def key(tmp_path_factory: pytest.TempPathFactory) -> Path:
    from lydite.ledger.signing import make_key

    pytest.importorskip("cryptography")
    path = tmp_path_factory.mktemp("keys") / "key"
    make_key(path)
    return path


@pytest.fixture(scope="module")
def full(run: Path, key: Path) -> bytes:
    """A proof with everything in it."""
    return prove(RunFolder.open(run), "sample/t2/1", with_sample=True, key=key)


def decoded(data: bytes) -> dict[str, Any]:
    document = json.loads(data)
    del document["hash"]
    return dict(document)


def encoded(document: dict[str, Any]) -> bytes:
    """A file of a forger who knows the format."""
    return encode(msgspec.convert(document, Proof))


def test_every_record_is_proved_to_whoever_noted_head_or_root(run: Path) -> None:
    audited = verify_run(run)
    ids = [(row.rollout.id, which) for which in ("old", "strict") for row in RunFolder.open(run).rows()]
    for name, which in ids:
        data = prove(RunFolder.open(run, verdicts=which), name)
        found = check_proof(data, head=audited.head, root=audited.root)
        assert (found.problem, found.anchors, found.head_commits) == (None, ("root", "head"), True)
        assert found.record is not None
        assert (found.record.rollout, found.size) == (name, 25)
        assert len(data) < 10_000


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 8, 9])
@pytest.mark.parametrize("commit", [1, 3, 99])
def test_runs_of_every_size_and_commit_prove_all_their_records(tmp_path: Path, size: int, commit: int) -> None:
    everything = [item for phase in ("a", "b") for item in grades(phase=phase)][:size]
    with RunFolder.create(tmp_path / "run", kind="k", settings={}, tasks=()) as folder:
        from ledger_making import TASKS

        folder.add_tasks(TASKS)
        for at in range(0, size, commit):
            folder.append(everything[at : at + commit])
        folder.finish()
    head = RunFolder.open(tmp_path / "run").info.head
    for item in everything:
        found = check_proof(prove(RunFolder.open(tmp_path / "run"), item.rollout.id), head=head)
        assert (found.problem, found.size) == (None, size)


@settings(max_examples=150, deadline=None)
@given(data=st.data())
def test_any_single_byte_that_is_changed_removed_or_put_in_is_found(full: bytes, data: st.DataObject) -> None:
    at = data.draw(st.integers(0, len(full) - 1), label="at")
    how = data.draw(st.sampled_from(["flip", "replace", "remove", "insert"]), label="how")
    byte = data.draw(st.sampled_from([*b" \n\r\t\x00", *b'0a{}",']) | st.integers(0, 255), label="byte")
    if how == "flip":
        bad = full[:at] + bytes([full[at] ^ (1 << byte % 8)]) + full[at + 1 :]
    elif how == "remove":
        bad = full[:at] + full[at + 1 :]
    else:
        bad = full[:at] + bytes([byte]) + full[at + (how == "replace") :]
    if bad != full:
        assert check_proof(bad).problem is not None


def test_every_byte_with_its_lowest_bit_flipped_is_found(full: bytes) -> None:
    assert check_proof(full).problem is None
    for at in range(len(full)):
        bad = bytearray(full)
        bad[at] ^= 1
        assert check_proof(bytes(bad)).problem is not None, at


def _leaves(document: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    if isinstance(document, dict):
        return [leaf for name, value in document.items() for leaf in _leaves(value, (*path, name))]
    if isinstance(document, list):
        return [leaf for at, value in enumerate(document) for leaf in _leaves(value, (*path, at))]
    return [path]


@pytest.mark.parametrize("signed", [True, False])
def test_no_field_can_be_changed_by_who_makes_the_files_own_hash_again(run: Path, full: bytes, signed: bool) -> None:
    """Every value of the file is bound to the head."""
    if not signed:
        full = encode(msgspec.convert({**decoded(full), "signature": None}, Proof))
    audited, rng = verify_run(run), random.Random(3)
    places = _leaves(decoded(full))
    assert len(places) > 30
    for place in places:
        document = decoded(full)
        holder: Any = document
        for step in place[:-1]:
            holder = holder[step]
        old = holder[place[-1]]
        if old is None:
            continue
        if isinstance(old, int):
            holder[place[-1]] = old + 1
        else:
            at = rng.randrange(len(old))
            holder[place[-1]] = old[:at] + ("0" if old[at] != "0" else "1") + old[at + 1 :]
        if place == ("proof",):
            with pytest.raises(msgspec.ValidationError):
                encoded(document)
            continue
        found = check_proof(encoded(document), head=audited.head)
        assert found.problem is not None, (place, old, holder[place[-1]])


@pytest.mark.parametrize("spell", [str.upper, lambda text: f" {text}", lambda text: f"{text[:2]} {text[2:]}"])
def test_a_hash_has_one_spelling(full: bytes, spell: Callable[[str], str]) -> None:
    for place in (
        ("record", "path", 0),
        ("after", "below", 1),
        ("signature", "key"),
        ("signature", "value"),
        ("root",),
    ):
        document = decoded(full)
        holder: Any = document
        for step in place[:-1]:
            holder = holder[step]
        if spell(holder[place[-1]]) != holder[place[-1]]:
            holder[place[-1]] = spell(holder[place[-1]])
            assert check_proof(encoded(document)).problem is not None, place


def test_an_invented_record_is_not_proved_by_a_head_that_was_noted(run: Path) -> None:
    """A forger makes a whole ledger of his own below the true head: the head does not commit to his tree."""
    data = decoded(prove(RunFolder.open(run), "sample/t2/2"))
    line = json.loads(data["record"]["line"])
    verdict = {**line["verdict"], "outcome": "correct", "score": 1.0, "reason": "correct"}
    forged = data["record"]["line"].replace(
        msgspec.json.encode(line["verdict"]).decode(), msgspec.json.encode(verdict).decode()
    )
    assert forged != data["record"]["line"]
    body = forged[:-75]
    forged = f'{body},"hash":"{hashlib.sha256(body.encode()).hexdigest()}"}}'
    after = data["after"]["line"]
    after_body = after[:-75].replace(line["hash"], json.loads(forged)["hash"])
    after = f'{after_body},"hash":"{hashlib.sha256(after_body.encode()).hexdigest()}"}}'
    lines = [json.loads(text)["hash"] for text in (run / "ledger.jsonl").read_text().splitlines()]
    seq = line["seq"]
    lines[seq - 1], lines[seq] = json.loads(forged)["hash"], json.loads(after)["hash"]
    hashes = [bytes.fromhex(name) for name in lines]
    for name, at in (("first", 1), ("record", seq), ("before", seq - 1), ("after", seq + 1), ("head", 25)):
        data[name]["path"] = [part.hex() for part in inclusion(hashes, at - 1)]
        if at < 25:
            data[name]["below"] = [part.hex() for part in inclusion(hashes[:-1], at - 1)]
    data["record"]["line"], data["after"]["line"], data["root"] = forged, after, root_of(hashes).hex()
    head = verify_run(run).head
    assert check_proof(encoded(data)).problem is not None  # not even without a head: its line holds the true root
    assert check_proof(encoded(data), head=head).problem is not None
    for name in ("first", "record", "before", "after"):
        data[name]["below"] = None
    assert check_proof(encoded(data), head=head).problem is not None


def test_hashes_noted_elsewhere_must_agree(run: Path, full: bytes) -> None:
    audited = verify_run(run)
    assert check_proof(full, head=audited.head).problem is None
    assert "not the one" in str(check_proof(full, head=audited.root).problem)
    assert "not the one" in str(check_proof(full, root=audited.head).problem)


def test_a_signature_must_be_that_of_the_key_asked_for(run: Path, full: bytes, key: Path, tmp_path: Path) -> None:
    from lydite.ledger.signing import make_key, public_key

    public = public_key(f"{key}.pub")
    assert check_proof(full, key=public).anchors == ("public key",)
    other = public_key(str(make_key(tmp_path / "other")))
    assert "another key" in str(check_proof(full, key=other).problem)
    unsigned = prove(RunFolder.open(run), "sample/t2/1")
    assert "not signed" in str(check_proof(unsigned, key=public).problem)
    document = decoded(full)
    document["signature"]["key"] = other
    assert "signature is not" in str(check_proof(encoded(document), key=other).problem)
    document["signature"] = decoded(prove(RunFolder.open(run), "sample/t2/1", key=tmp_path / "other"))["signature"]
    assert "another key" in str(check_proof(encoded(document), key=public).problem)


def test_a_private_key_is_readable_by_its_owner_only_and_never_replaced(key: Path) -> None:
    from lydite.ledger.signing import make_key

    assert stat.S_IMODE(key.stat().st_mode) == 0o600
    with pytest.raises(InputError, match="is there already"):
        make_key(key)


@pytest.mark.parametrize("content", [b"", b"-----BEGIN PRIVATE KEY-----\nAAAA\n-----END PRIVATE KEY-----\n", None])
def test_what_is_no_key_is_told(run: Path, tmp_path: Path, content: bytes | None) -> None:
    pytest.importorskip("cryptography")
    from lydite.ledger.signing import public_key

    path = tmp_path / "key"
    if content is not None:
        path.write_bytes(content)
    with pytest.raises(InputError, match=r"key"):
        prove(RunFolder.open(run), "sample/t2/1", key=path)
    with pytest.raises(InputError, match=r"key"):
        public_key(str(path))


def test_without_the_library_signing_says_what_to_install(
    run: Path, full: bytes, key: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = builtins.__import__

    def refuse(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("cryptography"):
            raise ImportError(name)
        return real(name, *rest, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(MissingExtraError, match=r"lydite\[sign\]"):
        prove(RunFolder.open(run), "sample/t2/1", key=key)
    with pytest.raises(MissingExtraError, match=r"lydite\[sign\]"):
        check_proof(full, key="0" * 64)
    found = check_proof(full, head=verify_run(run).head)  # what can be checked without it is
    assert (found.problem, found.signature, found.anchors) == (None, None, ("head",))


def test_the_verdict_is_derived_again_from_the_sample_in_the_file(run: Path, full: bytes) -> None:
    found = check_proof(full, judge=True)
    assert found.again is not None
    assert (found.problem, found.again.match) == (None, "same")
    rescored = prove(RunFolder.open(run, verdicts="strict"), "sample/t2/0", with_sample=True)
    found = check_proof(rescored, judge=True)
    assert found.again is not None
    assert (found.again.match, found.again.recorded.reason) == ("same", "no_answer")
    with pytest.raises(InputError, match="no sample"):
        check_proof(prove(RunFolder.open(run), "sample/t2/1"), judge=True)


def test_a_verdict_that_the_verifier_does_not_give_is_found(tmp_path: Path) -> None:
    judge = Judge()
    with RunFolder.create(tmp_path / "run", kind="k", settings={}, tasks=MATH) as folder:
        wrong = judge.judge(attempt(MATH[0], 2), MATH[0])
        right = judge.judge(attempt(MATH[0], 1), MATH[0])
        folder.append([msgspec.structs.replace(wrong, verdict=right.verdict)])
        folder.finish()
    data = prove(RunFolder.open(tmp_path / "run"), "sample/t1/2", with_sample=True)
    assert check_proof(data).problem is None
    assert "not what the verifier says" in str(check_proof(data, judge=True).problem)


def test_what_an_episode_left_behind_goes_along(tmp_path: Path) -> None:
    document = {"id": "t", "prompt": "x", "checker": {"type": "file_exists", "config": {"paths": ["a.txt"]}}}
    task, judge, state = parse_task(document), Judge(), Snapshot.from_files({"a.txt": b"one" * 1000})
    with RunFolder.create(tmp_path / "run", kind="k", settings={}, tasks=[task]) as folder:
        rollout = msgspec.structs.replace(attempt(MATH[0], 0), id="sample/t/0", task="t", task_digest=task.digest)
        rollout = msgspec.structs.replace(rollout, workspace=folder.keep(state))
        folder.append([judge.judge(rollout, task, state)])
        folder.finish()
    data = prove(RunFolder.open(tmp_path / "run"), "sample/t/0", with_sample=True)
    found = check_proof(data, judge=True)
    assert found.again is not None
    assert found.again.match == "same"
    changed = decoded(data)
    changed["evidence"]["state"] = None
    assert "left behind" in str(check_proof(encoded(changed)).problem)


def test_a_ledger_is_shown_to_be_a_continuation_of_each_earlier_head(tmp_path: Path) -> None:
    heads = []
    with RunFolder.create(tmp_path / "run", kind="k", settings={}, tasks=()) as folder:
        from ledger_making import TASKS

        folder.add_tasks(TASKS)
        for at in range(0, 8, 2):
            folder.append(grades()[at : at + 2])
            heads.append(folder.info.head)
        folder.append([grades(phase="one")[0]])
        heads.append(folder.info.head)
        folder.finish()
    for old in heads:
        data = prove_extension(RunFolder.open(tmp_path / "run"), old)
        found = check_proof(data, head=heads[-1], extends=old)
        assert (found.problem, found.extends, found.anchors) == (None, old, ("head", "earlier head"))
        assert (check_proof(data, extends=heads[-1]).problem is None) == (old == heads[-1])
        document = decoded(data)
        document["consistency"] = [*document["consistency"], "0" * 64]
        assert check_proof(encoded(document)).problem is not None
        if len(document["consistency"]) > 1:
            document["consistency"] = [*document["consistency"][:-2], "0" * 64]
            assert "rewritten" in str(check_proof(encoded(document)).problem)
    with pytest.raises(InputError, match="no record has this hash"):
        prove_extension(RunFolder.open(tmp_path / "run"), "0" * 64)
    single = prove(RunFolder.open(tmp_path / "run"), "sample/t0/0")
    assert "no proof that a ledger was continued" in str(check_proof(single, extends=heads[0]).problem)


def test_a_head_of_records_that_were_rewritten_since_is_not_extended(tmp_path: Path) -> None:
    """Whoever rewrites records before a head that was noted, and keeps that head's line, has another tree below it."""
    path = make_run(tmp_path / "run")
    noted = RunFolder.open(path).info.head
    with RunFolder.reopen(path) as folder:
        folder.append(grades(phase="more"))
        folder.finish()
    data = decoded(prove_extension(RunFolder.open(path), noted))
    lines = [json.loads(line)["hash"] for line in (path / "ledger.jsonl").read_text().splitlines()]
    hashes = [bytes.fromhex(name) for name in ["0" * 64, *lines[1:]]]  # as if the first record were another
    data["consistency"] = [part.hex() for part in consistency(hashes[:-1], 7)]
    assert check_proof(encoded(data), extends=noted).problem is not None


def older(path: Path) -> None:
    """Make a run as it was written before heads committed to a tree."""
    from lydite.ledger.info import read_info, write_info
    from lydite.ledger.reading import read_record

    info = read_info(path)
    head, out = info.genesis, []
    for seq, line in enumerate((path / "ledger.jsonl").read_bytes().splitlines(), 1):
        data, head = link(read_record(line, path, seq), seq, head)
        out.append(data)
    (path / "ledger.jsonl").write_bytes(b"".join(out))
    write_info(path, msgspec.structs.replace(info, head=head))


def test_an_older_ledger_is_read_verified_continued_and_proved_by_its_root(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    older(path)
    audited = verify_run(path)
    assert (audited.problem, audited.records, len(list(RunFolder.open(path).rows()))) == (None, 8, 8)
    data = prove(RunFolder.open(path), "sample/t1/0")
    assert check_proof(data, root=audited.root).problem is None
    assert "does not commit" in str(check_proof(data, head=audited.head).problem)
    with RunFolder.reopen(path) as folder:
        folder.append(grades(phase="more"))
        folder.finish()
    audited = verify_run(path)
    data = prove(RunFolder.open(path), "sample/t1/0")
    assert check_proof(data, head=audited.head).problem is None


def test_a_damaged_run_and_an_unknown_id_prove_nothing(tmp_path: Path) -> None:
    path = make_run(tmp_path / "run")
    with pytest.raises(InputError, match="no rollout"):
        prove(RunFolder.open(path), "sample/t9/9")
    ledger = path / "ledger.jsonl"
    ledger.write_bytes(ledger.read_bytes().replace(b'"reward":-0.1', b'"reward":1.0', 1))
    with pytest.raises(InputError, match="damaged"):
        prove(RunFolder.open(path), "sample/t0/0")


@pytest.mark.parametrize(
    "spoil",
    [
        lambda data: b"",
        lambda data: b"{}\n",
        lambda data: data[:-1],
        lambda data: data + b"\n",
        lambda data: b"[" * 100_000,
        lambda data: json.dumps(json.loads(data)).encode(),
        lambda data: encode(msgspec.defstruct("P", [("a", int)])(1)),
    ],
)
def test_other_files_are_told_and_break_nothing(full: bytes, spoil: Callable[[bytes], bytes]) -> None:
    assert check_proof(spoil(full)).problem is not None


def command(capsys: pytest.CaptureFixture[str], *words: object) -> tuple[int, str, str]:
    with pytest.raises(SystemExit) as left:
        main([str(word) for word in words])
    out, err = capsys.readouterr()
    return int(left.value.code or 0), out, err


def test_the_commands(run: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("cryptography")
    key, file, head = tmp_path / "key", tmp_path / "proof.json", RunFolder.open(run).info.head
    assert command(capsys, "ledger", "keygen", "-o", key)[0] == 0
    words = ("ledger", "prove", run, "sample/t1/1", "-o", file, "--with-sample", "--key", key)
    assert command(capsys, *words)[0] == 0
    root = json.loads(command(capsys, "ledger", "verify", run, "--json")[1])["root"]
    noted = ("--head", head, "--root", root, "--public-key", f"{key}.pub", "--judge")
    code, out, told = command(capsys, "ledger", "check", file, *noted, "--json")
    said = json.loads(out)
    assert (code, said["ok"], said["id"], said["anchors"]) == (0, True, "sample/t1/1", ["root", "head", "public key"])
    assert (said["judged_again"], said["signature"]["good"]) == ("same", True)
    earlier = json.loads((run / "ledger.jsonl").read_bytes().splitlines()[11])["hash"]
    chain = tmp_path / "chain.json"
    assert command(capsys, "ledger", "prove", run, "--extends", earlier, "-o", chain)[0] == 0
    code, out, told = command(capsys, "ledger", "check", chain, "--head", head, "--extends", earlier, "--json")
    assert (code, json.loads(out)["anchors"], "continues the ledger" in told) == (0, ["head", "earlier head"], True)
    assert command(capsys, "ledger", "prove", run, "-o", chain)[0] == 2
    code, _, told = command(capsys, "ledger", "check", file)
    assert (code, "agrees with itself only" in told) == (0, True)
    assert command(capsys, "ledger", "check", file, "--head", "0" * 64)[0] == 1
    assert command(capsys, "ledger", "check", file, "--head", "0")[0] == 2
    assert command(capsys, "ledger", "check", tmp_path / "none")[0] == 2
    file.write_bytes(file.read_bytes().replace(b"correct", b"Correct", 1))
    assert command(capsys, "ledger", "check", file)[0] == 1


def test_random_bytes_are_no_proof() -> None:
    rng = random.Random(1)
    for _ in range(50):
        assert check_proof(rng.randbytes(rng.randrange(300))).problem is not None
