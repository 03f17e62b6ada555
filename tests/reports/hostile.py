"""Texts that mean harm to a terminal, a spreadsheet or a page."""

import json
from pathlib import Path

_DATA = Path(__file__).parents[1] / "data" / "hostile_outputs.jsonl"
HOSTILE = [
    row["text"]
    for line in _DATA.read_text(encoding="utf-8").split("\n")
    if line and "text" in (row := json.loads(line))
]
