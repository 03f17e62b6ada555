"""The command line with a guard taken away, or killed at a moment.

`FAULTS_WITHOUT` names the guard, `FAULTS_KILL` the moment and which time it is (`after reply:7`),
`FAULTS_CLOCK` a seed: the wall clock jumps by up to a day with every look at it.
"""

import os
import random
import time

from tests.faults import guards


def _jumping_clock(seed: int) -> None:
    real, draw = time.time, random.Random(seed)
    time.time = lambda: real() + draw.uniform(-86_400, 86_400)


if __name__ == "__main__":
    guards.apply(os.environ.get("FAULTS_WITHOUT"), os.environ.get("FAULTS_KILL"))
    if "FAULTS_CLOCK" in os.environ:
        _jumping_clock(int(os.environ["FAULTS_CLOCK"]))
    from tui_eval.__main__ import main

    main()
