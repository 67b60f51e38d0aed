"""The contract of back ends, for our own: namespaces with and without a control group, and Landlock alone."""

from __future__ import annotations

import os
from collections.abc import Iterator

import pytest
from backend_contract import *  # noqa: F403

from lydite.sandbox import compiled, interpreter
from lydite.sandbox.interpreter import environment, reachable


@pytest.fixture(
    scope="module",
    params=[
        "namespaces-helper",
        pytest.param("namespaces-python", marks=pytest.mark.slow),
        pytest.param("namespaces-nocgroup-helper", marks=pytest.mark.slow),
        "namespaces-nocgroup-python",
        "landlock-python",
    ],
)
def backend(request: pytest.FixtureRequest) -> Iterator[str]:
    """The name of a back end, whose loops run in the compiled helper or in Python."""
    name, _, loops = request.param.rpartition("-")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(compiled.SWITCH, "off" if loops == "python" else "")
        compiled.forget()
        if name == "landlock" and os.getuid() == 0 and reachable(environment(), 65534, 65534):
            patch.setenv(interpreter.SWITCH, "/usr/bin/python3")  # ours lies where no spare user comes
        if loops == "helper" and compiled.helper() is None:
            pytest.skip("no C compiler here")
        yield name
    compiled.forget()
