"""Results of promptfoo as a suite that replays them."""

from collections.abc import Iterator
from pathlib import Path

from tui_eval.model.finish import canonical
from tui_eval.model.json import Json, JsonObject, digest
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.promptfoo.asserts import Asserts
from tui_eval.suites.importers.promptfoo.prompts import shortened
from tui_eval.suites.importers.promptfoo.providers import Providers
from tui_eval.suites.importers.promptfoo.tests import renamed
from tui_eval.suites.importers.promptfoo.texts import Texts
from tui_eval.suites.importers.reading import Nearby, refuse
from tui_eval.suites.importers.recorded import Tracks
from tui_eval.suites.importers.shape import Imported, Losses, unique


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
    made = _Made(path, _table(document.get("config")), rows)
    return Imported(made.cases(), made.suite, made.losses)


class _Made:
    """The suite that one file of results makes."""

    def __init__(self, path: Path, config: JsonObject, rows: list[JsonObject]) -> None:
        self._path = path
        self._config = config
        self.losses = Losses()
        self._texts = Texts(self.losses)
        nearby = Nearby(path.absolute().parent)
        providers = Providers(nearby, self.losses)
        self._judges = Judges(self.losses)
        self._asserts = Asserts(nearby, self._texts, providers, self._judges, self.losses)
        default = config.get("defaultTest")
        self._asserts.grader = _table(_table(default).get("options")).get("provider")
        self._tracks = Tracks(self.losses)
        self._prompts: dict[str, str] = {}
        """Names of the prompts, by how the file tells them apart."""
        self._groups: dict[str, list[JsonObject]] = {}
        for row in rows:
            self._groups.setdefault(_of_test(row), []).append(row)
            key, label = _prompt(row)
            if key not in self._prompts:
                self._prompts[key] = unique(label, self._prompts.values(), "prompt")

    def cases(self) -> Iterator[JsonObject]:
        """Give a case for each test; what each provider said to each prompt stands in it."""
        for n, rows in enumerate(self._groups.values(), 1):
            yield self._case(n, rows)

    def _case(self, n: int, rows: list[JsonObject]) -> JsonObject:
        where = f"test {n}"
        test = _table(rows[0].get("testCase"))
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
        for one in rows:
            key, _ = _prompt(one)
            asked.setdefault(self._slot(key), _table(one.get("prompt")).get("raw"))
            self._record(row, one, key, where)
        if any(not isinstance(value, str) for value in asked.values()):
            self.losses.note("does not say what was asked: that is empty here", where)
        row["asked"] = {
            key: value if isinstance(value, str) else "" for key, value in asked.items()
        }
        return row

    def _slot(self, key: str) -> str:
        return f"p{list(self._prompts).index(key) + 1}"

    def _record(self, row: JsonObject, one: JsonObject, key: str, where: str) -> None:
        provider = _provider(one)
        track = f"{provider}\n{key}"
        several = len(self._prompts) > 1
        self._tracks.add(track, provider, self._prompts[key] if several else None)
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
            latency_s=latency / 1000 if known and isinstance(latency, int | float) else None,
            finish_reason=canonical(finish) if isinstance(finish, str) else None,
            scores={"success": one.get("success"), "score": one.get("score")},
        )

    def suite(self) -> JsonObject:
        """Give the suite."""
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
        self._judges.put(suite)
        return suite


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _of_test(row: JsonObject) -> str:
    """Tell a test by its number, or in older files by its vars."""
    number = row.get("testIdx")
    return str(number) if isinstance(number, int) else digest(row.get("vars")).hex()


def _prompt(row: JsonObject) -> tuple[str, str]:
    """Tell a prompt apart, and give its label."""
    prompt = _table(row.get("prompt"))
    label = str(prompt.get("label") or prompt.get("display") or "prompt")
    return str(row.get("promptId") or label), shortened(label)


def _provider(row: JsonObject) -> str:
    provider = row.get("provider")
    if isinstance(provider, dict):
        return str(provider.get("label") or provider.get("id") or "recorded")
    return str(provider or "recorded")
