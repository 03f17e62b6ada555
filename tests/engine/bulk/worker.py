"""An engine in a process of its own that does not wait: `python -m tests.engine.bulk.worker`."""

import asyncio
import sys
from pathlib import Path

from tests.engine.bulk.bulk_runs import SOON
from tui_eval.engine.engine import Engine
from tui_eval.targets.model import model_bulk

if __name__ == "__main__":
    model_bulk.SETTLE_S = 0.0
    asyncio.run(Engine(Path(sys.argv[1]), int(sys.argv[2]), polling=SOON).run())
