"""The floor: the client alone, as `benchmarks.engine` has it; nothing stored, nothing shown."""

import asyncio
import json
import sys
from pathlib import Path

import httpx2
import openai


async def main(folder: Path) -> None:
    """Ask every case once and compare."""
    job = json.loads((folder / "job.json").read_text("utf-8"))
    cases = iter((folder / "cases.jsonl").read_text("utf-8").splitlines())
    counts = {"right": 0, "wrong": 0, "errored": 0}
    transport = openai.DefaultAioHttpClient(limits=httpx2.Limits(max_connections=job["in_flight"]))

    async def work(client: openai.AsyncOpenAI) -> None:
        for line in cases:
            case = json.loads(line)
            body = {
                "model": "fake-model",
                "messages": [{"role": "user", "content": case["q"]}],
            }
            try:
                response = await client.post(
                    "/chat/completions", body=body, cast_to=httpx2.Response
                )
                text = response.json()["choices"][0]["message"]["content"]
            except (openai.OpenAIError, ValueError, KeyError):
                counts["errored"] += 1
            else:
                counts["right" if text == case["q"] else "wrong"] += 1

    async with openai.AsyncOpenAI(
        api_key="none",
        base_url=job["base_url"],
        timeout=job["timeout_s"],
        http_client=transport,
    ) as client:
        await asyncio.gather(*[work(client) for _ in range(job["in_flight"])])
    (folder / "outcome.json").write_text(json.dumps(counts), "utf-8")


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1])))
