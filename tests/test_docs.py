"""What the documentation shows is tried: suites load, commands parse, fields and links exist."""

import io
import json
import re
import shlex
import sqlite3
import tomllib
from collections.abc import Iterator, Sequence
from contextlib import closing, redirect_stderr, redirect_stdout
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click
import pytest
from jsonschema import Draft202012Validator
from pydantic import BaseModel, TypeAdapter

from tests.plugins.installed import install
from tui_eval.cli.main import cli
from tui_eval.cli.main import run as run_command_line
from tui_eval.model.case import Case
from tui_eval.model.outputs.output import Failure, Output
from tui_eval.providers.presets import PRESETS
from tui_eval.scoring.check import Subject
from tui_eval.scoring.grading import grade
from tui_eval.scoring.scorers import Scorers
from tui_eval.store import schema
from tui_eval.suites.loading.json_schema import json_schema
from tui_eval.suites.loading.starter import starter
from tui_eval.suites.loading.suite_file import load
from tui_eval.suites.scorers import PARTS, SCORERS, Scorer, ScorerSpec
from tui_eval.suites.spec import (
    FAULT_KINDS,
    TARGETS,
    BaselineGate,
    CommandTargetSpec,
    Dataset,
    EmbeddingSpec,
    Examples,
    FunctionTargetSpec,
    Gate,
    Message,
    ModelJudgeSpec,
    ModelTargetSpec,
    PluginTargetSpec,
    Prompt,
    PythonTargetSpec,
    ReplayTargetSpec,
    RunSettings,
    ScorerThresholds,
    SimulatedJudgeSpec,
    SimulatedTargetSpec,
    SuiteFile,
    Thresholds,
    TokenPrices,
    UserSpec,
)
from tui_eval.suites.spec.asked.bulk import BulkSpec
from tui_eval.suites.spec.asked.programs import Limits
from tui_eval.suites.spec.judges.embedding_spec import EmbeddingPrices
from tui_eval.suites.spec.targets import TargetSpec
from tui_eval.suites.spec.targets.command import Transcript
from tui_eval.suites.spec.targets.http import AnswerUsage, HttpTargetSpec, Polling
from tui_eval.suites.survey.template_check import survey
from tui_eval.suites.templates.template import RESERVED
from tui_eval.ui.keys.keyboard import keyboard

ROOT = Path(__file__).parent.parent
DOCS = sorted([ROOT / "README.md", *(ROOT / "docs").rglob("*.md")])
READ_BESIDE = [
    ROOT / "CHANGELOG.md", ROOT / "CONTRIBUTING.md", ROOT / "sample_suites" / "README.md",
    ROOT / "benchmarks" / "README.md",
]  # fmt: skip
PICTURES = ROOT / "docs" / "pictures"
SUITES = ROOT / "docs" / "reference" / "suites.md"
CLI = ROOT / "docs" / "reference" / "cli.md"
JSON = ROOT / "docs" / "reference" / "json.md"
STORAGE = ROOT / "docs" / "reference" / "storage.md"


# --- reading Markdown -------------------------------------------------------------------------


@dataclass(frozen=True)
class Block:
    """A fenced block."""

    file: Path
    line: int
    language: str
    text: str
    section: str

    @property
    def id(self) -> str:
        return f"{self.file.relative_to(ROOT)}:{self.line}"


@dataclass(frozen=True)
class Page:
    """A Markdown file: its prose line by line with the section each is in, and its blocks."""

    file: Path
    prose: tuple[tuple[str, str], ...]
    blocks: tuple[Block, ...]

    def headings(self) -> list[str]:
        return [line.lstrip("# ") for _, line in self.prose if re.match(r"#{1,6} ", line)]

    def lines(self, *sections: str) -> list[str]:
        unknown = set(sections) - {section for section, _ in self.prose}
        assert not unknown, f"{self.file.name} has no section {unknown}"
        return [line for section, line in self.prose if section in sections]

    def rows(self, section: str, head: str) -> list[list[str]]:
        """Give the cells of the tables of a section whose first header cell is `head`."""
        found: list[list[str]] = []
        taking = False
        for line in self.lines(section):
            cells = [cell.strip() for cell in line.strip().strip("|").split(" | ")]
            if not line.startswith("|"):
                taking = False
            elif cells[0] == head:
                taking = True
            elif taking and not line.startswith("|---"):
                found.append([cell.strip("| ") for cell in cells])
        return found

    def names(self, section: str, head: str) -> set[str]:
        """Give what stands in backticks in the first column of those tables."""
        return {name for row in self.rows(section, head) for name in in_backticks(row[0])}


def in_backticks(text: str) -> list[str]:
    return re.findall(r"`([^`]+)`", text)


def page(file: Path) -> Page:
    prose: list[tuple[str, str]] = []
    blocks: list[Block] = []
    section, fence, began, body = "", None, 0, [""]
    for number, line in enumerate(file.read_text(encoding="utf-8").splitlines(), 1):
        if fence is None and line.startswith("```"):
            fence, began, body = line.strip("`"), number, []
        elif fence is not None and line == "```":
            blocks.append(Block(file, began, fence, "\n".join(body) + "\n", section))
            prose.append((section, ""))
            fence = None
        elif fence is not None:
            body.append(line)
        else:
            if re.match(r"#{1,6} ", line):
                section = line.lstrip("# ")
            prose.append((section, line))
    assert fence is None, f"{file}: a block does not end"
    return Page(file, tuple(prose), tuple(blocks))


PAGES = {file: page(file) for file in [*DOCS, *READ_BESIDE] if file.exists()}


def blocks(*languages: str) -> list[Block]:
    return [
        block for found in PAGES.values() for block in found.blocks if block.language in languages
    ]


def by_id(block: Block) -> str:
    return block.id


# --- suites -----------------------------------------------------------------------------------

WANTED_TOO = {
    "targets": '\n[[targets]]\nname = "stand-in"\nmodel = "m"\nbase_url = "http://127.0.0.1:9/v1"\n',
    "prompt": '\n[prompt]\nuser = "stand-in"\n',
    "cases": '\n[[cases]]\nid = "stand-in"\n',
}
TOML = blocks("toml")
PART_NAMES = {block.text.split("\n")[0].removeprefix("# "): block for block in TOML}


def missing(suite: dict[str, Any]) -> list[str]:
    """Say what a block lacks to be a whole suite."""
    there = {
        "targets": "targets" in suite,
        "prompt": "prompt" in suite or "prompts" in suite,
        "cases": "cases" in suite or "path" in suite.get("dataset", {}),
    }
    return [part for part, given in there.items() if not given]


def included(suite: dict[str, Any]) -> list[dict[str, Any]]:
    """Give the parts that a block includes and that are shown as well."""
    named = suite.get("include", [])
    names = [named] if isinstance(named, str) else named
    return [tomllib.loads(PART_NAMES[name].text) for name in names if name in PART_NAMES]


def stand_in(folder: Path, name: str) -> None:
    """Put a file there that can be what the suite takes it for."""
    file = folder / name.replace("*", "one")
    file.parent.mkdir(parents=True, exist_ok=True)
    contents = {
        ".jsonl": '{"id": "one", "key": "one"}\n',
        ".json": "{}" if "schema" in name else "[]",
        ".csv": "id\none\n",
        ".tsv": "id\none\n",
        ".toml": PART_NAMES[name].text if name in PART_NAMES else "",
    }
    file.write_text(contents.get(file.suffix, "stand-in"), encoding="utf-8")


def files_named(value: object) -> Iterator[str]:
    if isinstance(value, dict):
        for key, inner in value.items():
            if key in ("include", "path", "tools", "initial_session") or key.endswith("_file"):
                yield from [inner] if isinstance(inner, str) else map(str, inner)
            else:
                yield from files_named(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from files_named(inner)


@pytest.fixture(scope="module")
def editor() -> Any:
    """Give what an editor checks a suite by."""
    return Draft202012Validator(json_schema())


@pytest.mark.parametrize("block", TOML, ids=by_id)
def test_every_suite_shown_loads(
    block: Block, editor: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    suite = tomllib.loads(block.text)
    if "acme." in block.text:
        example = ROOT / "docs" / "plugin-example"
        points = tomllib.loads((example / "pyproject.toml").read_text("utf-8"))["project"]
        lines = [f"{name} = {it}" for name, it in points["entry-points"]["tui_eval"].items()]
        install(tmp_path, points["name"], points["version"], *lines)
        for folder in (example, tmp_path):
            monkeypatch.syspath_prepend(folder)
    parts = [suite, *included(suite)]
    for name in (name for part in parts for name in files_named(part)):
        stand_in(tmp_path, name)
    (tmp_path / suite.get("dataset", {}).get("repos", ".")).mkdir(exist_ok=True)
    for target in (*suite.get("targets", ()), *suite.get("scorers", ())):
        module, _, function = target.get("callable", "stand_in:any").partition(":")
        code = f"def {function}(*by_place, **by_name):\n    return 'stand-in'\n"
        (tmp_path / f"{module}.py").write_text(code, encoding="utf-8")
    for scorer in suite.get("scorers", ()):
        for source in scorer.get("files", {}).values():
            (tmp_path / source.partition("{{")[0]).mkdir(parents=True, exist_ok=True)
    lacking = set.intersection(*({*missing(part)} for part in parts))
    added = "".join(WANTED_TOO[part] for part in sorted(lacking))
    file = tmp_path / "shown.toml"
    file.write_text(block.text + added, encoding="utf-8")
    loaded = load(file, trusted=True)
    editor.validate(suite)
    if not added and not any("path" in part.get("dataset", {}) for part in parts):
        assert not survey(loaded).troubles


def test_there_are_whole_suites_among_them() -> None:
    whole = {block.file.name for block in TOML if not missing(tomllib.loads(block.text))}
    assert {"README.md", "suites.md"} <= whole


MODELS: list[tuple[str, tuple[type[BaseModel], ...], tuple[type[BaseModel], ...]]] = [
    ("The file", (SuiteFile,), ()),
    ("Cases", (Dataset,), ()),
    ("Prompts", (Prompt, Message), ()),
    ("Examples", (Examples,), ()),
    ("Targets", (TargetSpec,), ()),
    ("Models", (ModelTargetSpec, TokenPrices, BulkSpec), (TargetSpec,)),
    ("Apps", (HttpTargetSpec, AnswerUsage, Polling), (TargetSpec,)),
    ("Functions", (PythonTargetSpec,), (TargetSpec,)),
    ("Plugins", (PluginTargetSpec,), (TargetSpec,)),
    ("Functions of a program", (FunctionTargetSpec,), (TargetSpec,)),
    ("Programs", (CommandTargetSpec, Limits, Transcript), (TargetSpec,)),
    ("Replays", (ReplayTargetSpec,), (TargetSpec,)),
    ("Simulated targets", (SimulatedTargetSpec,), (TargetSpec,)),
    ("A simulated user", (UserSpec,), ()),
    ("Judges", (ModelJudgeSpec, SimulatedJudgeSpec), ()),
    ("Embedding", (EmbeddingSpec, EmbeddingPrices), ()),
    ("Run settings", (RunSettings,), ()),
    ("Gate", (Gate, Thresholds, ScorerThresholds), ()),
    ("Gate against a baseline", (BaselineGate,), ()),
]


def fields(*models: type[BaseModel]) -> set[str]:
    """Give the names of the models' fields as a suite writes them."""
    return {
        field.alias or name for model in models for name, field in model.model_fields.items()
    } | ({"kind"} if TargetSpec in models else set())


@pytest.mark.parametrize(
    ("section", "models", "common"), MODELS, ids=[section for section, _, _ in MODELS]
)
def test_every_field_is_described_and_no_other(
    section: str, models: tuple[type[BaseModel], ...], common: tuple[type[BaseModel], ...]
) -> None:
    described = PAGES[SUITES].names(section, "field")
    assert described == fields(*models) - fields(*common)


def sections_of_scorers() -> dict[str, list[str]]:
    """Give the kinds of each section that describes some."""
    found = {heading: heading.split(", ") for heading in PAGES[SUITES].headings()}
    return {heading: kinds for heading, kinds in found.items() if set(kinds) <= {*SCORERS}}


def test_every_kind_of_scorer_has_a_section() -> None:
    told = [kind for kinds in sections_of_scorers().values() for kind in kinds]
    assert told == list(SCORERS)
    assert PAGES[SUITES].names("Scorers", "field") == fields(Scorer)


@pytest.mark.parametrize(("section", "kinds"), sections_of_scorers().items())
def test_every_field_of_a_scorer_is_described_and_no_other(section: str, kinds: list[str]) -> None:
    described = PAGES[SUITES].names(section, "field")
    all_fields = fields(*(SCORERS[kind] for kind in kinds))
    assert all_fields - fields(Scorer) <= described <= all_fields


def test_every_word_a_suite_may_use_is_listed() -> None:
    suites = PAGES[SUITES]
    assert suites.names("Models", "preset") == set(PRESETS)
    for name, preset in PRESETS.items():
        row = next(row for row in suites.rows("Models", "preset") if f"`{name}`" == row[0])
        assert preset.api_key_env is None or row[2] == f"`{preset.api_key_env}`"
    assert suites.names("Scorers", "`of`") == set(PARTS)
    text = SUITES.read_text(encoding="utf-8")
    for word in (*TARGETS.names, *FAULT_KINDS, *RESERVED):
        assert f"`{word}`" in text


def test_the_defaults_of_run_settings_are_told_right() -> None:
    told = {in_backticks(row[0])[0]: row[1] for row in PAGES[SUITES].rows("Run settings", "field")}
    for name, field in RunSettings.model_fields.items():
        if field.default is None:
            continue
        default = told[name].strip("`")
        assert json.loads(default) == field.default, name


@dataclass(frozen=True)
class Example:
    """A scorer that is shown, an output, and the verdict the page tells."""

    block: Block
    output: str
    verdict: str


def examples() -> list[Example]:
    """Give the rows of the tables of outputs, each with the scorer shown before the table."""
    found = []
    shown: Block | None = None
    number = {block.line: block for block in PAGES[SUITES].blocks if block.language == "toml"}
    for at, line in enumerate(SUITES.read_text(encoding="utf-8").splitlines(), 1):
        shown = number.get(at, shown)
        row = re.fullmatch(r"\| `(.*)` \| (pass|fail) \|", line)
        if row is not None:
            assert shown is not None
            found.append(Example(shown, row[1], row[2]))
    return found


@pytest.mark.parametrize("example", examples(), ids=lambda one: f"{one.block.id} {one.output}")
def test_outputs_are_graded_as_the_page_says(example: Example) -> None:
    (settings,) = tomllib.loads(example.block.text)["scorers"]
    spec = TypeAdapter(ScorerSpec).validate_python(settings)
    output = Output(example.output)
    if settings["kind"] == "tool_calls":
        message = {"role": "assistant", "tool_calls": json.loads(example.output)}
        output = Output(None, messages=(message,))
    checks = Scorers([spec]).checks(Subject(Case(0, "shown", {}), output=output))
    assert not isinstance(checks, Failure)
    given = grade(checks[0], output)
    assert given.verdict == example.verdict, given.reason


def test_every_kind_that_reads_text_shows_what_it_passes_and_fails() -> None:
    shown: dict[str, set[str]] = {}
    for example in examples():
        (settings,) = tomllib.loads(example.block.text)["scorers"]
        shown.setdefault(settings["kind"], set()).add(example.verdict)
    others = {"likelihood", "recorded", "latency", "tokens", "cost", "finish", "judge"}
    others |= {kind for kind, model in SCORERS.items() if model.RUNS_PROGRAM}
    assert {kind: {"pass", "fail"} for kind in SCORERS if kind not in others} == shown


# --- command lines ----------------------------------------------------------------------------


@dataclass(frozen=True)
class CommandLine:
    """A call of the program that is shown somewhere."""

    place: str
    words: tuple[str, ...]

    @property
    def page(self) -> str:
        return self.place.partition(":")[0]


def command_lines() -> Iterator[CommandLine]:
    for block in blocks("sh"):
        for line in block.text.replace("\\\n", " ").splitlines():
            yield from calls(block.id, line)
    for block in blocks("yaml"):
        for line in re.findall(r"- run: (.*)", block.text):
            yield from calls(block.id, line)
    for found in PAGES.values():
        text = "\n".join(line for _, line in found.prose)
        for span in re.findall(r"`(tui-eval\s[^`]+)`", text):
            yield from calls(str(found.file.relative_to(ROOT)), span)


def calls(place: str, line: str) -> Iterator[CommandLine]:
    """Find the program's calls in a line of shell."""
    line = re.sub(r"\$(\{\{.*?\}\}|\(\(.*?\)\))", "1", line)  # numbers that a shell, or CI, puts in
    lexer = shlex.shlex(line, posix=True, punctuation_chars=True)
    lexer.whitespace_split = True
    words: list[str] = []
    redirected = False
    for token in [*lexer, ";"]:
        if set(token) <= set("();|&"):
            if words and words[0].rpartition("/")[2] == "tui-eval":
                yield CommandLine(place, tuple(words[1:]))
            words = []
        elif set(token) <= set("<>"):
            redirected = True
        elif redirected:
            redirected = False
        else:
            words.append(token)


SHOWN = list(dict.fromkeys(command_lines()))


@pytest.mark.parametrize("page", sorted({shown.page for shown in SHOWN}))
def test_every_command_line_shown_parses(
    page: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    refused = []
    for shown in SHOWN:
        if shown.page != page:
            continue
        try:
            parse(shown.words)
        except click.ClickException as error:
            refused.append(f"{shown.place} {shlex.join(shown.words)}: {error.format_message()}")
    assert refused == []


def parse(words: Sequence[str]) -> None:
    """Read the words of a command line as the program does; its suites are in this folder."""
    for word in words:
        if word.endswith(".toml"):
            Path(word).parent.mkdir(parents=True, exist_ok=True)
            Path(word).touch()
    context = cli.make_context("tui-eval", [*words])
    if words and not words[0].startswith("-"):
        name, command, rest = cli.resolve_command(context, [*words])
        assert command is not None
        if rest or not any(isinstance(one, click.Argument) for one in command.params):
            command.make_context(name, rest, parent=context)


def test_enough_command_lines_were_found() -> None:
    used = {shown.words[0] for shown in SHOWN if shown.words}
    assert (
        set(cli.list_commands(click.Context(cli))) - {"engine", "complete", "tab", "tryout"} <= used
    )


def options(name: str) -> set[str]:
    command = cli.get_command(click.Context(cli), name)
    assert command is not None
    return {
        opt for one in command.params if isinstance(one, click.Option) for opt in one.opts
    }  # --help is every command's


COMMANDS = [
    "run",
    "check",
    "runs",
    "show",
    "trace",
    "resume",
    "retry",
    "rescore",
    "cancel",
    "undo",
    "sweep",
    "grade",
    "agreement",
    "export",
    "workspace",
    "serve",
]


@pytest.mark.parametrize("name", COMMANDS)
def test_every_option_is_described_and_no_other(name: str) -> None:
    described = {word.split()[0] for word in PAGES[CLI].names(name, "option")}
    assert described == options(name)


def test_the_options_of_small_commands_are_told() -> None:
    text = "\n".join(PAGES[CLI].lines("init, schema, doctor, watch"))
    told = set(re.findall(r"(?<![-\w])--?[a-z]+", text))
    assert told == set().union(*map(options, ("init", "schema", "doctor", "watch")))


def test_no_option_is_told_that_is_not_there() -> None:
    known = set().union(*map(options, cli.list_commands(click.Context(cli))))
    for file in (CLI, SUITES, STORAGE, ROOT / "README.md"):
        prose = "\n".join(line for _, line in PAGES[file].prose)
        told = set(re.findall(r"`(--[a-z-]+)", prose))
        assert told <= known | {"--help", "--version"}, file.name


# --- documents and the store ------------------------------------------------------------------


@dataclass(frozen=True)
class Ran:
    """A run of the first suite, with everything the command line tells of it."""

    store: Path
    events: list[dict[str, Any]]
    document: dict[str, Any]
    checked: list[dict[str, Any]]
    lines: list[dict[str, Any]]
    table: str
    cancelled: dict[str, Any]


@pytest.fixture(scope="module")
def ran(tmp_path_factory: pytest.TempPathFactory) -> Ran:
    folder = tmp_path_factory.mktemp("docs")
    for name, text in starter().items():
        (folder / name).write_text(text, encoding="utf-8")
    store = folder / "store.sqlite3"

    def said(*words: str) -> str:
        out, err = io.StringIO(), io.StringIO()
        with redirect_stdout(out), redirect_stderr(err):
            code = run_command_line([*words, "--store", str(store)])
        assert code in (0, 1), err.getvalue()
        return out.getvalue()

    suite = str(folder / "suite.toml")
    checked = json.loads(said("check", suite, "--json"))
    events = said(
        "run", suite, "--events", "--set", "gate.pass_rate=1", "--set", "gate.max_error_rate=1",
        "--set", "run.retries=0", "--set", "targets.simulated.latency_s=0",
        "--set", "targets.simulated.faults.empty=0.2", "--set", "targets.simulated.accuracy=0.5",
    )  # fmt: skip
    return Ran(
        store,
        [json.loads(line) for line in events.splitlines()],
        json.loads(said("show", "last", "--json")),
        checked,
        [json.loads(line) for line in said("export", "last", "--format", "jsonl").splitlines()],
        said("export", "last", "--format", "csv"),
        json.loads(said("cancel", "last", "--json")),
    )


def json_shown(section: str) -> dict[str, Any]:
    (block,) = (
        block
        for block in PAGES[JSON].blocks
        if block.section == section and block.language == "json"
    )
    shown: dict[str, Any] = json.loads(block.text)
    return shown


def keys(value: object, path: str = "$") -> set[str]:
    """Give the paths of all keys; those of named things (a target, a scorer) under `*`."""
    found: set[str] = set()
    if isinstance(value, dict):
        named = path.endswith(".targets") or path in ("$.scorers", "$.tags")
        for key, inner in value.items():
            at = f"{path}.{'*' if named else key}"
            found |= {at} | (set() if at == "$.tags" else keys(inner, at))
    elif isinstance(value, list) and value and path not in ("$.gate.failed",):
        found |= keys(value[0], f"{path}[]")
    return found


def test_the_document_shown_is_the_one_that_comes(ran: Ran) -> None:
    assert ran.document["errors"], "the run must have something of everything"
    assert keys(json_shown("The document of a run")) == keys(ran.document)


def test_every_field_of_the_document_is_described_and_no_other(ran: Ran) -> None:
    described = PAGES[JSON].names("The document of a run", "field")
    (column,) = ran.document["targets"].values()
    assert described == {*ran.document, *column}
    text = "\n".join(PAGES[JSON].lines("The document of a run"))
    tag = next(iter(ran.document["tags"].values()))
    inner = [ran.document["requests"], ran.document["cost_usd"], ran.document["gate"], tag]
    inner += [ran.document["gate"]["failed"][0], *ran.document["scorers"].values()]
    for name in set().union(*inner):
        assert f"`{name}`" in text, name


def test_a_trial_has_the_fields_shown_and_described(ran: Ran) -> None:
    graded = next(line for line in ran.lines if line["scores"])
    shown = json_shown("A trial")
    assert keys(shown) == keys(graded)
    described = PAGES[JSON].names("A trial", "field")
    assert described == set(graded)
    text = "\n".join(PAGES[JSON].lines("A trial"))
    assert all(f"`{name}`" in text for name in graded["scores"][0])


def test_events_have_the_fields_described(ran: Ran) -> None:
    rows = {in_backticks(row[0])[0]: row[2] for row in PAGES[JSON].rows("Events", "`event`")}
    assert {event["event"] for event in ran.events} >= {"trial", "finished"}
    for event in ran.events:
        said = rows[event["event"]]
        if event["event"] == "trial":
            assert set(event) == {"event", "at", *ran.lines[0]}
        elif event["event"] == "finished":
            assert set(event) == {"event", "at", *ran.document}
        else:
            assert set(event) == {"event", "at", *in_backticks(said)}


def test_a_check_has_the_fields_described(ran: Ran) -> None:
    described = PAGES[CLI].names("check", "field of `--json`")
    assert described == {*ran.checked[0], "mistakes"}
    text = "\n".join(PAGES[CLI].lines("check"))
    (expected,) = ran.checked[0]["expected"].values()
    assert all(f"`{name}`" in text for name in expected)


def test_a_table_has_the_columns_told(ran: Ran) -> None:
    header = ran.table.splitlines()[0].split(",")
    (start,) = (
        at for at, line in enumerate(PAGES[CLI].lines("export")) if line.startswith("`run`")
    )
    told = in_backticks("\n".join(PAGES[CLI].lines("export")[start : start + 2]))
    assert header[: len(told)] == told
    assert header[len(told) :][:3] == ["exact verdict", "exact value", "exact reason"]


def test_an_answer_to_a_request_has_the_fields_told(ran: Ran) -> None:
    (row,) = (row for row in PAGES[CLI].rows("cancel", "option") if "--json" in row[0])
    assert in_backticks(row[1]) == list(ran.cancelled)


def tables(store: Path) -> set[str]:
    with closing(sqlite3.connect(store)) as db:
        rows = db.execute("SELECT name FROM sqlite_master WHERE type = 'table'")
        return {row[0] for row in rows}


def test_every_table_of_the_store_is_described_and_no_other(ran: Ran) -> None:
    assert PAGES[STORAGE].names("Reading it", "table") == tables(ran.store)
    assert len(schema.MIGRATIONS) >= 1


@pytest.mark.parametrize("block", blocks("sql"), ids=by_id)
def test_every_query_shown_finds_something(block: Block, ran: Ran) -> None:
    query = re.sub(r"first-steps-\w{4}", ran.document["run"], block.text)
    with closing(sqlite3.connect(f"file:{ran.store}?mode=ro", uri=True)) as db:
        assert db.execute(query).fetchall()


# --- links ------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Link:
    """A link or picture that leads to somewhere in the project."""

    file: Path
    to: str


def links() -> Iterator[Link]:
    for found in PAGES.values():
        text = "\n".join(line for _, line in found.prose)
        for to in re.findall(r"\]\(([^)\s]+)\)", text):
            if not re.match(r"[a-z]+:", to):
                yield Link(found.file, to)


def slug(heading: str) -> str:
    """Give the anchor a heading gets on the web."""
    return re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-")


def anchors(file: Path) -> Sequence[str]:
    return [slug(heading) for heading in PAGES[file].headings()]


def test_every_link_leads_somewhere() -> None:
    assert [
        f"{link.file.relative_to(ROOT)} {link.to}" for link in links() if not arrives(link)
    ] == []


def arrives(link: Link) -> bool:
    """Whether there is what a link leads to, and the heading in it."""
    path, _, anchor = link.to.partition("#")
    target = (link.file.parent / path).resolve() if path else link.file
    return target.exists() and (not anchor or anchor in anchors(target))


def test_every_page_is_led_to() -> None:
    leads = {(link.file.parent / link.to.partition("#")[0]).resolve() for link in links()}
    assert {file for file in DOCS if file not in leads} <= {ROOT / "README.md"}


# --- the app's pages ---------------------------------------------------------------------------


def test_every_picture_is_shown_and_no_other_is_kept() -> None:
    shown = {(link.file.parent / link.to).resolve() for link in links() if link.to.endswith(".png")}
    assert shown == set(PICTURES.glob("*.png"))
    assert sum(file.stat().st_size for file in shown) < 3_000_000


APP = ROOT / "docs" / "app"
EVERYWHERE = ("", "table", "page", "form", "help", "menu", "modal", "name")
"""Scopes of actions that are told once for all screens; the first is that of the whole app."""
TOLD = {
    APP / "README.md": (),
    APP / "suites.md": ("suites", "import"),
    APP / "launch.md": ("launch", "consent"),
    APP / "runs.md": ("runs",),
    APP / "run.md": ("run", "cap", "verdict"),
    APP / "finding.md": ("run", "filter", "groups"),
    APP / "detail.md": ("run",),
    APP / "charts.md": ("charts",),
    APP / "compare.md": ("compare",),
    APP / "grade.md": ("grade",),
    APP / "diff-and-history.md": ("run", "diff", "history", "suite-history"),
    APP / "edit-loop.md": ("run", "would-change"),
    APP / "settings.md": ("settings",),
    APP / "workspace.md": ("run", "workspace"),
}
"""The pages of the app, each with the scopes of the actions whose keys it tells."""
NAMES = {
    "/": "slash", "]": "right_square_bracket", "[": "left_square_bracket", "?": "question_mark",
    ",": "comma", "+": "plus", "=": "equals_sign", "-": "minus", "esc": "escape",
}  # fmt: skip


def told_keys(file: Path) -> set[str]:
    """Give the keys of the tables of keys of a page, by their names."""
    found = PAGES[file]
    sections = dict.fromkeys(section for section, _ in found.prose)
    cells = (row[0] for section in sections for row in found.rows(section, "key"))
    return {NAMES.get(key, key) for cell in cells for key in in_backticks(cell)}


def keys_of(*scopes: str) -> dict[str, tuple[str, ...]]:
    """Give the keys of all actions of some scopes."""
    return {
        name: action.keys
        for name, action in keyboard().actions.items()
        if name.rpartition(".")[0] in scopes
    }


def test_the_pages_of_the_app_tell_every_scope() -> None:
    scopes = {name.rpartition(".")[0] for name in keyboard().actions}
    assert set(EVERYWHERE).union(*TOLD.values()) == scopes
    assert set(TOLD) == {APP / "README.md", *APP.glob("*.md")}


@pytest.mark.parametrize("file", TOLD, ids=lambda file: file.stem)
def test_keys_told_of_a_screen_are_keys_of_it(file: Path) -> None:
    there = {key for keys in keys_of(*TOLD[file], *EVERYWHERE).values() for key in keys}
    assert told_keys(file) <= there


@pytest.mark.parametrize("scope", sorted(set().union(*TOLD.values())))
def test_every_action_has_its_key_told(scope: str) -> None:
    told = set().union(*(told_keys(file) for file, scopes in TOLD.items() if scope in scopes))
    untold = {name for name, keys in keys_of(scope).items() if not told.intersection(keys)}
    assert not untold
