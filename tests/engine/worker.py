"""An engine in a process of its own, to be killed: `python -m tests.engine.worker STORE RUN`."""

import asyncio
import sys
from pathlib import Path

from tui_eval.engine.engine import Engine

if __name__ == "__main__":
    asyncio.run(Engine(Path(sys.argv[1]), int(sys.argv[2])).run())
