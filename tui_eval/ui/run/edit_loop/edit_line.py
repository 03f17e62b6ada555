"""The line that says what the suite's file, as it is now, would change in a run."""

import time
from collections.abc import Iterator
from contextlib import aclosing
from dataclasses import dataclass
from pathlib import Path

from textual import work
from textual.message import Message

from tui_eval.engine.control.verdict_change import VerdictChange
from tui_eval.format import many
from tui_eval.store.requests import Outcome, Verb
from tui_eval.store.rows import RequestRow
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.edit_loop.flip_words import rate_words, turn_words
from tui_eval.ui.run.edit_loop.scorer_edits import TriedEdits, Tryout, changes
from tui_eval.ui.run.observed_run import ObservedRun
from tui_eval.ui.run.snapshot import Snapshot
from tui_eval.ui.theme.glyphs import UNICODE, Glyphs
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.toned import Piece, fit, width_of

_APPLIES = (Piece(" S", "accent", "rescore_all"), Piece(" applies ", "plain", "rescore_all"))
_SHOWS = (Piece(" d", "accent", "would_change"), Piece(" shows ", "plain", "would_change"))
_EDITS = (Piece(" e", "accent", "edit"), Piece(" edits ", "plain", "edit"))
_OFTEN_S = 0.1
"""The line says no oftener than this how far it is."""


class EditLine(Bar):
    """Watches the suite's file while its run is open; shown where its scorers are not the run's."""

    @dataclass
    class Changed(Message):
        """Something else can be done now."""

    def __init__(self, context: AppContext, run: ObservedRun) -> None:
        super().__init__(id="edit-line")
        self.context = context
        self._run = run
        self._watching = False
        self._tryout: Tryout | None = None
        self._trying = False
        """Whether the file has just changed, and nothing is known of it yet."""
        self.tried = TriedEdits()
        """What is known of the suite's scorers."""

    @property
    def file(self) -> Path | None:
        """The suite's file; None: the run came from none, or it is not known yet."""
        snapshot = self._run.snapshot
        return None if snapshot is None or snapshot.run.path is None else Path(snapshot.run.path)

    @property
    def flips(self) -> tuple[VerdictChange, ...]:
        """The verdicts that would change by what is said, as far as they are listed."""
        return () if self._tryout is None else tuple(self._tryout.flips)

    def on_mount(self) -> None:
        """Watch the suite's file as soon as it is known."""
        self._run.watch(self._look_at_run, Snapshot)

    def _look_at_run(self) -> None:
        assert self._run.snapshot is not None, "it has just been replaced"
        if not self._watching and self.file is not None:
            self._watching = True
            self._watch(self.file)
        if self._tryout is not None and any(map(_may_apply_edits, self._run.snapshot.answered)):
            self._try()

    @property
    def no_change(self) -> str | None:
        """Why no verdict would change by what is known; None: some would."""
        tried = self.tried
        if not tried.worth_saying:
            return "the suite's file has not changed how it scores"
        if tried.flips:
            return None
        if tried.judged:
            judges = f"{many(tried.judged, 'verdict')} unknown until judged"
            return f"{judges}: {key('run.rescore-all', 'S')} runs the judges"
        return "no verdict would change" if tried.ended else "no verdict would change so far"

    @work
    async def _watch(self, file: Path) -> None:
        async for _ in changes(file):
            self._trying = True
            self._lay_out()
            self._try()

    @work(exclusive=True, group="tryout")
    async def _try(self) -> None:
        """Try the file as it is now; what was being tried before is given up."""
        assert self._run.snapshot is not None, "there is a run whose file is watched"
        assert self.file is not None, "likewise"
        tryout = Tryout(self.context.client.path, self._run.snapshot.run.name, self.file)
        said_at = 0.0
        async with aclosing(tryout.tried()) as tried:
            async for found in tried:
                if found.ended or time.monotonic() - said_at > _OFTEN_S:
                    said_at = time.monotonic()
                    self._say(found, tryout)

    def _say(self, found: TriedEdits, tryout: Tryout) -> None:
        self.tried, self._tryout = found, tryout
        self._trying = self._trying and not (found.worth_saying or found.ended)
        self._lay_out()
        self.post_message(self.Changed())

    def on_resize(self) -> None:
        """Fit the line to the new width."""
        self._lay_out()

    def _lay_out(self) -> None:
        tried = self.tried
        self.set_class(tried.worth_saying or self._trying, "-said")
        if self._trying:
            self.show(
                [
                    Piece(
                        f" the suite changed: trying its scorers{self.context.glyphs.working}",
                        "dim",
                    )
                ]
            )
            return
        right = [*_APPLIES, *(_SHOWS if tried.flips else ())] if tried.changed else [*_EDITS]
        room = self.size.width - sum(width_of(piece.text) for piece in right) - 1
        glyphs = self.context.glyphs
        rates = rate_words(tried.turns, self._run.results, glyphs) if tried.ended else ""
        said = list(wordings(tried, rates, glyphs))
        words = next((one for one in said if width_of(one) <= room), said[-1])
        words = fit(words, max(room, 0), ellipsis=glyphs.cut).rstrip()
        tone: Tone = "ungraded" if tried.problem is not None else "strong"
        self.show([Piece(f" {words}", tone)], right)


def _may_apply_edits(request: RequestRow) -> bool:
    """Whether a request that was answered may have made the run's scorers those of the file."""
    scored = request.verb in (Verb.RESCORE, Verb.WITHDRAW)
    return scored and request.outcome == Outcome.ACCEPTED


def wordings(tried: TriedEdits, rates: str = "", glyphs: Glyphs = UNICODE) -> Iterator[str]:
    """Say what is known, at length first, then shorter: what helps most stays.

    Args:
        tried: What is known.
        rates: The pass rate as it is and would be; empty: nobody knows.
        glyphs: The shapes.
    """
    if not tried.changed:
        yield tried.problem or ""
        return
    changed, still = ", ".join(tried.changed), "" if tried.ended else " so far"
    flips = f"{many(tried.flips, 'verdict would change', 'verdicts would change')}{still}"
    if tried.turns:
        flips = f"{turn_words(tried.turns, glyphs)}{still}"
    flips = ", ".join(filter(None, (flips, rates)))
    if tried.judged:  # nobody knows what judges will say
        unknown = "verdicts" if tried.judged == tried.outputs else many(tried.judged, "verdict")
        told = f"{flips}, " if tried.flips else ""
        flips = f"{told}{unknown} unknown until judged"
    outputs = many(tried.outputs, "output")
    judged = f"about {many(tried.judge_calls, 'judge call')}" if tried.judge_calls else ""
    broken = f"{many(tried.broken, 'output')} {tried.problem}" if tried.problem is not None else ""
    calls = ("0 target calls", judged or "0 judge calls")
    figures = ", ".join(filter(None, (outputs, *calls, flips)))
    yield "; ".join(filter(None, (f"{changed}: {figures}", broken)))
    figures = ", ".join(filter(None, (judged, flips)))
    yield "; ".join(filter(None, (f"{changed}: {figures}", broken)))
    yield "; ".join(filter(None, (figures, broken)))
