# mypy: ignore-errors
# its imports are in an environment of their own
"""The cases as a single-turn environment of verifiers, with a rubric of one comparison."""

import json
import os
import sys
from pathlib import Path

import verifiers as vf
from datasets import Dataset


def exact(completion: list, answer: str) -> float:
    """Give 1 where the answer is the one expected."""
    return float(completion[-1]["content"] == answer)


def main(folder: Path) -> None:
    """Evaluate, and write down what came of it."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    dataset = Dataset.from_list([{"question": row["q"], "answer": row["q"]} for row in rows])
    environment = vf.SingleTurnEnv(eval_dataset=dataset, rubric=vf.Rubric(funcs=[exact]))
    os.environ["BENCH_KEY"] = "none"
    waits = {} if job["timeout_s"] is None else {"timeout": job["timeout_s"]}
    client = vf.ClientConfig(api_key_var="BENCH_KEY", api_base_url=job["base_url"], **waits)
    results = environment.evaluate_sync(
        client=client,
        model="fake-model",
        max_concurrent=job["in_flight"],
        results_path=folder / "results",
        save_results=True,
    )
    counts = {"right": 0, "wrong": 0, "errored": 0}
    for one in results["outputs"]:
        if one.get("error"):
            counts["errored"] += 1
        else:
            counts["right" if one["reward"] == 1.0 else "wrong"] += 1
    (folder / "outcome.json").write_text(json.dumps(counts), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
