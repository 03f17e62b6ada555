"""References between the parts of a suite: names that must exist, differ or go together.

All of it looks at the data as it was read, right or wrong in itself, so that these mistakes are
told together with those in single fields.
"""

from collections.abc import Callable, Iterable, Iterator

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.reduction import reducers
from tui_eval.model.score import OF_OUTPUT
from tui_eval.suites.judge_choice import judge_mistakes, judge_names, judge_tables
from tui_eval.suites.loading.errors import Mistake, did_you_mean
from tui_eval.suites.loading.source_map import SourceMap, shown, tables
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.scorers import scorer_of
from tui_eval.suites.scorers.scorer import EMBEDDING
from tui_eval.suites.spec import JUDGES, TARGETS, AskedSpec, UserSpec
from tui_eval.suites.spec.prompts import has_turns
from tui_eval.suites.spec.targets import parts_given
from tui_eval.suites.spec.targets.target import default_name
from tui_eval.suites.templates.marks import is_template
from tui_eval.suites.templates.template import NestedTemplate, TemplateError


def check(data: JsonObject, places: SourceMap) -> list[Mistake]:
    """Return the mistakes between the parts of a suite."""
    return _Checker(data, places).run()


class _Checker:
    def __init__(self, data: JsonObject, places: SourceMap) -> None:
        self._data = data
        self._places = places
        self._mistakes: list[Mistake] = []

    def run(self) -> list[Mistake]:
        """Run every check; return the mistakes."""
        checks: tuple[Callable[[], None], ...] = (
            self._cases,
            self._prompts,
            self._targets,
            self._columns,
            self._judges,
            self._user,
            self._scorers,
            self._epochs,
            self._gate,
            self._templates,
        )
        for one in checks:
            one()
        return self._mistakes

    def _wrong(self, path: Path, message: str, hint: str | None = None) -> None:
        self._mistakes.append(self._places.mistake(path, message, hint))

    def _cases(self) -> None:
        dataset = self._data.get("dataset")
        has_path = isinstance(dataset, dict) and dataset.get("path") is not None
        has_cases = bool(self._data.get("cases"))
        if has_path and has_cases:
            self._wrong(("cases",), "stand beside a dataset's path", "give one of the two")
        elif not has_path and not has_cases:
            self._wrong((), "the suite has no cases", "give [dataset] a path, or write [[cases]]")

    def _prompts(self) -> None:
        if self._data.get("prompt") is not None and self._data.get("prompts"):
            self._wrong(("prompts",), "stand beside [prompt]", "name all of them in [[prompts]]")
        seen: set[str] = set()
        for path, prompt in tables(self._data, "prompts"):
            name = prompt.get("name")
            if name is None and isinstance(self._data["prompts"], list):
                self._wrong(path, "has no name", 'add name = "…": targets and results use it')
            elif isinstance(name, str):
                self._differs((*path, "name"), name, seen, "prompt")
        for path, prompt in tables(self._data, "prompt", "prompts"):
            self._one_question(path, prompt)
            self._roles(path, prompt)
            examples = prompt.get("examples")
            if isinstance(examples, dict):
                self._examples((*path, "examples"), examples, prompt)

    def _one_question(self, path: Path, prompt: JsonObject) -> None:
        asked = _given(prompt, "user", "user_file", "turns", "messages", "messages_file")
        told = _given(prompt, "system", "system_file")
        if not asked and self._data.get("user") is None:
            hint = "give one of user, user_file, turns, messages, messages_file"
            self._wrong(path, "asks nothing", hint)
        if len(asked) > 1:
            self._wrong((*path, asked[1]), f"stands beside {asked[0]}", "give one of the two")
        if len(told) > 1:
            self._wrong((*path, told[1]), f"stands beside {told[0]}", "give one of the two")
        elif told and asked and asked[0].startswith("messages"):
            hint = "make it the first of the messages"
            self._wrong((*path, told[0]), "stands beside messages", hint)
        for field in ("messages", "turns", "initial_session"):
            held = prompt.get(field)
            if isinstance(held, str) and held and not is_template(held):
                hint = 'give the list, or a column that holds it: "{{ messages }}"'
                if field == "initial_session":
                    continue  # a file, which is told where it is read
                self._wrong((*path, field), "is a text", hint)

    def _roles(self, path: Path, prompt: JsonObject) -> None:
        """Check that messages follow each other as models take them.

        No two in a row have one role, and each result of a tool is that of a call before it.
        """
        before: Json = None
        called: set[Json] = set()
        for inner, message in tables(prompt, "messages"):
            role, answered = message.get("role"), message.get("tool_call_id")
            if role == before and role in ("user", "assistant"):
                at: Path = (*path, *inner, "role")
                self._wrong(at, f'"{role}" follows "{role}"', "make one message of both")
            before = role
            called |= {call.get("id") for _, call in tables(message, "tool_calls")}
            known = isinstance(answered, str) and (is_template(answered) or answered in called)
            if role == "tool" and answered is not None and not known:
                at = (*path, *inner, "tool_call_id")
                self._wrong(at, f'"{answered}" is no call before it', "give the id of the call")

    def _examples(self, path: Path, examples: JsonObject, prompt: JsonObject) -> None:
        sources = _given(examples, "path", "rows")
        if not sources:
            self._wrong(path, "has no examples", 'give path = "…"')
        elif len(sources) > 1:
            self._wrong((*path, "rows"), "stands beside path", "give one of the two")
        if examples.get("user") is not None:
            return
        own = prompt.get("user")
        if isinstance(own, str) and "examples" in _names(own):
            message = "is missing: the prompt's own question holds {{ examples }}"
            self._wrong((*path, "user"), message)
        held = [name for name in ("messages", "turns") if isinstance(prompt.get(name), str)]
        if held:
            message = f"is missing: the prompt's own {held[0]} are in a column"
            self._wrong((*path, "user"), message)

    def _targets(self) -> None:
        names: set[str] = set()
        has_prompt = any(True for _ in tables(self._data, "prompt", "prompts"))
        for path, target in tables(self._data, "targets"):
            name = target.get("name", default_name(target))
            if isinstance(name, str):
                self._differs((*path, "name"), name, names, "target")
            self._prompts_of(path, target)
            kind = TARGETS.of(target)
            if not kind.takes_turns(target) and self._is_asked_turns(target):
                message = "is asked once, and its prompt has turns"
                self._wrong(path, message, kind.turns_hint(target))
            if kind.NEEDS_PROMPT and not has_prompt:
                self._wrong(path, "there is no prompt to ask it with", "add [prompt]")
            self._asked(kind, path, target)

    def _prompts_of(self, path: Path, target: JsonObject) -> None:
        known = [name for _, one in tables(self._data, "prompts") if (name := one.get("name"))]
        names = [name for name in known if isinstance(name, str)]
        if target.get("prompts") == []:
            self._wrong((*path, "prompts"), "names no prompt", "leave it out for all of them")
        for at, wanted in TARGETS.of(target).prompts_named(target):
            if isinstance(wanted, str) and wanted not in names:
                hint = did_you_mean(wanted, names) or "there is no [[prompts]] with a name"
                self._wrong((*path, *at), f'no prompt is called "{wanted}"', hint)

    def _all_prompts(self) -> Iterator[tuple[Path, JsonObject]]:
        return tables(self._data, "prompt", "prompts")

    def _is_asked_turns(self, target: JsonObject) -> bool:
        run = self._run_by(target)
        return any(
            has_turns(prompt.get("turns")) and (prompt.get("name") is None or prompt["name"] in run)
            for _, prompt in self._all_prompts()
        )

    def _columns(self) -> None:
        """Check that no two columns have one name."""
        owners: dict[str, str] = {}
        for path, target in tables(self._data, "targets"):
            name = target.get("name", default_name(target))
            for prompt in self._run_by(target) if isinstance(name, str) else ():
                column = f"{name}/{prompt}"
                owner = owners.setdefault(column, str(name))
                if owner != name:
                    message = f'with prompt "{prompt}" it is "{column}", as target "{owner}" is'
                    self._wrong((*path, "name"), message, "give it another name")

    def _run_by(self, target: JsonObject) -> list[str]:
        """Return the names of the prompts a target runs."""
        named = [name for _, one in tables(self._data, "prompts") if (name := one.get("name"))]
        wanted = target.get("prompts")
        chosen = wanted if isinstance(wanted, list) else [wanted]
        return [
            name for name in named if isinstance(name, str) and (wanted is None or name in chosen)
        ]

    def _asked(self, kind: type[AskedSpec], path: Path, table: JsonObject) -> None:
        for found in kind.written_mistakes(table):
            self._wrong((*path, *found.path), found.message, found.hint)

    def _judges(self) -> None:
        judges = [*tables(self._data, "judges")]
        if self._data.get("judge") is not None and judges:
            self._wrong(("judges",), "stand beside [judge]", "name all of them in [[judges]]")
        names: set[str] = {EMBEDDING}
        for path, judge in judges:
            name = judge.get("name")
            if name is None and len(judges) > 1:
                self._wrong(path, "has no name", 'add name = "…": scorers and results use it')
            elif isinstance(name, str):
                self._differs((*path, "name"), name, names, "judge")
        for path, judge in judge_tables(self._data):
            self._asked(JUDGES.of(judge), path, judge)

    def _user(self) -> None:
        for path, user in tables(self._data, "user"):
            self._asked(UserSpec, path, user)
            kinds = [TARGETS.of(target) for _, target in tables(self._data, "targets")]
            if kinds and not any(kind.TALKS_WITH_USER for kind in kinds):
                self._wrong(path, "speaks with no target", "only models talk with it")
            for at, target in tables(self._data, "targets"):
                if TARGETS.of(target).asked_in_bulk(target):
                    message = "asks once, and [user] goes on with its conversations"
                    self._wrong((*at, "bulk"), message, "drop bulk, or [user]")

    def _scorers(self) -> None:
        names = {OF_OUTPUT}
        judges = judge_names(self._data)
        for path, scorer in tables(self._data, "scorers"):
            name = scorer.get("name", scorer.get("kind"))
            if isinstance(name, str):
                self._differs((*path, "name"), name, names, "scorer")
            self._parts(path, scorer)
            for field, message, hint in judge_mistakes(scorer, judges):
                self._wrong((*path, *field), message, hint)

        for path, case in tables(self._data, "cases"):
            for inner, scorer in tables(case, "scorers"):
                self._parts((*path, *inner), scorer)

    def _parts(self, path: Path, scorer: JsonObject) -> None:
        """See that what a scorer looks at may be there, and so are the targets it is for."""
        wanted, names = scorer.get("targets"), self._target_names()
        for at, name in enumerate(wanted if isinstance(wanted, list) else ()):
            if isinstance(name, str) and name not in names:
                hint = did_you_mean(name, names)
                self._wrong((*path, "targets", at), f'no target is called "{name}"', hint)
        turns = any(has_turns(one.get("turns")) for _, one in self._all_prompts())
        turns = turns or self._data.get("user") is not None
        given = parts_given([one for _, one in tables(self._data, "targets")], turns=turns)
        of = scorer.get("of", "text")
        missing = scorer_of(scorer).missing_part(of, given) if isinstance(of, str) else None
        if missing is not None:
            field, message, hint = missing
            self._wrong((*path, field), message, hint)
        written = [target for _, target in tables(self._data, "targets")]
        left = any(TARGETS.of(target).leaves_workspace(target) for target in written)
        if scorer.get("workspace") is True and not left:
            hint = "it takes a target that works in a folder: a program"
            self._wrong((*path, "workspace"), "no target leaves a workspace", hint)

    def _differs(self, path: Path, name: str, names: set[str], what: str) -> None:
        if name in names:
            self._wrong(path, f'there is a {what} called "{name}" already', "give it another name")
        names.add(name)

    def _epochs(self) -> None:
        run = self._data.get("run")
        if not isinstance(run, dict):
            return
        reduce, epochs = run.get("reduce"), run.get("epochs", 1)
        if reduce is None or not isinstance(epochs, int):
            return
        try:
            found = reducers(reduce)
        except ValueError:
            return  # told of the field itself
        for one in found:
            if one.k is not None and one.k > epochs:
                needs = f'"{one.name}" needs at least {one.k} epochs, not {epochs}'
                self._wrong(("run", "reduce"), needs)

    def _gate(self) -> None:
        gate = self._data.get("gate")
        if not isinstance(gate, dict):
            return
        baseline = gate.get("baseline")
        if isinstance(baseline, dict) and not {"max_drop", "never_break"} & set(baseline):
            write = "write max_drop = 0.03, or never_break with tags"
            self._wrong(("gate", "baseline"), "asks for nothing", write)
        for field, what, known in (
            ("targets", "target", self._column_names()),
            ("scorers", "scorer", self._scorer_names()),
        ):
            table = gate.get(field)
            for name in table if isinstance(table, dict) else ():
                if name not in known:
                    hint = did_you_mean(name, known)
                    self._wrong(("gate", field, name), f'no {what} is called "{name}"', hint)

    def _column_names(self) -> list[str]:
        """Return what a gate may name: targets, and targets with their prompts."""
        prompts = [one.get("name") for _, one in tables(self._data, "prompts")]
        found: list[str] = []
        for name in self._target_names():
            found += [name, *(f"{name}/{prompt}" for prompt in prompts)]
        return found

    def _target_names(self) -> list[str]:
        written = [target for _, target in tables(self._data, "targets")]
        names = [target.get("name", default_name(target)) for target in written]
        return [name for name in names if isinstance(name, str)]

    def _scorer_names(self) -> list[str]:
        names: list[Json] = []
        for _, scorer in tables(self._data, "scorers"):
            names.append(scorer.get("name", scorer.get("kind")))
        for _, case in tables(self._data, "cases"):
            for _, scorer in tables(case, "scorers"):
                names.append(scorer.get("name", scorer.get("kind")))
        return [name for name in names if isinstance(name, str)]

    def _templates(self) -> None:
        """Check that every template compiles."""
        dataset = self._data.get("dataset")
        if isinstance(dataset, dict):
            self._readable(("dataset",), dataset, ("filter",))
        for path, prompt in tables(self._data, "prompt", "prompts"):
            self._readable(path, prompt, ("system", "user", "turns"))
            for field in ("messages", "initial_session"):  # else they are messages
                self._readable(path, prompt, (field,) if isinstance(prompt.get(field), str) else ())
            for inner, message in tables(prompt, "messages"):
                self._readable((*path, *inner), message, ("content", "tool_calls"))
            for inner, examples in tables(prompt, "examples"):
                self._readable((*path, *inner), examples, ("where", "user", "assistant"))
        for path, target in tables(self._data, "targets"):
            for at, written in TARGETS.of(target).written_templates(target):
                self._reads((*path, *at), written)
        for path, judge in judge_tables(self._data):
            self._readable(path, judge, JUDGES.of(judge).TEMPLATED)
        for path, user in tables(self._data, "user"):
            self._readable(path, user, UserSpec.TEMPLATED)
        for path, scorer in tables(self._data, "scorers"):
            self._readable(path, scorer, ("when", *scorer_of(scorer).TEMPLATED))

    def _readable(self, path: Path, table: JsonObject, fields: Iterable[str]) -> None:
        for field in fields:
            self._reads((*path, field), table.get(field))

    def _reads(self, path: Path, written: Json) -> None:
        if is_template(written):
            try:
                NestedTemplate(written, shown(path))
            except TemplateError as error:
                self._wrong(path, error.message, error.hint)


def _given(table: JsonObject, *fields: str) -> list[str]:
    return [field for field in fields if table.get(field) is not None]


def _names(source: str) -> frozenset[str]:
    try:
        return NestedTemplate(source, "").required
    except TemplateError:
        return frozenset()  # told with the other templates
