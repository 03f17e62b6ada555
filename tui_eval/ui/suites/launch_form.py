"""From what stands in the Launch form to a run. The slow imports happen where they are used."""

from collections.abc import Iterator, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from tui_eval.engine.launch import create_run as launches
from tui_eval.engine.preflight.column_forecast import tokens_and_cost
from tui_eval.engine.preflight.readiness import missing
from tui_eval.engine.settings import Settings
from tui_eval.format import many
from tui_eval.model.bounds import MOST_CALLS, MOST_EPOCHS
from tui_eval.reports.comparison.baseline.base_choice import BaseRefusedError, checked_base
from tui_eval.store.connection import open_readable
from tui_eval.store.read import run_queries
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.suites.parameters import ParameterError, parameters, with_parameters
from tui_eval.ui.suites.suite_list import SuiteEntry, mistake_lines
from tui_eval.ui.text.prose import Para

if TYPE_CHECKING:
    from tui_eval.engine.preflight.forecast import LaunchForecast
    from tui_eval.engine.preflight.preflight import Preflight
    from tui_eval.store.write.baseline_writes import BaseChoice
    from tui_eval.suites.spec import Suite

ONLY = ("all", "failed", "errors", "ungraded")
"""Which cases are run, by their latest verdict."""


class FormError(Exception):
    """A field cannot be meant so; the message says which and what is allowed."""


class NotReadyError(Exception):
    """The run cannot be started; the message says all that is missing, one line each."""


@dataclass(frozen=True, slots=True)
class LaunchForm:
    """What stands in the fields, as it was typed."""

    targets: tuple[str, ...]
    """Those that are ticked."""
    all_targets: bool
    cases: str = ""
    tags: str = ""
    only: str = ONLY[0]
    limit: str = ""
    sample: str = ""
    epochs: str = ""
    parameters: str = ""
    concurrency: str = ""
    max_cost: str = ""
    max_tokens: str = ""
    baseline: str = ""
    cache: bool = True
    judge: bool = True

    def suite_of(self, suite: "Suite") -> "Suite":
        """Return the suite with the parameters that were typed.

        Raises:
            FormError: they cannot be read, or a target that is ticked does not take them.
        """
        try:
            return with_parameters(suite, self.targets, parameters(self.parameters))
        except ParameterError as error:
            raise FormError(str(error)) from error

    def settings(self) -> Settings:
        """Read the fields.

        Raises:
            FormError: one of them makes no sense.
        """
        if not self.targets:
            raise FormError("tick at least one target")
        return Settings(
            targets=() if self.all_targets else self.targets,
            cases=_words(self.cases),
            tags=_words(self.tags),
            only=None if self.only == ONLY[0] else self.only,
            limit=_whole("limit", self.limit),
            sample=_whole("sample", self.sample),
            epochs=_whole("epochs", self.epochs, MOST_EPOCHS),
            concurrency=_calls(self.concurrency),
            max_cost_usd=_dollars("max cost", self.max_cost),
            max_tokens=_whole("max tokens", self.max_tokens),
            fresh=not self.cache,
            no_judge=not self.judge,
        )


def _words(text: str) -> tuple[str, ...]:
    return tuple(word.strip() for word in text.split(",") if word.strip())


def _whole(field: str, text: str, most: int = 10**15) -> int | None:
    plain = text.strip().replace(",", "").replace("_", "")
    if not plain:
        return None
    if not (plain.isascii() and plain.isdecimal() and plain.strip("0")):
        raise FormError(f"{field} must be a whole number of at least 1, not “{text}”")
    if len(plain) > 20 or int(plain) > most:
        raise FormError(f"{field} must be at most {most}")
    return int(plain)


def _calls(text: str) -> int | Literal["auto"] | None:
    if text.strip().lower() == "auto":
        return "auto"
    try:
        return _whole("concurrency", text, MOST_CALLS)
    except FormError as error:
        raise FormError(f"{error}; or auto") from None


def _dollars(field: str, text: str) -> float | None:
    plain = text.strip().removeprefix("$").replace(",", "")
    if not plain:
        return None
    try:
        value = float(plain)
    except ValueError:
        value = 0.0
    if not 0 < value < float("inf"):
        raise FormError(f"{field} must be US dollars above 0, such as 2.50, not “{text}”")
    return value


def trouble(found: "Preflight") -> tuple[str, ...]:
    """Return why a launch is refused, one line each; nothing: it may start."""
    return (*mistake_lines(found.mistakes), *found.refused, *found.missing)


def preflight_paras(found: "Preflight | None", refused: Sequence[str] = ()) -> Iterator[Para]:
    """Yield what stands under the form.

    Args:
        found: What a launch would do; None: it is still being counted.
        refused: What else is in its way: fields that make no sense.
    """
    lines = (*refused, *(() if found is None else trouble(found)))
    if lines:
        yield from (Para(line, "error") for line in lines)
    elif found is None or found.work is None:
        yield Para("counting reusable, stale and new…", "dim")
    else:
        yield from _launch_paras(found, found.work)


def _launch_paras(found: "Preflight", work: "LaunchForecast") -> Iterator[Para]:
    partial = " (partial)" if found.settings.partial else ""
    total = work.total
    yield Para(f"{many(total.trials, 'trial')}{partial}: {work.kinds()}", "strong")
    if all(one.asks_nobody for one in found.targets):
        yield Para("no API calls (replay or simulated)", "dim")
    elif not total.calls:
        yield Para("no API calls: every output is reusable", "dim")
    else:
        calls = sum(one.calls for one in found.targets if not one.asks_nobody)
        yield Para(f"{many(calls, 'call')}, {tokens_and_cost(found.targets)}", "dim")
    if cache_off := work.cache_off():
        yield Para(cache_off, "ungraded", label="cache off:")
    for why in work.why_stale():
        yield Para(why, "ungraded", label="stale:")
    if total.broken:
        yield Para("their requests cannot be rendered: they end in error", "error", label="broken:")
    for one in found.judges:
        name = "judge" if one.judge == "judge" else f"judge {one.judge}"
        if sum(other.judge == one.judge for other in found.judges) > 1:
            name += f", {one.scorer}"
        yield Para(one.words(), "dim", label=f"{name}:")
    if found.baseline is not None:
        yield Para(f"compared with {found.baseline}", "dim")
    for said in found.warnings:
        yield Para(said, "ungraded", label="note:")


def launch(
    store: Path, entry: SuiteEntry, settings: Settings, label: str | None, baseline: str = ""
) -> int:
    """Make the run and start its engine; return the run's id. Runs in a thread.

    Args:
        store: The store's file.
        entry: The suite.
        settings: What is chosen of it.
        label: A name a person gives the run.
        baseline: The run or file that it is compared with; empty: the suite's baseline.

    Raises:
        NotReadyError: a key, a model or a price is missing, or it cannot be compared with that;
            nothing was made.
        StoreError: the store cannot be used.
    """
    suite = entry.suite
    assert suite is not None, "only a suite that can be read is launched"
    if lacks := missing(suite, settings):
        raise NotReadyError("\n".join(lacks))
    path = str(entry.path.absolute())
    base = _base(store, baseline, suite, settings) if baseline else None
    try:
        run_id = launches.create(store, suite, settings, path=path, label=label, base=base)
    except SuiteError as error:  # its dataset is no file of this machine, and cannot be had now
        raise NotReadyError(str(error)) from None
    db = open_readable(store)
    try:
        name = run_queries.run(db, run_id).name
    finally:
        db.close()
    launches.spawn(store, name)
    return run_id


def _base(store: Path, named: str, suite: "Suite", settings: Settings) -> "BaseChoice":
    with closing(open_readable(store)) as db:
        try:
            return checked_base(db, named, suite, settings).choice
        except BaseRefusedError as error:
            raise NotReadyError(f"baseline: {error}") from None


def usual_form(suite: "Suite") -> LaunchForm:
    """Return the form where nobody has chosen anything."""
    names = tuple(target.name for target in suite.targets)
    return LaunchForm(targets=names, all_targets=True, cache=suite.run.cache)
