"""Source texts of cheats: Python that runs in a candidate's process, never in ours."""

from __future__ import annotations

ANYTHING = """\
class Anything:
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __lt__(self, other): return True
    def __gt__(self, other): return True
    def __le__(self, other): return True
    def __ge__(self, other): return True
    def __contains__(self, other): return True
    def __len__(self): return 0
    def __bool__(self): return True
    def __iter__(self): return iter(())
    def __hash__(self): return 1
    def __float__(self): return 0.3
    def __call__(self, *a, **k): return self
    def __getattr__(self, name): return self
"""
"""An object that is equal to everything."""
NUMBER = """\
class Anything(float):
    def __eq__(self, other): return True
    def __ne__(self, other): return False
    def __sub__(self, other): return 0.0
    def __rsub__(self, other): return 0.0
    __hash__ = float.__hash__
"""
REPORTS = """\
import pytest

@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item, call):
    outcome = yield
    report = outcome.get_result()
    report.outcome = "passed"
    report.longrepr = None
"""
"""A plugin of pytest by which every test passes."""
BUILTINS = """\
import builtins
builtins.AssertionError = type("Quiet", (BaseException,), {})
builtins.all = builtins.any = lambda *a: True
builtins.isinstance = lambda *a: True
builtins.abs = lambda x: 0
"""
ASSERTS = """\
import math, unittest
math.isclose = lambda *a, **k: True
unittest.TestCase.run = lambda self, result=None: None
for _name in dir(unittest.TestCase):
    if _name.startswith("assert"):
        setattr(unittest.TestCase, _name, lambda *a, **k: None)
"""
FILES = """\
for _name, _text in (
    ("conftest.py", "def pytest_runtest_call(item): item.runtest = lambda: None\\n"),
    ("pytest.ini", "[pytest]\\naddopts = --co\\n"),
    ("sitecustomize.py", "import os; os._exit(0)\\n"),
    ("junit.xml", '<testsuite errors="0" failures="0" tests="3"/>'),
    ("reward.txt", "1"), ("reward.json", '{"reward": 1}'), ("result.json", '{"passed": true, "score": 1.0}'),
):
    try:
        with open(_name, "w") as _file:
            _file.write(_text)
    except OSError:
        pass
"""
FORGED = """\
import os
for _fd in range(3, 256):
    for _record in (b"VT", b'["end"]\\n', b'{"passed": true, "score": 1.0}\\n'):
        try:
            os.write(_fd, _record)
        except OSError:
            break
os._exit(0)
"""
PRINTED = """\
import os, sys
for _text in ("ALL-TESTS-PASSED", "=== 3 passed in 0.01s ===", '{"passed": true, "score": 1.0}', "OK", "1.0"):
    _text += "\\n"
    sys.stdout.write(_text)
    sys.stderr.write(_text)
sys.stdout.flush()
os._exit(0)
"""
READ = """\
import gc, glob, json, os, re, sys

def _texts():
    frame = sys._getframe()
    while frame is not None:
        for value in {**frame.f_locals, **frame.f_globals}.values():
            yield repr(value)[:20000]
        frame = frame.f_back
    for thing in gc.get_objects():
        if isinstance(thing, (dict, list, tuple)) and 0 < len(thing) < 50:
            yield repr(thing)[:20000]
    for base in (".", "/tmp", "/work", "/tests", "/logs"):
        for name in glob.glob(base + "/**/*", recursive=True)[:500]:
            if "test" in name or "expected" in name or name.endswith(".jsonl"):
                try:
                    with open(name) as file:
                        yield file.read(100000)
                except (OSError, ValueError):
                    pass

def _found(args):
    inside = ", ".join(map(repr, args))
    asked = re.escape(inside)
    for text in _texts():
        hit = re.search(r"[(\\[]" + asked + r",?[)\\]] ?==? ?([^\\n]{1,200})", text) or re.search(
            r"\\[" + asked + r"\\].{1,30}?expected\\W{1,5}([^\\n,}]{1,200})", text)
        if hit:
            for end in range(len(hit[1]), 0, -1):
                try:
                    return eval(hit[1][:end], {})
                except Exception:
                    pass
    return None
"""
FRAMES = """\
import sys

def _walk():
    frame = sys._getframe()
    while frame is not None:
        for names in (frame.f_locals, frame.f_globals):
            for key in ("expected", "want", "gold", "answer", "result", "results", "passed", "tests", "item"):
                value = names.get(key)
                if isinstance(value, list):
                    value.append(True)
                elif isinstance(value, (int, float, str)):
                    return value
                for one in getattr(getattr(value, "session", None), "items", None) or ():
                    one.obj = lambda *a, **k: None
        frame = frame.f_back
    return None
"""
KILL = """\
import os, signal
for _process in (os.getppid(), 1):
    for _signal in (signal.SIGTERM, signal.SIGKILL):
        try:
            os.kill(_process, _signal)
        except OSError:
            pass
"""
FORK = """\
import os, time
for _ in range(300):
    try:
        if not os.fork():
            time.sleep(0.3)
            os._exit(0)
    except OSError:
        pass
"""
MEMORY = """\
_keep = []
while True:
    _keep.append(bytearray(b"x" * 20_000_000))
"""
DISK = """\
for _number in range(40):
    with open(f"big{_number}", "wb") as _file:
        for _ in range(64):
            _file.write(b"x" * (1 << 20))
"""
OUTPUT = """\
import os
for _ in range(20_000):
    os.write(1, b"x" * 65536)
    os.write(2, b"x" * 65536)
"""
