"""Modules of the caller's own, that jobs find imported."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from lydite.errors import InputError
from lydite.sandbox import Sandbox, Status

SOURCE = "import os\nBORN = os.getpid()\nwords = []\ndef double(x):\n    return 2 * x\n"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(modules={"helpers": SOURCE}, workers=1) as made:
        yield made


def test_a_job_finds_a_module_of_the_callers(box: Sandbox) -> None:
    done = box.run("from helpers import double\nprint(double(21), double.__module__)")
    assert done.stdout == b"42 helpers\n"


def test_it_was_run_before_the_job(box: Sandbox) -> None:
    assert box.run("import os, helpers\nprint(helpers.BORN == os.getpid())").stdout == b"False\n"


def test_what_a_job_does_to_it_is_gone_with_the_job(box: Sandbox) -> None:
    program = "import helpers\nprint(helpers.words)\nhelpers.words.append(1)\nhelpers.double = None"
    assert [box.run(program).stdout for _ in range(2)] == [b"[]\n"] * 2
    assert [done.stdout for done in box.run_batch(program, [b"", b""])] == [b"[]\n"] * 2


def test_other_sandboxes_do_not_have_it() -> None:
    with Sandbox(workers=1) as other:
        assert other.run("import helpers").status is Status.ERROR


@pytest.mark.parametrize("modules", [{"not a name": ""}, {"json": ""}, {"helpers": "def"}])
def test_what_cannot_be_a_module_is_refused(modules: dict[str, str]) -> None:
    with pytest.raises(InputError) as caught:
        Sandbox(modules=modules)
    assert caught.value.field == "modules"


def test_a_back_end_that_has_no_modules_says_so() -> None:
    with pytest.raises(InputError) as caught:
        Sandbox("unsafe", modules={"helpers": SOURCE})
    assert caught.value.field == "modules"
