"""Does a file of batch requests against a server, as vLLM's `run-batch` does against its engine.

    python -m tests.servers.run_batch -i requests-0001.jsonl -o results-0001.jsonl --url …/v1

It writes a line as each answer comes, in order, in vLLM's form: what a server refused has its
status in `response` and the reason in `error`.
"""

import argparse
import json
import urllib.error
import urllib.request
from pathlib import Path
from typing import Any


def run_batch(requests: Path, results: Path, url: str, key: str = "none") -> int:
    """Do all requests of a file; return how many there were.

    Args:
        requests: The file.
        results: Where the answers go, from the beginning.
        url: Where the API starts.
        key: Sent along.
    """
    rows = [json.loads(line) for line in requests.read_text("utf-8").splitlines()]
    with results.open("w", encoding="utf-8") as file:
        for n, row in enumerate(rows):
            answer = _posted(url + row["url"].removeprefix("/v1"), row["body"], key)
            told = {"id": f"vllm-{n}", "custom_id": row["custom_id"], **answer}
            file.write(json.dumps(told) + "\n")
            file.flush()
    return len(rows)


def _posted(url: str, body: dict[str, Any], key: str) -> dict[str, Any]:
    headers = {"Content-Type": "application/json", "Authorization": f"Bearer {key}"}
    asked = urllib.request.Request(url, json.dumps(body).encode(), headers)
    try:
        with urllib.request.urlopen(asked) as answer:
            done = {"status_code": 200, "request_id": "vllm-batch-1", "body": json.load(answer)}
            return {"response": done, "error": None}
    except urllib.error.HTTPError as refused:
        done = {"status_code": refused.code, "request_id": "vllm-batch-1", "body": None}
        return {"response": done, "error": json.loads(refused.read())}


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("-i", "--input-file", type=Path, required=True)
    parser.add_argument("-o", "--output-file", type=Path, required=True)
    parser.add_argument("--url", required=True)
    given = parser.parse_args()
    print(run_batch(given.input_file, given.output_file, given.url))
