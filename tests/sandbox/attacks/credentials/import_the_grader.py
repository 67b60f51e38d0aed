"""Import the verifier's package, its test runner or its libraries.

Shows: PWNED on stdout.
"""

import importlib
import sys

sys.path += ["@SITE@", "@SOURCE@", "@SITE@/../site-packages"]
for name in ("lydite", "lydite.verifiers", "pytest", "msgspec", "pydantic", "typer", "hypothesis"):
    try:
        module = importlib.import_module(name)
    except ImportError as problem:
        print(problem)
    else:
        print("PWNED", name, getattr(module, "__file__", None))
