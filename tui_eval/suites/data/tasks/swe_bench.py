"""`swebench`: a row an issue, with the repository and the commit it was found at."""

from pathlib import Path
from typing import Final

from tui_eval.model.json import JsonObject
from tui_eval.suites.data.tasks.task_file import TaskError
from tui_eval.suites.loading.source_map import named_from

_NEEDED: Final = ("instance_id", "repo", "base_commit", "problem_statement")


def swe_bench_row(row: JsonObject, repos: Path | None, folder: Path | None) -> JsonObject:
    """Return a row with its id and, where there are repositories, the place of its own.

    Args:
        row: As it was read.
        repos: The folder of bare repositories; None: there is none.
        folder: The suite's own.

    Raises:
        TaskError: it lacks a column, or its repository is not there.
    """
    for name in _NEEDED:
        if not isinstance(row.get(name), str) or not row[name]:
            raise TaskError("is missing, or no text", name)
    made: JsonObject = {"id": row["instance_id"], "image": _image(row), **row}
    if repos is not None:
        made["repository"] = named_from(folder, _repository(str(row["repo"]), repos))
    return made


def _image(row: JsonObject) -> str:
    """Return the image that a row names, else the one that SWE-bench has published for it."""
    for name in ("image_name", "docker_image"):
        named = row.get(name)
        if isinstance(named, str) and named:
            return named
    issue = str(row["instance_id"]).lower().replace("__", "_1776_")
    return f"docker.io/swebench/sweb.eval.x86_64.{issue}:latest"


def _repository(repo: str, repos: Path) -> Path:
    """Return the bare repository `OWNER__NAME.git` or `OWNER/NAME.git`."""
    parts = repo.split("/")
    if len(parts) != 2 or any(part in ("", ".", "..") or "\0" in part for part in parts):
        raise TaskError('must be "OWNER/NAME"', "repo")
    names = (f"{parts[0]}__{parts[1]}.git", f"{repo}.git")
    found = next((repos / name for name in names if (repos / name / "HEAD").is_file()), None)
    if found is None:
        raise TaskError(f"{repos} has neither {names[0]} nor {names[1]}", "repo")
    return found
