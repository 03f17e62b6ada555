# mypy: ignore-errors
# its imports are in an environment of their own
"""The cases as a dataset of pydantic-evals; the task is the `openai` client as it comes."""

import asyncio
import json
import sys
from pathlib import Path

import openai
from pydantic_evals import Case, Dataset
from pydantic_evals.evaluators import EqualsExpected


async def main(folder: Path) -> None:
    """Evaluate, and write down what came of it."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    dataset = Dataset(
        name="bench",
        cases=[Case(name=row["id"], inputs=row["q"], expected_output=row["q"]) for row in rows],
        evaluators=[EqualsExpected()],
    )
    waits = {} if job["timeout_s"] is None else {"timeout": job["timeout_s"]}
    client = openai.AsyncOpenAI(api_key="none", base_url=job["base_url"], **waits)

    async def ask(question: str) -> str:
        completion = await client.chat.completions.create(
            model="fake-model", messages=[{"role": "user", "content": question}]
        )
        return completion.choices[0].message.content

    report = await dataset.evaluate(ask, max_concurrency=job["in_flight"], progress=False)
    verdicts = [case.assertions["EqualsExpected"].value for case in report.cases]
    counts = {
        "right": sum(verdicts),
        "wrong": len(verdicts) - sum(verdicts),
        "errored": len(report.failures),
    }
    (folder / "outcome.json").write_text(json.dumps(counts), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
