from tui_eval.api.errors import LaunchError, RunBusy, StoreError, SuiteError, TrustError
from tui_eval.api.launch import arun, run, start
from tui_eval.api.run import Run
from tui_eval.api.runs import compare, runs
from tui_eval.api.runs import open_run as open  # noqa: A004  # as files are opened

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

__version__: str
