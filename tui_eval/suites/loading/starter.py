"""The suite that `tui-eval init` writes: small, commented, ready to run."""

import json
from typing import Final

SCHEMA_FILE: Final = "suite.schema.json"
"""The format beside the suite, for editors: its first line names it."""
_SUITE: Final = """\
#:schema ./suite.schema.json
# A first suite for tui-eval. Try it:
#
#     tui-eval check suite.toml     what would run
#     tui-eval run suite.toml       run it here
#     tui-eval suite.toml           run it on a screen
#
# It runs as it is: its target is simulated and needs no key. Put a real one in its place below.

name = "first-steps"
description = "Capitals of a few countries, one word each."

[dataset]
path = "questions.jsonl"          # .jsonl, .json, .csv or .tsv; relative to this file
tags = "region"                   # columns to group results by
# filter = "{{ region == 'Europe' }}"
# limit = 3

[prompt]                          # {{ name }} stands for a column of the dataset
system = "Answer with the name of the city only."
user = "What is the capital of {{ country }}?"

[[targets]]                       # simulated: right in 8 of 10 cases, and a little slow
name = "simulated"
kind = "simulated"
answers = ["{{ capital }}", "I do not know."]
accuracy = 0.8
latency_s = [0.1, 0.4]

# A model behind an API; the key is read from the environment (OPENAI_API_KEY):
#
# [[targets]]
# provider = "openai"             # or openrouter, anthropic, gemini, mistral, groq, ollama, vllm …
# model = "gpt-5-mini"
# params = { max_completion_tokens = 200 }
#
# Anything that speaks the same protocol:
#
# [[targets]]
# base_url = "http://127.0.0.1:8000/v1"
# model = "my-model"
#
# A small model on this machine, no server needed (pip install "tui-eval[local]"):
#
# [[targets]]
# provider = "local"
# model = "path/to/model.gguf"

[[scorers]]                       # every scorer has to pass
kind = "exact"
expected = "{{ capital }}"
ignore_case = true

[[scorers]]
kind = "latency"
name = "quick"
max = 10                          # seconds
required = false                  # reported, but decides nothing

[run]
concurrency = 4                   # calls in flight
# epochs = 3                      # ask each case several times
# timeout = 60                    # seconds for one attempt

[gate]                            # decides the exit code of `tui-eval run`
pass_rate = 0.5
"""

_ROWS: Final = (
    ("fr", "France", "Paris", "Europe"),
    ("pt", "Portugal", "Lisbon", "Europe"),
    ("se", "Sweden", "Stockholm", "Europe"),
    ("jp", "Japan", "Tokyo", "Asia"),
    ("vn", "Vietnam", "Hanoi", "Asia"),
    ("np", "Nepal", "Kathmandu", "Asia"),
    ("ke", "Kenya", "Nairobi", "Africa"),
    ("sn", "Senegal", "Dakar", "Africa"),
    ("pe", "Peru", "Lima", "America"),
    ("ca", "Canada", "Ottawa", "America"),
)


def starter() -> dict[str, str]:
    """Return the files of a first suite: their texts by their relative names."""
    lines = [
        json.dumps({"id": case, "country": country, "capital": capital, "region": region})
        for case, country, capital, region in _ROWS
    ]
    return {"suite.toml": _SUITE, "questions.jsonl": "\n".join(lines) + "\n"}
