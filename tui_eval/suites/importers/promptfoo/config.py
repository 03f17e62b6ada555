"""A promptfoo configuration as a suite."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.promptfoo.asserts import Asserts
from tui_eval.suites.importers.promptfoo.prompt_sources import prompts_of
from tui_eval.suites.importers.promptfoo.providers import Providers
from tui_eval.suites.importers.promptfoo.results import read_results
from tui_eval.suites.importers.promptfoo.tests import Test, Tests, note_test
from tui_eval.suites.importers.promptfoo.texts import Texts
from tui_eval.suites.importers.reading import (
    Document,
    ReferencedFiles,
    first_mistake,
    read_document,
    refuse,
)
from tui_eval.suites.importers.shape import NO_TARGET, Imported, ImportNotes, simulated_target
from tui_eval.suites.loading.errors import Mistake, SuiteError

_CARRIED: Final = frozenset(("description", "tags", "prompts", "providers", "targets", "tests",
                             "scenarios", "defaultTest", "evaluateOptions", "assertionTemplates",
                             "$schema"))  # fmt: skip
_TEMPLATES: Final = "#/assertionTemplates/"


def read_promptfoo(path: Path) -> Imported:
    """Read a promptfoo configuration, or the results promptfoo wrote as JSON.

    Raises:
        SuiteError: it is neither, or nothing of it can be carried over.
    """
    document = read_document(path)
    value = document.value
    if not isinstance(value, dict):
        refuse(str(path), "is no configuration of promptfoo: it must hold a table")
    if "results" in value:
        return read_results(path, value)
    if not value.keys() & {"prompts", "providers", "targets", "tests", "scenarios"}:
        refuse(str(path), "is no configuration of promptfoo: it has neither prompts, providers "
               "nor tests")  # fmt: skip
    made = _Made(path, document, value)
    return Imported(made.cases(), made.suite, made.losses)


class _Made:
    """A suite made from one configuration."""

    def __init__(self, path: Path, document: Document, config: JsonObject) -> None:
        self._path = path
        self._document = document
        self._config = config
        self.losses = ImportNotes()
        self._nearby = ReferencedFiles(path.absolute().parent)
        self._texts = Texts(self.losses)
        self._providers = Providers(self._nearby, self.losses)
        self._judges = Judges(self.losses)
        self._asserts = Asserts(
            self._nearby, self._texts, self._providers, self._judges, self.losses
        )
        self._default = self._default_test()
        options = _table(self._default.get("options"))
        self._asserts.grader = options.get("provider") or self._default.get("provider")
        prompts = prompts_of(document, config.get("prompts") or "{{ prompt }}", self._nearby,
                             self._texts, self.losses)  # fmt: skip
        if not prompts:
            raise _nothing(path, self.losses)
        self._prompts = [_around(prompt, options) for prompt in prompts]
        names = [str(prompt["name"]) for prompt in self._prompts]
        field = "providers" if config.get("providers") else "targets"
        self._targets = self._providers.targets(document, config.get(field) or [], field, names)
        common = self._asserts.scorers(self._written_out(self._default.get("assert")),
                                       document.place("defaultTest", "assert"))  # fmt: skip
        self._scorers = [one for one in common if not _has_null(one)]
        self._in_cases = [one for one in common if _has_null(one)]
        self._needed = set(self._texts.names)
        self._tags: dict[str, bool] = {}
        """Names in metadata, and whether all their values can be tags."""
        self._note_rest()

    def _default_test(self) -> JsonObject:
        given = self._config.get("defaultTest")
        if isinstance(given, str):
            try:
                given = read_document(self._nearby.find(given.removeprefix("file://"))).value
            except (ValueError, SuiteError) as error:
                said = first_mistake(error) if isinstance(error, SuiteError) else str(error)
                self.losses.note(f"{said}: defaultTest was left out")
        return _table(given)

    def _note_rest(self) -> None:
        for name in self._config:
            if name not in _CARRIED:
                self.losses.note(
                    f'the field "{name}" is not carried over', self._document.place(name)
                )
        note_test(self._default, self.losses, "defaultTest", ("prefix", "suffix"))

    def _written_out(self, asserts: Json) -> Json:
        """Return asserts with references to `assertionTemplates` replaced."""
        templates = _table(self._config.get("assertionTemplates"))
        found: list[Json] = []
        for one in asserts if isinstance(asserts, list) else []:
            named = one.get("$ref") if isinstance(one, dict) else None
            if isinstance(named, str) and named.startswith(_TEMPLATES):
                found.append(templates.get(named.removeprefix(_TEMPLATES)))
            else:
                found.append(one)
        return found

    def cases(self) -> Iterator[JsonObject]:
        """Yield a case for each test."""
        common = _table(self._default.get("vars"))
        tests = Tests(self._document, self._nearby, self.losses)
        for n, test in enumerate(tests.all(self._config, common), 1):
            yield self._case(n, test)

    def _case(self, n: int, test: Test) -> JsonObject:
        fields = test.fields
        note_test(fields, self.losses, test.where)
        row: JsonObject = {"case_id": str(n), **test.vars}
        told = {name: fields[name] for name in ("description", "metadata") if fields.get(name)}
        told["metadata"] = {**_table(self._default.get("metadata")),
                            **_table(fields.get("metadata"))}  # fmt: skip
        if not told["metadata"]:
            del told["metadata"]
        for name, value in _table(told.get("metadata")).items():
            good = isinstance(value, str) and "." not in name
            self._tags[name] = self._tags.get(name, True) and good
        if told:
            row["promptfoo"] = told
        self._texts.names.clear()
        options = _table(fields.get("options"))
        names = [str(one["name"]) for one in (*self._scorers, *self._in_cases)]
        own = self._asserts.scorers(self._written_out(fields.get("assert")),
                                    f"{test.where}.assert", names,
                                    options.get("provider"))  # fmt: skip
        if own or self._in_cases:
            row["scorers"] = list[Json]([*self._in_cases, *own])
        if fields.get("disableDefaultAsserts") is True or options.get("disableDefaultAsserts"):
            row["skip"] = [str(one["name"]) for one in self._scorers]
        for name in sorted(self._needed | self._texts.names):
            if name not in row:
                self.losses.note(f'has no var "{name}", which is asked for: it is empty here',
                                 test.where)  # fmt: skip
                row[name] = ""
        return row

    def suite(self) -> JsonObject:
        """Return the suite."""
        config = self._config
        suite: JsonObject = {}
        if isinstance(config.get("description"), str) and config["description"]:
            suite["description"] = config["description"]
        tags = _table(config.get("tags"))
        if tags:
            suite["tags"] = [f"{name}: {value}" for name, value in tags.items()]
        dataset: JsonObject = {"id": "case_id"}
        tagged = [f"promptfoo.metadata.{name}" for name, good in self._tags.items() if good]
        if tagged:
            dataset["tags"] = list[Json](tagged)
        suite["dataset"] = dataset
        if len(self._prompts) == 1:
            suite["prompt"] = {key: value for key, value in self._prompts[0].items()
                               if key != "name"}  # fmt: skip
        else:
            suite["prompts"] = list[Json](self._prompts)
        if not self._targets:
            self.losses.note(NO_TARGET)
        suite["targets"] = list[Json](self._targets or [simulated_target("a stand-in")])
        if self._scorers:
            suite["scorers"] = list[Json](self._scorers)
        self._judges.put(suite)
        run = self._run()
        if run:
            suite["run"] = run
        return suite

    def _run(self) -> JsonObject:
        run: JsonObject = {}
        for name, value in _table(self._config.get("evaluateOptions")).items():
            whole = isinstance(value, int) and not isinstance(value, bool) and value > 0
            if name == "maxConcurrency" and whole:
                run["concurrency"] = value
            elif name == "repeat" and whole:
                run["epochs"] = value
            elif name == "timeoutMs" and whole and isinstance(value, int):
                run["timeout"] = value / 1000
            elif name not in ("cache", "showProgressBar"):
                self.losses.note(f"evaluateOptions.{name} is not carried over",
                                 self._document.place("evaluateOptions", name))  # fmt: skip
        return run


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _has_null(value: Json) -> bool:
    """Return whether it holds a null, which TOML cannot but a case can."""
    if isinstance(value, list):
        return any(map(_has_null, value))
    return value is None or (isinstance(value, dict) and any(map(_has_null, value.values())))


def _around(prompt: JsonObject, options: JsonObject) -> JsonObject:
    """Return a prompt with the prefix and suffix that all tests share."""
    before, behind = options.get("prefix") or "", options.get("suffix") or ""
    user = prompt.get("user")
    if isinstance(user, str) and (before or behind):
        return {**prompt, "user": f"{before}{user}{behind}"}
    return prompt


def _nothing(path: Path, losses: ImportNotes) -> SuiteError:
    return SuiteError(
        Mistake(str(path), None, "prompts", f"no prompt can be carried over: {one}")
        for one in losses.listed()
    )
