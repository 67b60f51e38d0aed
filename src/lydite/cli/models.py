"""``lydite models``: which models there are, and whether one can be trained in episodes."""

from __future__ import annotations

from typing import Annotated

import typer

app = typer.Typer(
    help="List models; check that one can be trained in episodes.", no_args_is_help=True, add_completion=False
)

_Json = Annotated[bool, typer.Option("--json", help="Print JSON on standard output.")]


@app.command("list")
def list_(as_json: _Json = False) -> None:
    """The models that Lydite knows by name, and whether they are on this machine."""
    from lydite.cli.console import print_json
    from lydite.policies.smollm2 import cache_folder
    from lydite.policies.tiny import BUILT_IN, tiny_folder

    smollm2 = any(cache_folder().glob("smollm2*"))
    rows = [
        *(
            {"name": name, "parameters": parameters, "here": (tiny_folder(name) / "config.json").is_file()}
            for name, parameters in zip(BUILT_IN, ("0.9M", "1.0M"), strict=True)
        ),
        {"name": "smollm2", "parameters": "135M", "here": smollm2},
    ]
    if as_json:
        print_json(rows)
        return
    for row in rows:
        print(f"{row['name']:18} {row['parameters']:>6}  {'here' if row['here'] else 'fetched when first used'}")
    print("hf:PATH            a folder in Hugging Face layout; hf:BASE+ADAPTER with a LoRA adapter")


@app.command()
def check(
    model: Annotated[str, typer.Argument(metavar="PATH|NAME", help="A model.", show_default=False)],
    as_json: _Json = False,
) -> None:
    """Say whether a model can be trained in episodes with tools, and why not. Exit code 1 when it cannot."""
    from lydite.cli.console import print_json
    from lydite.training.trl.quiet import hush, require

    require()
    hush()
    from lydite.training.trl.model_check import check_model

    found = check_model(model)
    if as_json:
        print_json(found)
    else:
        for one in found.checks:
            print(f"{'ok' if one.passed else 'NO':3} {one.name:18} {one.about}")
        print(f"supports_rl: {'yes' if found.supports_rl else 'no'}")
        for reason in found.reasons:
            print(f"    {reason}")
    raise typer.Exit(0 if found.supports_rl else 1)
