# mypy: ignore-errors
# its imports are in an environment of their own
"""The cases as a task of inspect_ai; `inspect eval` runs it."""

import os
from pathlib import Path

from inspect_ai import Task, task
from inspect_ai.dataset import FieldSpec, json_dataset
from inspect_ai.scorer import exact
from inspect_ai.solver import generate


@task
def bench() -> Task:
    """Ask each question, expect it back."""
    cases = str(Path(os.environ["BENCH_FOLDER"]) / "cases.jsonl")
    fields = FieldSpec(input="q", target="q", id="id")
    return Task(dataset=json_dataset(cases, fields), solver=generate(), scorer=exact())
