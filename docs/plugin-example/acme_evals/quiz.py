"""An importer: files of questions and answers, `question = answer`, a line each."""

from pathlib import Path
from typing import Any


def read(path: Path) -> dict[str, Any]:
    """Return a suite, its cases, and what is not carried over."""
    cases, lost = [], []
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), 1):
        question, equals, answer = (part.strip() for part in line.partition("="))
        if equals:
            cases.append({"id": f"line-{number}", "question": question, "answer": answer})
        elif line.strip():
            lost.append(f"line {number} has no answer")
    suite = {
        "prompt": {"user": "{{ question }}"},
        "targets": [{"kind": "simulated", "answers": "{{ answer }}"}],
        "scorers": [{"kind": "exact", "expected": "{{ answer }}"}],
    }
    return {"suite": suite, "cases": cases, "lost": lost}
