"""Results of promptfoo as a suite that replays them."""

from collections.abc import Iterator
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.model.outputs.finish import canonical
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.promptfoo.asserts import Asserts
from tui_eval.suites.importers.promptfoo.prompt_sources import shortened
from tui_eval.suites.importers.promptfoo.providers import Providers
from tui_eval.suites.importers.promptfoo.tests import note_test, renamed
from tui_eval.suites.importers.promptfoo.texts import Texts
from tui_eval.suites.importers.reading import ReferencedFiles, refuse
from tui_eval.suites.importers.recorded import RecordedColumns, verdict
from tui_eval.suites.importers.shape import Imported, ImportNotes, unique

_IN_EFFECT: Final = frozenset((
    "provider", "providers", "prompts", "transform", "transformVars", "prefix", "suffix", "repeat",
    "storeOutputAs",
))  # fmt: skip
"""Fields of a test that its results show already."""


def read_results(path: Path, document: JsonObject) -> Imported:
    """Read the results promptfoo wrote as JSON.

    Args:
        path: The file.
        document: What it holds.

    Raises:
        SuiteError: it holds none.
    """
    results = document.get("results")
    if isinstance(results, dict):
        results = results.get("results")
    rows = [one for one in results if isinstance(one, dict)] if isinstance(results, list) else []
    if not rows:
        refuse(str(path), "holds no results of promptfoo", field="results.results")
    made = _Made(path, document, rows)
    return Imported(made.cases(), made.suite, made.losses)


class _Made:
    """A suite made from one file of results."""

    def __init__(self, path: Path, document: JsonObject, rows: list[JsonObject]) -> None:
        config = _table(document.get("config"))
        self._path = path
        self._config = config
        self.losses = ImportNotes()
        self._texts = Texts(self.losses)
        nearby = ReferencedFiles(path.absolute().parent)
        providers = Providers(nearby, self.losses)
        self._judges = Judges(self.losses)
        self._asserts = Asserts(nearby, self._texts, providers, self._judges, self.losses)
        default = config.get("defaultTest")
        self._asserts.grader = _table(_table(default).get("options")).get("provider")
        self._repeat = _repeat(document)
        self._prompts: dict[str, str] = {}
        """Names of the prompts, by how the file tells them apart."""
        rows = sorted(rows, key=_order)  # they stand in the order in which they were answered
        for row in rows:
            key, label = _prompt(row)
            if key not in self._prompts:
                self._prompts[key] = unique(label, self._prompts.values(), "prompt")
        named = {self._slot(key): name for key, name in self._prompts.items()}
        self._tracks = RecordedColumns(self.losses, named)
        self._tests = _tests(rows, self._repeat)

    def cases(self) -> Iterator[JsonObject]:
        """Yield a case for each test, with each provider's output for each prompt."""
        self._note_rest()
        for n, epochs in enumerate(self._tests, 1):
            yield self._case(n, epochs)

    def _note_rest(self) -> None:
        rows = [row for epochs in self._tests for rows in epochs for row in rows]
        if any(_table(row.get("tokenUsage")).get("total") or row.get("cost") for row in rows):
            self.losses.note("tokens and costs of the results are not carried over: a replay asks "
                             "nobody")  # fmt: skip

    def _case(self, n: int, epochs: list[list[JsonObject]]) -> JsonObject:
        where = f"test {n}"
        rows = [row for rows in epochs for row in rows]
        test = _table(rows[0].get("testCase"))
        note_test(test, self.losses, where, _IN_EFFECT)
        given = _table(rows[0].get("vars")) or _table(test.get("vars"))
        row: JsonObject = {"case_id": str(n), **renamed(given, self.losses)}
        told = {name: test[name] for name in ("description", "metadata") if test.get(name)}
        if told:
            row["promptfoo"] = told
        asserts = test.get("assert")
        if not isinstance(asserts, list):
            graded = _table(rows[0].get("gradingResult")).get("componentResults")
            asserts = [_table(one).get("assertion") for one in
                       (graded if isinstance(graded, list) else [])]  # fmt: skip
        self._texts.names.clear()
        scorers = self._asserts.scorers(asserts, f"{where}.assert", (),
                                        _table(test.get("options")).get("provider"))  # fmt: skip
        if scorers:
            row["scorers"] = list[Json](scorers)
        for name in self._texts.names - row.keys():
            row[name] = ""
        asked: JsonObject = {}
        for epoch, said in enumerate(epochs):
            seen: set[tuple[str, str]] = set()
            for one in said:
                key, _ = _prompt(one)
                asked.setdefault(self._slot(key), _table(one.get("prompt")).get("raw"))
                self._record(row, one, seen, epoch if self._repeat > 1 else None, where)
        if any(not isinstance(value, str) for value in asked.values()):
            self.losses.note("does not say what was asked: that is empty here", where)
        row["asked"] = {
            key: value if isinstance(value, str) else "" for key, value in asked.items()
        }
        return row

    def _slot(self, key: str) -> str:
        return f"p{list(self._prompts).index(key) + 1}"

    def _record(
        self, row: JsonObject, one: JsonObject, seen: set[tuple[str, str]], epoch: int | None,
        where: str,
    ) -> None:  # fmt: skip
        provider, (prompt, _) = _provider(one), _prompt(one)
        track, number = provider, 1
        while (track, prompt) in seen:  # two providers of one name are two
            number += 1
            track = f"{provider}\n{number}"
        seen.add((track, prompt))
        slot = self._slot(prompt)
        self._tracks.add(track, provider, slot)
        response = _table(one.get("response"))
        output = response.get("output")
        if output is None:
            said = "ended with an error" if one.get("error") else "holds no output"
            self.losses.note(f"{said}: the case has no recorded output there", where)
            return
        latency = one.get("latencyMs")
        known = isinstance(latency, int | float) and not isinstance(latency, bool) and latency >= 0
        finish = response.get("finishReason")
        self._tracks.put(
            row,
            track,
            output,
            prompt=slot,
            epoch=epoch,
            latency_s=latency / 1000 if known and isinstance(latency, int | float) else None,
            finish_reason=canonical(finish) if isinstance(finish, str) else None,
            scores=_scores(one),
            verdict=verdict(_passed(one)),
        )

    def suite(self) -> JsonObject:
        """Return the suite."""
        suite: JsonObject = {"name": self._path.stem}
        description = self._config.get("description")
        if isinstance(description, str) and description:
            suite["description"] = description
        suite["dataset"] = {"id": "case_id"}
        if len(self._prompts) == 1:
            suite["prompt"] = {"user": "{{ asked.p1 }}"}
        else:
            suite["prompts"] = [
                {"name": name, "user": f"{{{{ asked.{self._slot(key)} | default('') }}}}"}
                for key, name in self._prompts.items()
            ]
        suite["targets"] = self._tracks.targets()
        run = self._tracks.run()
        if run:
            suite["run"] = run
        self._judges.put(suite)
        return suite


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _order(row: JsonObject) -> tuple[int, int]:
    test, prompt = row.get("testIdx"), row.get("promptIdx")
    return test if isinstance(test, int) else 0, prompt if isinstance(prompt, int) else 0


def _repeat(document: JsonObject) -> int:
    """Return how often each test ran: the command line wins over the file."""
    for options in (document.get("runtimeOptions"),
                    _table(document.get("config")).get("evaluateOptions")):  # fmt: skip
        repeat = _table(options).get("repeat")
        if isinstance(repeat, int) and not isinstance(repeat, bool) and repeat > 0:
            return repeat
    return 1


def _tests(rows: list[JsonObject], repeat: int) -> list[list[list[JsonObject]]]:
    """Group results by test: one list for each time it ran.

    A repeat counts as a test of its own there: tests that are equal in everything are told apart by
    how many of them there are.
    """
    by_number: dict[str, list[JsonObject]] = {}
    for row in rows:
        by_number.setdefault(_of_test(row), []).append(row)
    if repeat == 1:
        return [[found] for found in by_number.values()]
    alike: dict[bytes, list[list[JsonObject]]] = {}
    tests: list[list[list[JsonObject]]] = []
    for found in by_number.values():
        key = digest([found[0].get("vars"), found[0].get("testCase")])
        epochs = alike.get(key)
        if epochs is None or len(epochs) == repeat:
            epochs = alike[key] = []
            tests.append(epochs)
        epochs.append(found)
    return tests


def _of_test(row: JsonObject) -> str:
    """Return what identifies a test: its number, or in older files its vars."""
    number = row.get("testIdx")
    return str(number) if isinstance(number, int) else digest(row.get("vars")).hex()


def _scores(row: JsonObject) -> JsonObject:
    """Return the scores of a result, with the metrics that its test's asserts name."""
    scores: JsonObject = {"success": row.get("success"), "score": row.get("score")}
    if _table(row.get("namedScores")):
        scores["named"] = row["namedScores"]
    return scores


def _passed(row: JsonObject) -> bool | None:
    passed = row.get("success")
    return passed if isinstance(passed, bool) else None


def _prompt(row: JsonObject) -> tuple[str, str]:
    """Return what identifies a prompt, and its label."""
    prompt = _table(row.get("prompt"))
    label = str(prompt.get("label") or prompt.get("display") or "prompt")
    return str(row.get("promptId") or label), shortened(label)


def _provider(row: JsonObject) -> str:
    provider = row.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "recorded")
    return str(provider or "recorded")
