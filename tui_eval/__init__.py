"""A terminal workbench for LLM evaluations.

Python code says `import tui_eval as te`; what it calls is loaded when it is first named.
"""

import importlib
from typing import Final

__version__ = "0.1.0"

__all__ = [
    "LaunchError",
    "Run",
    "RunBusy",
    "StoreError",
    "SuiteError",
    "TrustError",
    "arun",
    "compare",
    "open",
    "run",
    "runs",
    "start",
]

_HOMES: Final = {
    **dict.fromkeys(("LaunchError", "RunBusy", "StoreError", "SuiteError", "TrustError"), "errors"),
    **dict.fromkeys(("arun", "run", "start"), "launch"),
    **dict.fromkeys(("compare", "runs", "open"), "runs"),
    "Run": "run",
}
"""Which module of `tui_eval.api` has each name."""
_NAMES: Final = {"open": "open_run"}
"""What a name is called there, where that is not the same."""


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'tui_eval' has no attribute {name!r}")
    home = importlib.import_module(f"tui_eval.api.{_HOMES[name]}")
    found: object = getattr(home, _NAMES.get(name, name))
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return [*globals(), *__all__]
