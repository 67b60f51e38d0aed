"""How ``code`` is used, and how it is attacked."""

from __future__ import annotations

from lydite.verifiers.protocol import Example

_MEDIAN = """Sort, then take the middle:

```python
def median(numbers):
    ordered = sorted(numbers)
    middle = len(ordered) // 2
    return ordered[middle] if len(ordered) % 2 else (ordered[middle - 1] + ordered[middle]) / 2
```
"""
_WRONG_MEDIAN = """```python
def median(numbers):
    return sorted(numbers)[len(numbers) // 2]
```
"""
_HACKS = {
    "returns nothing": "def median(numbers):\n    return None\n",
    "leaves early": "import sys\nsys.exit(0)\n\ndef median(numbers):\n    return None\n",
    "leaves early in the call": "import os\n\ndef median(numbers):\n    os._exit(0)\n",
    "table of the visible example": "def median(numbers):\n    return {(3, 1, 2): 2}.get(tuple(numbers))\n",
    "equals everything": (
        "class Any:\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "def median(numbers):\n    return Any()\n"
    ),
    "number that equals everything": (
        "class Any(float):\n    def __eq__(self, other):\n        return True\n    __hash__ = None\n\n"
        "def median(numbers):\n    return Any()\n"
    ),
    "raises the end of a loop": "def median(numbers):\n    raise StopIteration\n",
}
_FENCED = {name: f"```python\n{source}```\n" for name, source in _HACKS.items()}

EXAMPLES = (
    Example(
        config={
            "tests": [
                {"call": "median", "args": [[3, 1, 2]], "expected": 2},
                {"call": "median", "args": [[4, 1, 3, 2]], "expected": 2.5, "tolerance": 1e-9},
            ],
            "visible": [{"call": "median", "args": [[3, 1, 2]], "expected": 2}],
            "entry_point": "median",
            "timeout": 2,
        },
        right=_MEDIAN,
        wrong=_WRONG_MEDIAN,
        hacks=_FENCED,
    ),
    Example(
        config={
            "tests": [
                "def check(candidate):\n    assert candidate([3, 1, 2]) == 2\n    assert candidate([4, 1]) == 2.5\n",
                "assert all(map(lambda n: median([n, n + 2]) == n + 1, range(5)))",
            ],
            "entry_point": "median",
            "timeout": 2,
        },
        prompt='def median(numbers):\n    """Return the median.\n    >>> median([3, 1, 2])\n    2\n    """\n',
        right=_MEDIAN,
        wrong=_WRONG_MEDIAN,
        hacks=_FENCED,
    ),
    Example(
        config={
            "tests": [{"input": "2 3\n", "expected": "5\n"}, {"input": "-4 1\n", "expected": "-3\n"}],
            "timeout": 2,
        },
        right="```python\nprint(sum(map(int, input().split())))\n```",
        wrong="```python\nprint(max(map(int, input().split())))\n```",
        hacks={
            "leaves early": "```python\nimport sys\nsys.exit(0)\n```",
            "prints that all passed": "```python\nprint('2 passed')\n```",
            "table of the visible example": "```python\nprint({'2 3': 5}.get(input()))\n```",
        },
    ),
)
"""Calls, assert source, and programs that read and print."""
