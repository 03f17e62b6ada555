"""What can be imported, and what may grade it: names alone, which cost no import."""

from typing import Final

FORMATS: Final[dict[str, str]] = {
    "promptfoo": "promptfooconfig.yaml, or the results promptfoo writes as JSON",
    "inspect": "a log of Inspect: .eval or .json",
    "lm-eval": "samples_*.jsonl of lm-evaluation-harness",
    "deepeval": "a dataset of deepeval (JSON, JSON Lines, CSV), or a test run it kept",
    "pydantic-evals": "a dataset of pydantic-evals (YAML, JSON), or a report as JSON",
    "langfuse": "an experiment or a dataset of Langfuse: items as JSON, JSON Lines or CSV",
    "braintrust": "an experiment or a dataset of Braintrust: events as JSON, JSON Lines or CSV",
    "openai-evals": "JSON Lines with `input` and `ideal`, or with `messages`",
    "jsonl": "JSON Lines, a case a line",
    "json": "a list of objects, a case each",
    "csv": "CSV with a header, or TSV",
}
"""Every format that can be imported, and what it is in a few words."""

SCORERS: Final = ("exact", "includes", "numeric", "choice", "f1", "fuzzy")
"""The scorers that compare with a right answer."""
