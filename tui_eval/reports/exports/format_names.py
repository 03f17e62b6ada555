"""The names of the formats, and the endings that say them; it loads nothing, for `--help`."""

from typing import Final

ENDINGS: Final[dict[str, str | None]] = {
    "jsonl": ".jsonl",
    "csv": ".csv",
    "parquet": ".parquet",
    "junit": ".xml",
    "ctrf": ".ctrf.json",
    "html": ".html",
    "markdown": ".md",
    "github": None,
    "swebench": None,
}
"""Formats with the endings of their files; None: no ending says it."""
