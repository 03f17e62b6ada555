"""Logs of Inspect, `.eval` and `.json`: samples with outputs become cases with recordings."""

import re
import sys
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.model.outputs.finish import canonical
from tui_eval.suites.importers.chat import Conversations, as_messages, text_of
from tui_eval.suites.importers.columns.answer_columns import AnswerStatistics
from tui_eval.suites.importers.inspect.log_scorers import SampleTraits, scorers_of
from tui_eval.suites.importers.judges import Judges
from tui_eval.suites.importers.reading import parse_json, read_json, refuse
from tui_eval.suites.importers.recorded import RecordedColumns, verdict
from tui_eval.suites.importers.shape import Imported, ImportNotes, RowAdapter

if sys.version_info >= (3, 14):
    import zipfile
else:
    from backports.zstd import zipfile

_LETTERS: Final = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
_SAMPLE: Final = re.compile(r"samples/(.+)_epoch_(\d+)\.json", re.DOTALL)
_MOST_MEMBERS: Final = 500_000
_MOST_MEMBER: Final = 256_000_000
"""Bytes of one file of an archive, unpacked."""
_MOST_ALL: Final = 20_000_000_000
"""Bytes of all files of an archive, unpacked."""
_NOT_SAID: Final = "unknown"
"""The stop reason of answers whose provider gave none."""
_ATTACHED: Final = "attachment://"
_BROKEN: Final = (zipfile.BadZipFile, NotImplementedError, RuntimeError, EOFError, zlib.error,
                  OSError, ValueError)  # fmt: skip


def read_inspect(path: Path) -> Imported:
    """Read a log of Inspect.

    Raises:
        SuiteError: it is none, is damaged, or holds no samples.
    """
    losses = ImportNotes()
    log = _Archive(path) if path.suffix.lower() == ".eval" else _Whole(path)
    made = _Made(path, log.header(), losses)
    return Imported(made.cases(log), made.suite, losses)


class _Whole:
    """A log that is one JSON document."""

    def __init__(self, path: Path) -> None:
        self._path = path
        found = read_json(
            path, "`inspect log convert --to eval` makes an archive of it, of any size"
        )
        if not isinstance(found, dict) or not isinstance(found.get("eval"), dict):
            refuse(str(path), "is no log of Inspect: it has no `eval`")
        self._log = found

    def header(self) -> JsonObject:
        return self._log

    def samples(self) -> Iterator[list[JsonObject]]:
        """Yield the samples of one id together, one for each epoch."""
        samples = self._log.get("samples")
        if not isinstance(samples, list) or not samples:
            refuse(str(self._path), "holds no samples", field="samples",
                   hint="it was written without them, or of the header alone")  # fmt: skip
        groups: dict[str, list[JsonObject]] = {}
        for sample in samples:
            if isinstance(sample, dict):
                groups.setdefault(repr(sample.get("id")), []).append(sample)
        yield from groups.values()


class _Archive:
    """A log that is an archive: read sample by sample, so that it may be of any size."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._left = _MOST_ALL
        try:
            self._zip = zipfile.ZipFile(path)
        except _BROKEN as error:
            refuse(str(path), f"cannot be read as an archive: {_reason(error)}")
        self._names = self._zip.namelist()
        if len(self._names) > _MOST_MEMBERS:
            refuse(str(path), f"holds more than {_MOST_MEMBERS:,} files")

    def header(self) -> JsonObject:
        kept = ("header.json", "_journal/start.json", "start.json")
        found = next((_table(self._read(name)) for name in kept if name in self._names), {})
        if not isinstance(found.get("eval"), dict):
            refuse(str(self._path), "is no log of Inspect: it has no header")
        return found

    def _read(self, name: str) -> Json:
        try:
            with self._zip.open(name) as file:
                raw = file.read(_MOST_MEMBER + 1)
        except _BROKEN as error:
            refuse(str(self._path), f"{name} cannot be unpacked: {_reason(error)}")
        self._left -= len(raw)
        if len(raw) > _MOST_MEMBER:
            refuse(str(self._path), f"{name} unpacks to more than {_MOST_MEMBER // 1_000_000} MB")
        if self._left < 0:
            refuse(str(self._path), f"unpacks to more than {_MOST_ALL // 10**9} GB")
        return parse_json(raw, f"{self._path}: {name}")

    def samples(self) -> Iterator[list[JsonObject]]:
        """Yield the samples of one id together, one for each epoch, in the dataset's order."""
        groups: dict[str, list[str]] = {}
        for name in self._names:
            found = _SAMPLE.fullmatch(name)
            if found is not None:
                groups.setdefault(found[1], []).append(name)
        if not groups:
            refuse(str(self._path), "holds no samples")
        dataset = _table(_table(self.header().get("eval")).get("dataset"))
        ids = dataset.get("sample_ids")
        order = {str(one): n for n, one in enumerate(ids)} if isinstance(ids, list) else {}
        with self._zip:
            for key in sorted(groups, key=lambda key: order.get(key, len(order))):
                read = [self._read(name) for name in groups[key]]
                yield [one for one in read if isinstance(one, dict)]


def _reason(error: Exception) -> str:
    return " ".join(str(error).split()) or type(error).__name__


def _table(value: Json) -> JsonObject:
    return value if isinstance(value, dict) else {}


def _list(value: Json) -> list[Json]:
    return value if isinstance(value, list) else []


@dataclass(frozen=True, slots=True)
class _Texts:
    """The texts of a sample; Inspect stores long ones apart, as attachments."""

    attached: Mapping[str, Json]

    def whole(self, value: Json) -> Json:
        """Return a value with its attachments filled in."""
        if isinstance(value, str) and value.startswith(_ATTACHED):
            return self.attached.get(value.removeprefix(_ATTACHED), value)
        if isinstance(value, list):
            return [self.whole(one) for one in value]
        if isinstance(value, dict):
            return {key: self.whole(one) for key, one in value.items()}
        return value


class _Made:
    """A suite made from one log."""

    def __init__(self, path: Path, header: JsonObject, losses: ImportNotes) -> None:
        self._path = path
        self._eval = _table(header.get("eval"))
        self._losses = losses
        self._tracks = RecordedColumns(losses)
        self._conversations = Conversations(losses)
        self._answers = AnswerStatistics()
        self._judges = Judges(losses)
        self._with_choices = False
        self._scored: dict[str, None] = {}
        self._reduce: list[str] = []
        status = header.get("status")
        if status not in (None, "success"):
            losses.note(f"the log says its evaluation ended with {status!r}: it may not hold all")

    def cases(self, log: "_Whole | _Archive") -> Iterator[JsonObject]:
        """Yield a case for each id, with the output of each epoch."""
        self._note_rest()
        fitting = RowAdapter(self._losses)
        for samples in log.samples():
            samples.sort(key=_epoch)
            case = self._case(samples)
            if case is not None:
                yield fitting.fit(case, f"sample {case['id']}")

    def _note_rest(self) -> None:
        for name, what in (
            ("model_roles", "roles of models (model_roles)"),
            ("model_generate_config", "generation parameters"),
            ("metrics", "the task's own metrics"),
        ):
            if self._eval.get(name):
                self._losses.note(f"{what} are not carried over: outputs are replayed")
        self._reduce = _reducers(_table(self._eval.get("config")), self._losses)

    def _case(self, samples: list[JsonObject]) -> JsonObject | None:
        if not samples:
            return None
        first = samples[0]
        case_id = first.get("id")
        where = f"sample {case_id}"
        texts = _Texts(_table(first.get("attachments")))
        given = texts.whole(first.get("input"))
        asked = self._asked(texts, first, given, where)
        if not asked:
            self._losses.note("has no input that is text: it was left out", where)
            return None
        row: JsonObject = {"id": case_id, "chat": self._conversations.see(asked)}
        if isinstance(given, str):
            row["input"] = given
        self._with_target(row, texts.whole(first.get("target")))
        choices = first.get("choices")
        if isinstance(choices, list) and choices:
            row["choices"] = texts.whole(choices)
            if len(choices) <= len(_LETTERS):
                # the letters are told: options may themselves be letters
                row["options"] = dict(zip(_LETTERS, _list(row["choices"]), strict=False))
            else:
                self._losses.note("has more options than there are letters", where)
            self._with_choices = True
        if first.get("metadata"):
            row["metadata"] = texts.whole(first["metadata"])
        if first.get("files") or first.get("sandbox") or first.get("setup"):
            self._losses.note("files, sandbox and setup of a sample are not carried over", where)
        several = _epochs(self._eval) > 1 or any(_epoch(sample) > 1 for sample in samples)
        for sample in samples:
            self._record(row, sample, _epoch(sample) - 1 if several else None, where)
        return row

    def _asked(
        self, texts: _Texts, sample: JsonObject, given: Json, where: str
    ) -> list[JsonObject]:
        """Return the request: the messages before the first answer, or else the input."""
        messages = texts.whole(sample.get("messages"))
        before: list[Json] = []
        for one in messages if isinstance(messages, list) else []:
            said = isinstance(one, dict) and one.get("role") == "assistant"
            if said and _table(one).get("source") != "input":
                break
            before.append(one)
        return as_messages(before or given, self._losses, where)

    def _with_target(self, row: JsonObject, target: Json) -> None:
        if isinstance(target, list) and len(target) == 1:
            target = target[0]
        self._answers.see(target)
        if target not in (None, "", []):
            row["target"] = target

    def _record(self, row: JsonObject, sample: JsonObject, epoch: int | None, where: str) -> None:
        texts = _Texts(_table(sample.get("attachments")))
        model = str(self._eval.get("model") or "recorded")
        self._tracks.add(model, model)
        if _table(sample.get("model_usage")):
            self._losses.note("tokens and costs of the samples are not carried over: a replay asks "
                              "nobody")  # fmt: skip
        output = _table(texts.whole(sample.get("output")))
        choices = output.get("choices")
        choice = _table(choices[0]) if isinstance(choices, list) and choices else {}
        said = text_of(_table(choice.get("message")).get("content"))
        if not choice:
            error = _table(sample.get("error"))
            what = "ended with an error" if error else "holds no output"
            self._losses.note(f"{what}: the case has no recorded output there", where)
            return
        if said is None:
            self._losses.note("an output with parts that are no text was left out", where)
            return
        stop = choice.get("stop_reason")
        scores = {
            name: _table(score).get("value") for name, score in _table(sample.get("scores")).items()
        }
        self._scored |= dict.fromkeys(scores)
        self._tracks.put(
            row,
            model,
            said,
            epoch=epoch,
            latency_s=_seconds(output.get("time")),
            finish_reason=canonical(stop) if isinstance(stop, str) and stop != _NOT_SAID else None,
            messages=_trajectory(texts.whole(sample.get("messages"))),
            scores=dict(scores) or None,
            verdicts=_verdicts(scores) or None,
        )

    def suite(self) -> JsonObject:
        """Return the suite."""
        task = str(self._eval.get("task") or self._path.stem)
        suite: JsonObject = {
            "name": task.rsplit("/", 1)[-1],
            "prompt": self._conversations.prompt(),
            "targets": self._tracks.targets(),
        }
        data = SampleTraits(
            self._with_choices,
            self._answers.numbers == self._answers.given,
            several=self._answers.lists > 0,
        )
        found = scorers_of(self._eval, self._scored, data, self._judges, self._losses)
        missing = self._answers.rows - self._answers.given
        if missing:
            self._losses.note(f"{missing:,} of {self._answers.rows:,} cases have no target: they "
                              "are not graded by it")  # fmt: skip
        if not self._answers.given:
            found = []
            self._losses.note("no sample has a target: the suite has no scorer, so every output "
                              "passes")  # fmt: skip
        for scorer in found if missing else []:
            scorer["when"] = "{{ target is defined }}"
        if found:
            suite["scorers"] = list[Json](found)
        self._judges.put(suite)
        run = self._tracks.run()
        if run.get("epochs") is not None and self._reduce:
            run["reduce"] = list[Json](self._reduce) if self._reduce[1:] else self._reduce[0]
        if run:
            suite["run"] = run
        return suite


_REDUCERS: Final = {"mean": "mean", "max": "max", "majority": "majority", "mode": "majority"}
_WITH_K: Final = {"at_least": "at_least_", "pass_at": "pass@", "pass_k": "pass^"}


def _reducers(config: JsonObject, losses: ImportNotes) -> list[str]:
    """Return how a sample's epochs are reduced to one result, the first decides.

    Empty: the file does not say.
    """
    named = config.get("epochs_reducer")
    found: list[str] = []
    for name in named if isinstance(named, list) else [named] if named else []:
        kind, _, k = str(name).rpartition("_")
        same = _REDUCERS.get(str(name))
        if same is None and kind in _WITH_K and k.isdecimal() and int(k) > 0:
            same = f"{_WITH_K[kind]}{int(k)}"
        if same is None:
            losses.note(f"epochs_reducer {name} has no like here")
        elif same not in found:
            found.append(same)
    return found


def _verdicts(scores: JsonObject) -> JsonObject:
    """Return which scorers a sample passed; a value between right and wrong is neither."""
    known: dict[Json, bool] = {"C": True, "I": False, "N": False, 1: True, 0: False}
    found: JsonObject = {}
    for name, value in scores.items():
        if isinstance(value, str | int | float) and value in known:
            found[name] = verdict(known[value])
    return found


def _epoch(sample: JsonObject) -> int:
    epoch = sample.get("epoch")
    return epoch if isinstance(epoch, int) else 1


def _epochs(told: JsonObject) -> int:
    epochs = _table(told.get("config")).get("epochs")
    return epochs if isinstance(epochs, int) else 1


def _seconds(value: Json) -> float | None:
    if isinstance(value, bool) or not isinstance(value, int | float) or value < 0:
        return None
    return float(value)


def _trajectory(messages: Json) -> list[Json] | None:
    """Return the messages of an agent's trajectory; None: one question, one answer."""
    if not isinstance(messages, list):
        return None
    kept: list[Json] = []
    answers = 0
    for one in messages:
        if isinstance(one, dict) and isinstance(one.get("role"), str):
            answers += one["role"] == "assistant"
            message: JsonObject = {"role": one["role"], "content": text_of(one.get("content"))}
            for name in ("tool_calls", "tool_call_id"):
                if one.get(name):
                    message[name] = one[name]
            kept.append(message)
    return kept if answers > 1 else None
