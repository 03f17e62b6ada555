# mypy: ignore-errors
# its imports are in an environment of their own
"""The cases as test cases of deepeval; their answers come from the `openai` client as it comes."""

import asyncio
import json
import sys
from pathlib import Path

import openai
from deepeval import evaluate
from deepeval.evaluate import AsyncConfig, CacheConfig, DisplayConfig
from deepeval.metrics import ExactMatchMetric
from deepeval.test_case import LLMTestCase


async def answered(job: dict, rows: list[dict]) -> list[LLMTestCase]:
    """Ask every case; those without an answer are left out."""
    waits = {} if job["timeout_s"] is None else {"timeout": job["timeout_s"]}
    places = asyncio.Semaphore(job["in_flight"])

    async def ask(client: openai.AsyncOpenAI, row: dict) -> LLMTestCase | None:
        async with places:
            try:
                completion = await client.chat.completions.create(
                    model="fake-model", messages=[{"role": "user", "content": row["q"]}]
                )
            except (openai.OpenAIError, ValueError):
                return None
        text = completion.choices[0].message.content
        return LLMTestCase(input=row["q"], actual_output=text, expected_output=row["q"])

    async with openai.AsyncOpenAI(api_key="none", base_url=job["base_url"], **waits) as client:
        found = await asyncio.gather(*[ask(client, row) for row in rows])
    return [case for case in found if case is not None]


def main(folder: Path) -> None:
    """Evaluate, and write down what came of it."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    rows = [json.loads(line) for line in (folder / "cases.jsonl").read_text("utf-8").splitlines()]
    cases = asyncio.run(answered(job, rows))
    result = evaluate(
        test_cases=cases,
        metrics=[ExactMatchMetric()],
        async_config=AsyncConfig(max_concurrent=job["in_flight"]),
        display_config=DisplayConfig(
            show_indicator=False, print_results=False, inspect_after_run=False
        ),
        cache_config=CacheConfig(write_cache=False, use_cache=False),
    )
    right = sum(bool(one.success) for one in result.test_results)
    counts = {"right": right, "wrong": len(cases) - right, "errored": len(rows) - len(cases)}
    (folder / "outcome.json").write_text(json.dumps(counts), "utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
