"""What is heard of a zygote that is being set up: two processes report, and either may be first."""

from __future__ import annotations

import os

import pytest

from lydite.sandbox.jail.enter import read_report


@pytest.mark.parametrize(
    ("said", "heard"),
    [
        ([b"pid 17\n", b"ready\n"], (17, "ready")),
        ([b"ready\n", b"pid 17\n"], (17, "ready")),
        ([b"ready\npid ", b"17\n"], (17, "ready")),
        ([b"pid 17\n", b"OSError: no [root.py:3]\n"], (17, "OSError: no [root.py:3]")),
        ([b"OSError: no\n"], (None, "OSError: no")),
        ([b"pid 17\n"], (17, "")),
        ([], (None, "")),
    ],
)
def test_either_may_be_first(said: list[bytes], heard: tuple[int | None, str]) -> None:
    reading, writing = os.pipe()
    for part in said:
        os.write(writing, part)
    os.close(writing)
    try:
        assert read_report(reading) == heard
    finally:
        os.close(reading)
