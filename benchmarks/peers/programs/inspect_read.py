# mypy: ignore-errors
# its imports are in an environment of their own
"""What a log of inspect_ai says came of the cases; called after the time was taken."""

import json
import sys
from pathlib import Path

from inspect_ai.log import read_eval_log_sample_summaries


def main(folder: Path) -> None:
    """Count the samples of the one log there is."""
    (log,) = (folder / "logs").glob("*.eval")
    counts = {"right": 0, "wrong": 0, "errored": 0}
    for sample in read_eval_log_sample_summaries(str(log)):
        if sample.scores and "exact" in sample.scores:
            counts["right" if sample.scores["exact"].value in ("C", 1, 1.0) else "wrong"] += 1
        elif sample.error:
            counts["errored"] += 1
    (folder / "outcome.json").write_text(json.dumps(counts), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
