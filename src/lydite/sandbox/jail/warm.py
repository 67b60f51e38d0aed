"""What is imported, run and laid out once, before any job, so that a job finds it done."""

from __future__ import annotations

import builtins
import contextlib
import importlib
import os
import sys
import types
from collections.abc import Callable, Sequence
from importlib.machinery import ModuleSpec, PathFinder
from typing import Any

from . import program, root, wire

# Touches what programs touch: the compiler (its types alone take 1 ms the first time), classes, comprehensions,
# exceptions, files, text streams.
SAMPLE = """
import sys
def solve(a, *b, c=1, **d):
    x = [i * 2 for i in range(10) if i % 2]; y = {k: v for k, v in zip(x, x)}; z = (i for i in x); s = {1, 2}
    try: raise ValueError(f"{a!r:>4}")
    except (ValueError, KeyError) as e: r = str(e)
    finally: pass
    with open('/dev/null') as f: pass
    while x and not (len(x) > 3 or a is None): x.pop()
    else: pass
    class P:
        def __init__(self): self.v = lambda q: q + 1
    return sum(map(int, sys.stdin.read().split()[:2])) + P().v(1) if a != 2 else -1
if __name__ == '__main__':
    print(solve(1), file=sys.stderr); print("x", 1.5, sep=" ", end="\\n")
"""


class _Only:
    """Finds the packages that were asked for, in the folders that they lie in, and nothing beside them."""

    def __init__(self, packages: list[tuple[str, str]]) -> None:
        self._folders: dict[str, list[str]] = {}
        for path, name in packages:
            self._folders.setdefault(name.split(".")[0], []).append(os.path.dirname(path))

    def find_spec(self, name: str, path: Sequence[str] | None = None, target: Any = None) -> ModuleSpec | None:
        if path is None and name in self._folders:
            return PathFinder.find_spec(name, self._folders[name], target)
        return None


def imports(plan: dict[str, Any]) -> None:
    """Import what jobs use, from the standard library and the packages of the plan."""
    import _sitebuiltins  # the names that a bare interpreter gets from its site module, which jobs go without

    for name in ("exit", "quit"):
        setattr(builtins, name, _sitebuiltins.Quitter(name, "Ctrl-D (i.e. EOF)"))
    for name in ("linecache", "traceback", "threading", "atexit", "io", "types"):
        importlib.import_module(name)
    finder = _Only(plan["packages"])
    sys.meta_path.append(finder)
    try:
        for name in plan["imports"]:
            importlib.import_module(name)
    finally:
        sys.meta_path.remove(finder)
    for name, source in plan["modules"]:
        module = types.ModuleType(name)
        exec(compile(source, f"{name}.py", "exec", dont_inherit=True), module.__dict__)  # the supervisor's  # noqa: S102
        sys.modules[name] = module
    own = os.path.dirname(os.path.dirname(os.path.abspath(__file__)))
    sys.path[:] = [path for path in sys.path if path and path != own]
    if plan["packages"] and plan["namespaces"]:
        sys.path.append(root.PACKAGES)
    sys.path += root.overlays(plan)


def relocate(plan: dict[str, Any]) -> None:
    """Modules of packages were imported from where they lie on the host: let them point to where a job finds them."""
    places = {path: f"{root.PACKAGES}/{name}" for path, name in plan["packages"]}

    def moved(path: str) -> str:
        for old, new in places.items():
            if path == old or path.startswith(f"{old}/"):
                return new + path[len(old) :]
        return path

    for module in list(sys.modules.values()) if places else ():
        for holder in (module, getattr(module, "__spec__", None), getattr(module, "__loader__", None)):
            for name in ("__file__", "__cached__", "origin", "cached", "path"):
                value = getattr(holder, name, None)
                if isinstance(value, str):
                    with contextlib.suppress(AttributeError, TypeError):
                        setattr(holder, name, moved(value))
            for name in ("__path__", "submodule_search_locations"):
                value = getattr(holder, name, None)
                if isinstance(value, list):
                    value[:] = [moved(item) if isinstance(item, str) else item for item in value]
    sys.path_importer_cache.clear()


def up() -> Callable[[], None]:
    """Run the sample once, on the kind of files that a job has. Returns what a child that waits may do meanwhile."""
    import linecache
    import traceback

    saved = [os.dup(fd) for fd in (0, 1, 2)]
    files = [wire.output_file("warm") for _ in range(3)]
    os.write(files[0], b"1 2 3\nx\n")
    os.lseek(files[0], 0, 0)
    for fd, file in enumerate(files):
        os.dup2(file, fd)
    program.new_stdio()
    _sample(SAMPLE)
    try:
        _sample("def f():\n  return 1/0\nf()")
    except ZeroDivisionError:
        kind, value, trace = sys.exc_info()
        traceback.print_exception(kind, value, trace)
        del kind, value, trace
    sys.stdout.flush()
    sys.stderr.flush()
    program.new_stdio()
    for fd, file in enumerate(saved):
        os.dup2(file, fd)
    for file in (*saved, *files):
        os.close(file)
    linecache.clearcache()

    def again() -> None:
        with contextlib.suppress(Exception):
            _sample(SAMPLE)
            sys.stdout.flush()
        program.new_stdio()

    return again


def _sample(source: str) -> None:
    exec(compile(source, program.NAME, "exec", dont_inherit=True), {"__name__": "__main__"})  # our own text  # noqa: S102
