"""A kind of target that only this file knows goes the whole way, and no module names any kind."""

import ast
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, ClassVar, Literal

import pytest

import tui_eval
from tests.engine.harness import Harness
from tests.support import reading
from tui_eval import targets
from tui_eval.engine.preflight.preflight import preflight
from tui_eval.engine.settings import Settings
from tui_eval.model.case import Case, Column
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.output import Failure, Output, Usage
from tui_eval.model.states import TrialState
from tui_eval.reports.document import document
from tui_eval.reports.exports.export_choice import ExportChoice
from tui_eval.reports.exports.jsonl import jsonl
from tui_eval.store.read import run_queries
from tui_eval.store.read.trials import trial_queries
from tui_eval.suites.loading import validation
from tui_eval.suites.loading.errors import FieldMistake, SuiteError
from tui_eval.suites.loading.suite_file import load, look
from tui_eval.suites.scorers import SCORERS
from tui_eval.suites.spec import JUDGES, TARGETS, Suite, SuiteFile
from tui_eval.suites.spec.asked.asked_spec import CallRates, KeyUse
from tui_eval.suites.spec.table import Text
from tui_eval.suites.spec.targets import TargetSpec
from tui_eval.suites.templates.template import NestedTemplate, TemplateError
from tui_eval.suites.trust.capabilities import data_paths, wanted_permissions
from tui_eval.suites.trust.needs_trust import NeedsTrust
from tui_eval.suites.trust.permissions import Permission
from tui_eval.targets.attempt.attempt_context import AttemptContext
from tui_eval.targets.base import Target
from tui_eval.targets.build_context import BuildContext
from tui_eval.ui.run.detail.rendered_request import as_curl, messages

PACKAGE = Path(tui_eval.__file__).parent


class ToySpec(TargetSpec):
    """Says the question again, with something added."""

    NEEDS_PROMPT: ClassVar[bool] = True
    DATA_FIELDS: ClassVar[tuple[str, ...]] = ("words",)
    LIST_FILES: ClassVar[Mapping[str, str]] = {"steps": "steps"}
    TEMPLATED: ClassVar[tuple[str, ...]] = ("more",)

    kind: Literal["toy"]
    program: Text = "toy"
    words: Text | None = None
    steps: Text | tuple[dict[str, Any], ...] = ()
    more: str = ""
    key: Text | None = None

    @classmethod
    def written_mistakes(cls, table: Mapping[str, object]) -> Iterator[FieldMistake]:
        if table.get("program") == "none":
            yield FieldMistake(("program",), "runs nothing", "name one")

    @classmethod
    def keys_sent(cls, table: Mapping[str, object]) -> Iterator[KeyUse]:
        if table.get("key") is not None:
            yield KeyUse(None, "https://toys.example/v1", str(table["key"]))

    @classmethod
    def permissions(cls, table: Mapping[str, object], folder: Path | None) -> Iterator[Permission]:
        program = table.get("program", "toy")
        yield Permission(f"run {program}", f"run {program}")

    def data_paths(self) -> Iterator[Path]:
        if self.words is not None:
            yield from super().data_paths()

    def asked_model(self) -> str | None:
        return "toy-1"

    def in_words(self) -> str:
        return f"program {self.program}"

    def call_rates(self) -> CallRates:
        return CallRates(rpm=600_000)


class Toy(Target):
    """Answers a toy's request."""

    def __init__(self, spec: ToySpec, context: BuildContext) -> None:
        super().__init__(spec, context.renderer)
        self._spec = spec

    def problem(self) -> str | None:
        return "there is no program called broken" if self._spec.program == "broken" else None

    def identity(self) -> JsonObject:
        return {"kind": self.kind, "program": self._spec.program}

    def request(self, column: Column, case: Case, epoch: int = 0) -> JsonObject | Failure:
        try:
            more: Json = NestedTemplate(self._spec.more, "more").value(
                self._renderer.target_names(column, case)
            )
            question: Json = self._renderer.messages(column, case)[0]["content"]
        except TemplateError as error:
            return Failure("template", str(error))
        return {"question": question, "more": more}

    async def generate(self, request: JsonObject, attempt: AttemptContext) -> Output | Failure:
        text = f"{request['question']}{request['more']}"
        return Output(text, model="toy-1", usage=Usage(3, 4), cost_usd=0.5)

    def as_command(self, column: Column, case: Case) -> str:
        return f"{self._spec.program} < {self.shown(column, case)[0]['content']}"


def _rebuild() -> None:
    Suite.model_rebuild(force=True)
    SuiteFile.model_rebuild(force=True)
    validation._suite_schema.cache_clear()


@pytest.fixture(autouse=True)
def known() -> Iterator[None]:
    """Put the kind down where kinds are put down, and nowhere else."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setitem(TARGETS.models, "toy", ToySpec)
        patch.setitem(targets.TARGETS, "toy", Toy)
        _rebuild()
        yield
    _rebuild()


def suite(**changes: Any) -> Suite:
    described: JsonObject = {
        "name": "toys",
        "cases": [{"id": f"c{i}", "q": f"q{i}"} for i in range(3)],
        "prompts": [{"user": "{{ q }}"}],
        "targets": [{"kind": "toy", "more": "!{{ q }}", **changes}],
        "scorers": [{"kind": "exact", "expected": "{{ q }}!{{ q }}"}],
    }
    return Suite.model_validate(described)


def written(folder: Path, *lines: str) -> Path:
    path = folder / "suite.toml"
    head = 'prompt.user = "{{ q }}"\n[[cases]]\nq = "one"\n[[targets]]\nkind = "toy"\n'
    path.write_text(head + "".join(f"{line}\n" for line in lines), encoding="utf-8")
    return path


def refused(path: Path) -> list[str]:
    with pytest.raises(SuiteError) as caught:
        load(path, trusted=True)
    return [str(mistake).partition("suite.toml, ")[2] for mistake in caught.value.mistakes]


def test_its_file_is_checked(tmp_path: Path) -> None:
    program, more = refused(written(tmp_path, 'program = "none"', 'more = "{{ q"'))
    assert program == "line 6: targets[0].program: runs nothing; name one"
    assert more.startswith("line 7: targets[0].more: is no template: unexpected end of template")
    assert refused(written(tmp_path, 'mor = "x"', 'words = "no.jsonl"')) == [
        'line 6: targets[0].mor: unknown key; did you mean "more"?',
        'line 7: targets[0].words: no such file "no.jsonl"',
    ]
    (tmp_path / "steps.json").write_text("3", encoding="utf-8")
    (said,) = refused(written(tmp_path, 'steps = "steps.json"'))
    assert said.endswith('"steps.json" must hold a list of steps: [{…}, …]')


def test_what_its_files_hold_is_read(tmp_path: Path) -> None:
    (tmp_path / "steps.json").write_text('[{"do": 1}]', encoding="utf-8")
    (tmp_path / "words.jsonl").write_text("{}\n", encoding="utf-8")
    path = written(tmp_path, 'steps = "steps.json"', 'words = "words.jsonl"')
    found = load(path, trusted=True)
    (target,) = found.targets
    assert isinstance(target, ToySpec)
    assert target.steps == ({"do": 1},)
    assert [*data_paths(found)] == [tmp_path / "words.jsonl"]
    assert Suite.model_validate_json(found.model_dump_json()) == found


def test_trust_is_asked_for_what_it_does(tmp_path: Path) -> None:
    path = written(tmp_path, 'program = "rm"', 'key = "TOY_KEY"')
    with pytest.raises(NeedsTrust) as caught:
        load(path)
    wants = ["send TOY_KEY to host toys.example", "run rm"]
    assert [*caught.value.permissions] == wants
    seen = look(path, trusted=True)
    assert seen.suite is not None
    assert [permission.does for permission in wanted_permissions(seen.suite)] == wants


def test_a_launch_is_looked_at_before_it_is_made() -> None:
    found = preflight(None, suite(), Settings())
    (forecast,) = found.targets
    assert found.may_start
    assert (forecast.calls, forecast.output_tokens, forecast.cost_usd) == (3, None, None)
    assert not forecast.asks_nobody
    assert preflight(None, suite(program="broken"), Settings()).missing == (
        "there is no program called broken",
    )
    capped = preflight(None, suite(), Settings(max_cost_usd=1.0))
    assert capped.missing == (
        "target 'toy': max_cost_usd needs a known price, and there is none: drop the cap",
    )
    unnamed = preflight(None, suite(more="{{ nothing }}"), Settings())
    assert [mistake.field for mistake in unnamed.mistakes] == ["targets[0].more"]


async def test_its_trials_are_staged_asked_kept_and_shown(tmp_path: Path) -> None:
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(suite())
    trials = harness.trials(run)
    assert [trial.state for trial in trials] == [TrialState.DONE] * 3
    assert harness.counts(run).passed == 3
    assert harness.counts(run).cost_usd == 1.5

    again = await harness.run(suite())
    assert [trial.cached for trial in harness.trials(again)] == [True] * 3
    other = await harness.run(suite(program="another"))
    assert [trial.cached for trial in harness.trials(other)] == [False] * 3

    with reading(harness.path) as db:
        described: Any = document(db, run)["targets"]
        assert (described["toy"]["kind"], described["toy"]["model"]) == ("toy", "toy-1")
        first = next(iter(jsonl(db, run_queries.run(db, run), ExportChoice())))
        assert '"question": "q0"' in first and '"output": "q0!q0"' in first
        found = trial_queries.whole(db, run, trials[0].id)
        assert found is not None
        assert messages(db, run, found) == [{"role": "user", "content": "q0"}]
        assert as_curl(db, run, found) == "toy < q0"


KINDS = {model.__name__ for kinds in (TARGETS, JUDGES) for model in kinds.models.values()}
WORDS = {word for kinds in (TARGETS, JUDGES) for word in kinds.names}
OWN = (
    ("suites", "spec"),
    ("targets",),
    ("store", "read", "judges", "judge_figures.py"),  # has no spec, only the text of a frozen suite
)
"""Where kinds may be named."""


def named_kinds(tree: ast.AST) -> Iterator[str]:
    """Yield what knows a kind: its class by name, or a comparison of a `kind` with its word."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom):
            yield from (f"import {one.name}" for one in node.names if one.name in KINDS)
        elif isinstance(node, ast.Attribute) and node.attr in KINDS:
            yield ast.unparse(node)
        elif isinstance(node, ast.Compare) and compared(node) & WORDS:
            said = ast.unparse(node)
            if "kind" in said:
                yield said


def compared_scorers(tree: ast.AST) -> Iterator[str]:
    """Yield comparisons of a scorer's or check's `kind` with the word of one."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Compare) and compared(node) & {*SCORERS}:
            said = ast.unparse(node)
            if re.search(r"\b(scorer|check|spec)\b.*\bkind\b", said):
                yield said


def compared(node: ast.Compare) -> set[object]:
    """Return the constants of a comparison: before its text, which takes much longer to get."""
    return {one.value for one in ast.walk(node) if isinstance(one, ast.Constant)}


def may_compare(text: str, words: Iterable[str]) -> bool:
    """Whether a module could compare a `kind` with one of these words.

    Only then it is worth a closer look: to parse them all takes seconds.
    """
    quoted = (f"{mark}{word}{mark}" for word in words for mark in "\"'")
    return "kind" in text and any(one in text for one in quoted)


def may_name(text: str) -> bool:
    """Whether a module could know a kind of target or judge."""
    return any(name in text for name in KINDS) or may_compare(text, WORDS)


def sources() -> Iterator[tuple[Path, str]]:
    """Yield the package's modules with their text."""
    return ((path, path.read_text("utf-8")) for path in sorted(PACKAGE.rglob("*.py")))


def test_no_module_compares_the_kind_of_a_scorer() -> None:
    assert [*compared_scorers(ast.parse('scorer.get("kind") == "judge"'))]
    found = {
        str(path.relative_to(PACKAGE)): list(compared_scorers(ast.parse(text)))
        for path, text in sources()
        if path.relative_to(PACKAGE).parts[:2] != ("suites", "scorers")
        if may_compare(text, SCORERS)
    }
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


def test_no_other_module_names_a_kind() -> None:
    assert {*named_kinds(ast.parse("from x import ModelTargetSpec, Suite"))} == {
        "import ModelTargetSpec"
    }
    assert [*named_kinds(ast.parse('one.get("kind") == "replay" and one.kind == "exact"'))]
    found = {
        str(path.relative_to(PACKAGE)): list(named_kinds(ast.parse(text))) if may_name(text) else []
        for path, text in sources()
        if not any(path.relative_to(PACKAGE).parts[: len(own)] == own for own in OWN)
    }
    assert len(found) > 300
    assert {name: wrong for name, wrong in found.items() if wrong} == {}


async def test_its_templates_name_what_is_asked(tmp_path: Path) -> None:
    """The prompt and its messages, in `check` as in a run."""
    asks = suite(more=" {{ prompt }} {{ messages | length }}")
    assert preflight(None, asks, Settings()).mistakes == ()
    harness = Harness(tmp_path / "store.db")
    run = await harness.run(asks)
    with reading(harness.path) as db:
        first = next(iter(jsonl(db, run_queries.run(db, run), ExportChoice())))
    assert '"output": "q0 q0 1"' in first
