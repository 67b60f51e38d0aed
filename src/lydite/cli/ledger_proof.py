"""``lydite ledger prove``, ``check`` and ``keygen``: proofs about single records, for people without the run."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    from lydite.ledger.proof_check import Checked


def keygen(
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="The private key; FILE.pub is the public.")],
) -> None:
    """Make an Ed25519 key pair. Keep the private key to yourself; give the public one to those who check."""
    from lydite.cli.console import err
    from lydite.ledger.signing import make_key

    public = make_key(out)
    err.print(f"private key {out} (keep it), public key {public} (hand it out)", markup=False)


def prove(
    run: Annotated[Path, typer.Argument(metavar="RUN", help="The run folder.", show_default=False)],
    out: Annotated[Path, typer.Option("-o", "--out", metavar="FILE", help="Replaced whole.", show_default=False)],
    rollout: Annotated[str | None, typer.Argument(metavar="[ID]", help="One attempt, such as sample/t1/0.")] = None,
    extends: Annotated[
        str | None,
        typer.Option(metavar="HASH", help="Instead of ID: an earlier head; the ledger was only continued since."),
    ] = None,
    verdicts: Annotated[
        str,
        typer.Option(metavar="WHICH", help="old (recorded first), rescored (the latest), or a rescoring's name."),
    ] = "old",
    with_sample: Annotated[
        bool, typer.Option("--with-sample", help="Put in what was judged, so that it can be judged again.")
    ] = False,
    key: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Sign the head with this private key.", show_default=False)
    ] = None,
) -> None:
    """Write a proof that one record stands in the ledger: a small file that is checked without the run.

    With --extends: a proof that the ledger with the head of now is a continuation of the one with an earlier head.
    """
    from lydite.cli.console import err
    from lydite.cli.outputs import free
    from lydite.errors import InputError
    from lydite.ledger import RunFolder
    from lydite.ledger.proof import prove as make
    from lydite.ledger.proof import prove_extension, write
    from lydite.ledger.verify import hash_given

    free(out, [key] if key is not None else [])
    folder, earlier = RunFolder.open(run, verdicts=verdicts), hash_given(extends, "--extends")
    if (rollout is None) == (earlier is None):
        raise InputError("one of both is needed", field="ID or --extends", remedy=f"`lydite show {run}` lists the ids")
    if earlier is not None and with_sample:
        raise InputError("goes with an ID only", field="--with-sample", remedy="leave it out")
    data = (
        make(folder, rollout, with_sample=with_sample, key=key)
        if rollout is not None
        else prove_extension(folder, earlier or "", key=key)
    )
    write(out, data)
    also = "" if rollout is not None else " --extends EARLIER"
    err.print(f"{out}: {len(data):,} bytes; lydite ledger check {out} --head HEAD{also}", markup=False)


def check(
    file: Annotated[Path, typer.Argument(metavar="FILE", help="What `prove` wrote.", show_default=False)],
    head: Annotated[str | None, typer.Option(metavar="HASH", help="The head as noted elsewhere.")] = None,
    root: Annotated[str | None, typer.Option(metavar="HASH", help="The root as noted elsewhere.")] = None,
    public_key: Annotated[
        str | None, typer.Option("--public-key", metavar="FILE|HEX", help="Whose signature it must have.")
    ] = None,
    extends: Annotated[
        str | None, typer.Option(metavar="HASH", help="A head noted earlier: the ledger was only continued since.")
    ] = None,
    judge: Annotated[
        bool, typer.Option("--judge", help="Derive the verdict again from the sample in the file, and compare.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")] = False,
) -> int:
    """Check a proof without the run; exit 1 where it does not hold, or --judge could not judge.

    What a file says of itself can be made up: give the head or the root that was noted when the run ended, or the
    public key of whoever signed it.
    """
    from lydite.cli.console import print_json
    from lydite.errors import InputError
    from lydite.ledger import signing
    from lydite.ledger.proof_check import check_proof
    from lydite.ledger.verify import hash_given

    wanted = hash_given(head, "--head"), hash_given(root, "--root")
    earlier = hash_given(extends, "--extends")
    key = None if public_key is None else signing.public_key(public_key)
    try:
        data = file.read_bytes()
    except OSError as error:
        raise InputError(f"cannot be read: {error.strerror}", path=file) from None
    found = check_proof(data, head=wanted[0], root=wanted[1], key=key, extends=earlier, judge=judge)
    if as_json:
        print_json(_summary(file, found))
    _tell(file, found)
    undecided = found.again is not None and found.again.match == "not_replayable"
    return 1 if found.problem is not None or undecided else 0


def _summary(file: Path, found: Checked) -> dict[str, Any]:
    record = found.record
    return {
        "file": str(file),
        "ok": found.problem is None,
        "problem": found.problem,
        "id": record.rollout if record is not None else None,
        "record": found.seq,
        "records": found.size,
        "verdict": record.verdict if record is not None else None,
        "reward": record.reward if record is not None else None,
        "time": record.time if record is not None else None,
        "head": found.head,
        "root": found.root,
        "head_commits": found.head_commits,
        "signature": {"key": found.key, "good": found.signature} if found.key is not None else None,
        "extends": found.extends,
        "anchors": found.anchors,
        "judged_again": found.again.match if found.again is not None else None,
    }


def _tell(file: Path, found: Checked) -> None:
    from datetime import UTC, datetime

    from lydite.cli.console import err

    if found.problem is not None or found.record is None:
        err.print(f"does not hold: {file}: {found.problem}", markup=False)
        return
    record, verdict = found.record, found.record.verdict
    when = datetime.fromtimestamp(record.time, UTC).isoformat(timespec="seconds")
    err.print(
        f"record {found.seq} of {found.size}: {record.rollout}, judged {when} by {verdict.verifier}", markup=False
    )
    score = "no score" if verdict.score is None else f"score {verdict.score:g}"
    err.print(f"{verdict.outcome}: {verdict.reason}; {score}; reward {record.reward}", markup=False)
    err.print(f"head {found.head}\nroot {found.root}", markup=False)
    if found.extends is not None:
        err.print(f"continues the ledger that ended in {found.extends}", markup=False)
    if found.again is not None:
        err.print(f"judged again: {found.again.match}{': ' if found.again.why else ''}{found.again.why}", markup=False)
    if found.signature is None and found.key is not None:
        err.print("the signature was not checked: pip install 'lydite[sign]'", markup=False)
    if found.anchors:
        err.print(f"agrees with the {' and the '.join(found.anchors)} given", markup=False)
        return
    signed = f"signed by {found.key}: --public-key says whether that is the right one; " if found.signature else ""
    err.print(f"{signed}it agrees with itself only: give --head or --root as noted elsewhere", markup=False)
