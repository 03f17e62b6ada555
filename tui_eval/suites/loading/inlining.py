"""Inline the files that a suite names, so that the frozen suite needs no other file."""

import json
import os
from pathlib import Path as FilePath
from typing import Final, TypeGuard

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.conversation import files_in
from tui_eval.suites.data import gold, grade_forms
from tui_eval.suites.data.files import formats, is_data, is_glob, read_whole, trouble_with
from tui_eval.suites.data.hub.hub_address import HubAddress, is_hub
from tui_eval.suites.data.rows import MOST_MISTAKES, DataProblems, read_json, read_rows
from tui_eval.suites.data.session_files import read_session
from tui_eval.suites.data.tasks import task_formats
from tui_eval.suites.data.tasks.task_formats import FOLDERS, task_files
from tui_eval.suites.judge_choice import judge_names, judge_tables
from tui_eval.suites.loading.errors import Mistake, SuiteError, missing
from tui_eval.suites.loading.source_map import SourceMap, tables
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.scorers import check_schema, is_template, scorer_of
from tui_eval.suites.spec import JUDGES, TARGETS, UNNAMED, AskedSpec, UserSpec
from tui_eval.suites.spec.targets.target import default_name
from tui_eval.suites.trust.capabilities import Folder

_MOST_ROWS: Final = 10_000
"""Examples and gold become part of the suite; more than these are a dataset."""


def inline(data: JsonObject, places: SourceMap, folder: Folder) -> list[Mistake]:
    """Replace the paths of prompts, examples, tools, schemas and gold by the files' contents.

    The paths of the dataset and of recordings are made absolute, and have to lead somewhere. What
    may not be read is left as it is; the folder has asked for the permission.
    """
    return _Inliner(data, places, folder).run()


class _Inliner:
    def __init__(self, data: JsonObject, places: SourceMap, folder: Folder) -> None:
        self._data = data
        self._places = places
        self._folder = folder
        self._mistakes: list[Mistake] = []

    def run(self) -> list[Mistake]:
        """Inline everything; return the mistakes."""
        for path, prompt in tables(self._data, "prompt", "prompts"):
            self._text(path, prompt, "system_file", "system")
            self._text(path, prompt, "user_file", "user")
            self._messages(path, prompt, "messages_file", "messages")
            if not is_template(prompt.get("initial_session")):
                self._messages(path, prompt, "initial_session", "initial_session")
            self._attached(path, prompt)
            examples = prompt.get("examples")
            if isinstance(examples, dict):
                self._examples((*path, "examples"), examples)
        for path, target in tables(self._data, "targets"):
            self._asked(TARGETS.of(target), path, target)
        for path, judge in judge_tables(self._data):
            self._asked(JUDGES.of(judge), path, judge)
            self._gold(path, judge)
        for path, user in tables(self._data, "user"):
            self._asked(UserSpec, path, user)
        for path, scorer in tables(self._data, "scorers"):
            self._schema(path, scorer)
            self._graders_files(path, scorer)
        dataset = self._data.get("dataset")
        if isinstance(dataset, dict):
            self._dataset(dataset)
        return self._mistakes

    def _dataset(self, dataset: JsonObject) -> None:
        form = dataset.get("format")
        form = form if isinstance(form, str) else None
        self._data_path(("dataset", "path"), dataset, form)
        if form is not None:
            for _, target in tables(self._data, "targets"):
                TARGETS.of(target).fill_from_tasks(target)
            self._tests_of_tasks(form)
        at, name = ("dataset", "repos"), dataset.get("repos")
        if not isinstance(name, str) or not name:
            return
        if form != "swebench":
            self._wrong(at, "is for swebench", 'add format = "swebench"')
            return
        repos = FilePath(os.path.normpath(self._places.of(at).folder / name))
        if self._is_no_path(at, repos) or not self._folder.allows(repos):
            return
        dataset["repos"] = str(repos)
        if not repos.is_dir():
            self._wrong(at, f'"{name}" is no folder', "name the folder of the repositories")
        for _, target in tables(self._data, "targets"):
            TARGETS.of(target).fill_from_repositories(target)

    def _wrong(self, path: Path, message: str, hint: str | None = None) -> None:
        self._mistakes.append(self._places.mistake(path, message, hint))

    def _is_no_path(self, path: Path, file: FilePath) -> bool:
        trouble = trouble_with(file)
        if trouble is not None:
            self._wrong(path, trouble)
        return trouble is not None

    def _file(self, path: Path, table: JsonObject) -> FilePath | None:
        """Return the path a field names; None where it is no file or may not be read."""
        name = table.get(str(path[-1]))
        if not isinstance(name, str) or not name:
            return None
        file = self._places.of(path).folder / name
        if self._is_no_path(path, file) or not self._folder.allows(file):
            return None
        if not file.is_file():
            self._wrong(path, *missing(name, file))
            return None
        return file

    def _text(self, path: Path, table: JsonObject, field: str, into: str) -> None:
        file = self._file((*path, field), table)
        if file is None:
            return
        try:
            with self._folder.open(file) as opened:
                text = read_whole(opened).decode("utf-8-sig")
        except UnicodeDecodeError:
            self._wrong((*path, field), f'"{table[field]}" is not UTF-8 text')
        except OSError as error:
            self._wrong((*path, field), f'"{table[field]}" cannot be read: {error.strerror}')
        else:
            if table.get(into) is None:  # both is a mistake that is reported elsewhere
                table[into] = text
                self._places.copy((*path, field), (*path, into))
                del table[field]

    def _attached(self, path: Path, prompt: JsonObject) -> None:
        """See that files which messages name as they are may be read, and are there."""
        for at, name in files_in(prompt, path):
            if is_template(name):
                continue
            file = self._places.root.folder / name  # wherever the prompt was written
            if not self._is_no_path(at, file) and self._folder.allows(file) and not file.is_file():
                self._wrong(at, *missing(name, file))

    def _messages(self, path: Path, prompt: JsonObject, field: str, into: str) -> None:
        """Put the messages of a file where the suite would have them."""
        file = self._file((*path, field), prompt)
        if file is None:
            return
        try:
            messages = read_session(file, self._folder.open)
        except ValueError as error:
            self._wrong((*path, field), f'"{prompt[field]}" {error}')
            return
        if field == into or prompt.get(into) is None:  # both is a mistake that is told elsewhere
            del prompt[field]
            prompt[into] = [*messages]
            self._places.copy((*path, field), (*path, into))

    def _examples(self, path: Path, examples: JsonObject) -> None:
        at = (*path, "path")
        file = self._file(at, examples)
        if file is None or examples.get("rows") is not None:
            return
        rows = self._rows(at, file, "examples")
        if rows is not None:
            examples["rows"] = [row for _, row in rows]
            del examples["path"]

    def _rows(self, path: Path, file: FilePath, what: str) -> list[tuple[int, JsonObject]] | None:
        """Return the rows of a file that is inlined, each with its line."""
        if not is_data(file):
            self._unknown_format(path, file)
            return None
        problems = DataProblems()
        rows: list[tuple[int, JsonObject]] = []
        try:
            for line, row in read_rows(file, self._shown(file), problems, self._folder.open):
                rows.append((line, row))
                if len(rows) > _MOST_ROWS:
                    self._wrong(path, f"holds more than {_MOST_ROWS:,} {what}")
                    return None
            problems.settle()
        except SuiteError as error:
            self._mistakes.extend(error.mistakes)
            return None
        if not all(_is_text_clean(row) for _, row in rows):
            self._wrong(path, "holds half a character (a lone surrogate), no text")
            return None
        return rows

    def _gold(self, path: Path, judge: JsonObject) -> None:
        """Inline a judge's gold and check each row of it."""
        at = (*path, "gold")
        scorers = [scorer for _, scorer in tables(self._data, "scorers")]
        name = str(judge.get("name", UNNAMED))
        asked = gold.questions(scorers, name, judge_names(self._data))
        held = judge.get("gold")
        ranked = any(one.form in grade_forms.RANKED for one in asked)
        if asked and not ranked and judge.get("min_spearman") is not None:
            self._wrong(
                (*path, "min_spearman"),
                "orders grades of a scale, and no scorer with one asks this judge",
                "use min_agreement",
            )
        if isinstance(held, list):
            for index, row in enumerate(held):
                for column, message, hint in gold.troubles(row, asked) if _is_table(row) else ():
                    self._wrong((*at, index, column), message, hint)
            return
        file = self._file(at, judge)
        rows = None if file is None else self._rows(at, file, "graded outputs")
        if file is None or rows is None:
            return
        wrong = [
            Mistake(self._shown(file), line, column, message, hint)
            for line, row in rows
            for column, message, hint in gold.troubles(row, asked)
        ]
        self._mistakes.extend(wrong[:MOST_MISTAKES])
        if not rows:
            self._wrong(at, f'"{held}" holds no graded output')
        elif not wrong:
            judge["gold"] = [row for _, row in rows]

    def _asked(self, kind: type[AskedSpec], path: Path, table: JsonObject) -> None:
        """Inline the lists of a target or judge; ask permission for files that are read later."""
        for field, what in kind.LIST_FILES.items():
            self._list((*path, field), table, what)
        for field in kind.DATA_FIELDS:
            self._data_path((*path, field), table)
        # relative to the suite itself, wherever the target was written
        for field, file in kind.files_read(table, self._places.root.folder):
            if not self._is_no_path((*path, field), file):
                self._folder.allows(file)
        for found in kind.file_mistakes(table, self._places.root.folder):
            self._wrong((*path, *found.path), found.message, found.hint)

    def _tests_of_tasks(self, form: str) -> None:
        """Have tasks graded by the tests that they bring, where they run in their images."""
        scorers = self._data.setdefault("scorers", [])
        brought = task_formats.SCORERS.get(form)
        if brought is None or not isinstance(scorers, list):
            return
        written = [target for _, target in tables(self._data, "targets")]
        names = [
            default_name(one) if one.get("name") is None else one["name"]
            for one in written
            if TARGETS.of(one).runs_images(one)
        ]
        taken = {one.get("name", one.get("kind")) for one in scorers if _is_table(one)}
        if names and brought["name"] not in taken:
            own: list[Json] = [str(name) for name in names]
            scorers.append({**brought, "targets": own})

    def _graders_files(self, path: Path, scorer: JsonObject) -> None:
        """Ask permission for the files that a scorer grades with; see that they are there."""
        kind, folder = scorer_of(scorer), self._places.root.folder
        for field, file in kind.files_read(scorer, folder):
            if not self._is_no_path((*path, *field), file):
                self._folder.allows(file)
        for field, message, hint in kind.file_mistakes(scorer, folder):
            self._wrong((*path, *field), message, hint)

    def _list(self, at: Path, table: JsonObject, what: str) -> None:
        held = self._json(at, table)
        if held is None:
            return
        field = str(at[-1])
        if isinstance(held, list) and all(isinstance(one, dict) for one in held):
            table[field] = held
        else:
            self._wrong(at, f'"{table[field]}" must hold a list of {what}: [{{…}}, …]')

    def _schema(self, path: Path, scorer: JsonObject) -> None:
        at = (*path, "schema_file")
        held = self._json(at, scorer)
        if held is None or scorer.get("schema") is not None:
            return
        if not isinstance(held, dict):
            self._wrong(at, f'"{scorer["schema_file"]}" must hold a JSON Schema')
            return
        try:
            check_schema(held)
        except ValueError as error:
            self._wrong(at, f'"{scorer["schema_file"]}": {error}')
        else:
            scorer["schema"] = held
            del scorer["schema_file"]

    def _json(self, path: Path, table: JsonObject) -> Json:
        """Return the JSON of the file a field names; None where there is none to read."""
        file = self._file(path, table)
        if file is None:
            return None
        try:
            return read_json(file, self._folder.open)
        except ValueError as error:
            self._wrong(path, f'"{table[str(path[-1])]}" {error}')
        return None

    def _data_path(self, at: Path, table: JsonObject, form: str | None = None) -> None:
        field = str(at[-1])
        name = table.get(field)
        if not isinstance(name, str) or not name:
            return
        if is_hub(name):
            self._on_the_hub(at, name, form)
            return
        full = FilePath(os.path.normpath(self._places.of(at).folder / name))
        if self._is_no_path(at, full):
            return
        full = task_files(full, form)
        table[field] = str(full)
        files = self._folder.files(full)
        if files is None:
            return
        if not files:
            if full.is_dir():
                self._wrong(at, f'"{name}" is a folder', f"write {name}/*.jsonl for all its files")
            elif is_glob(full):
                what = "file" if form not in FOLDERS else f"{full.name} of a task"
                self._wrong(at, f'no {what} matches "{name}"')
            else:
                self._wrong(at, *missing(name, full))
        for file in files if form not in FOLDERS else ():
            if not is_data(file):
                self._unknown_format(at, file)
                return

    def _on_the_hub(self, at: Path, name: str, form: str | None) -> None:
        """See that a dataset of the Hub is named rightly; nobody is asked before it is read."""
        if at != ("dataset", "path"):
            self._wrong(at, f'"{name}" is a dataset of the Hub', "name a file here")
        elif form in FOLDERS:
            self._wrong(at, f'"{name}" is a dataset of the Hub', f"{form} is a folder of tasks")
        else:
            try:
                HubAddress.of(name)
            except ValueError as error:
                self._wrong(at, f'"{name}" {error}')

    def _unknown_format(self, path: Path, file: FilePath) -> None:
        self._wrong(path, f'"{file.name}" has an unknown format', f"use {formats()}")

    def _shown(self, file: FilePath) -> str:
        """Return a file's path as the suite's is shown, relative or absolute."""
        base = FilePath(self._places.root.file).parent
        return os.path.normpath(base / os.path.relpath(file, self._places.root.folder))


def _is_table(row: Json) -> TypeGuard[JsonObject]:
    return isinstance(row, dict)


def _is_text_clean(row: Json) -> bool:
    try:
        json.dumps(row, ensure_ascii=False).encode()
    except UnicodeEncodeError:
        return False
    return True
