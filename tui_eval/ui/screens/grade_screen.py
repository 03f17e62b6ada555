"""Grading outputs blindly, one after the other: how far is the judge right?"""

import asyncio
from collections.abc import Sequence
from typing import ClassVar, Final

from textual import events, work
from textual.app import ComposeResult
from textual.binding import BindingType

from tui_eval.engine.control.applied_grades import of_person
from tui_eval.engine.control.drawing import DRAWN, SEED
from tui_eval.engine.control.hand_grades import request_args
from tui_eval.format import many, number
from tui_eval.invocation import command_name
from tui_eval.model.json import Json
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError
from tui_eval.store.read import run_queries
from tui_eval.store.requests import Verb
from tui_eval.store.write.people.grade_writes import LONGEST_NAME, OutputReplacedError
from tui_eval.suites.config.app_state import GRADER, login_name
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.confirm_dialog import ConfirmDialog
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.grade import grading_reader
from tui_eval.ui.grade.blind_grading import BlindGrading
from tui_eval.ui.grade.grade_entry import CHARACTERS
from tui_eval.ui.grade.grade_keys import GRADE_KEYS
from tui_eval.ui.grade.grading_choice import GradingChoice
from tui_eval.ui.grade.question_page import asked_paras, line_paras, question_paras
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.run.actions.noting import note_too_long
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.store_access import run_requests
from tui_eval.ui.text.laid_out_text import lay_out_text
from tui_eval.ui.text.prose import Para
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.page import Page
from tui_eval.ui.widgets.toned import Piece

_GIVING: Final = frozenset({"verdict", "number", "enter", "cannot_tell", "note"})
"""Actions about the output that is shown."""
_LEAST_WIDTH = 20


class GradeScreen(BaseScreen):
    """Shows outputs as their judge sees them, and keeps each grade as it is given.

    Neither target nor id nor what the judge said is shown. What is kept measures, and decides
    nothing; where one left, the next session goes on.
    """

    CSS_PATH = styles_dir() / "grade_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = GRADE_KEYS

    def __init__(self, context: AppContext, run_id: int, choice: GradingChoice) -> None:
        """Make the screen of a run.

        Args:
            context: What all screens share.
            run_id: The run.
            choice: What is graded.
        """
        super().__init__(context)
        self._run_id = run_id
        self._choice = choice
        self._run_name = ""
        self.grading: BlindGrading | None = None
        """None: it is not known yet who grades what, or nothing is drawn yet."""
        self._agreement = False
        """Whether the agreement is shown in place of the output."""
        self._whole = False
        """Whether all of a long question is shown."""
        self.page = Page(id="page")
        self.asked = Page(id="asked")
        self._title = Bar(id="title")
        self._rule = Bar([Piece(" grading criteria", "dim")], id="rule")
        self.line = Bar(id="entry")
        """What is entered."""

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield self._title
        yield self.page
        yield self._rule
        yield self.asked
        yield self.line
        yield KeyLine()

    def on_mount(self) -> None:
        """Begin."""
        self.set_focus(self.page)
        self.asked.can_focus = False
        self._show_bars()
        self._begin()

    def on_resize(self) -> None:
        """Lay out for the new width."""
        self.call_after_refresh(self._lay_out)

    # -- who grades what

    @work
    async def _begin(self) -> None:
        client = self.context.client
        with self.context.keys_wait():
            scorers = await client.ponder(grading_reader.scorers_to_grade, self._run_id)
            self._run_name = (await client.read(run_queries.run, self._run_id)).name
        person = await self._person() if scorers else None
        scorer = None if person is None else await self._scorer(scorers)
        if person is None or scorer is None:
            if not scorers:
                self.app.notify("nothing scores this run: there is nothing to grade", markup=False)
            self.dismiss()
            return
        grading = BlindGrading(client, self._run_id, scorer, person, self._choice.n)
        with self.context.keys_wait():
            await grading.draw()
            self.grading = grading
            await self._show()

    async def _person(self) -> str | None:
        """Return who grades: asked once, then remembered; None: nobody said."""
        known = self._choice.person or self.context.remembered.get(GRADER)
        if known is not None:
            return known
        hint = "asked once; it tells the grades of several people apart"
        asked = NameDialog("who grades?", login_name(), hint, _why_no_name, yes="begin")
        name = await self.app.push_screen_wait(asked)
        if name is not None:
            self.context.remembered.set(GRADER, name.strip())
        return None if name is None else name.strip()

    async def _scorer(self, scorers: Sequence[str]) -> str | None:
        """Return by whose question is graded; None: the person chose none."""
        if self._choice.scorer is not None or len(scorers) == 1:
            return self._choice.scorer or scorers[0]
        menu = Menu("grade for which scorer?", [Choice(name, name) for name in scorers],
                    self.context.glyphs)  # fmt: skip
        return await self.app.push_screen_wait(menu)

    # -- what is shown

    @work(exclusive=True, group="lay-out")
    async def _lay_out(self) -> None:
        await self._show()

    async def _show(self) -> None:
        """Show the output, or at the end how far judge and people agree.

        Whoever changes what is shown calls this: one that finds it changed leaves it to the other.
        """
        grading = self.grading
        if grading is None:
            return
        width = max(self.page.size.width - 2, _LEAST_WIDTH)
        shown, glyphs, agreement = grading.shown, self.context.glyphs, self._agreement
        if shown is not None and not agreement:
            laid_out = await asyncio.to_thread(lay_out_text, shown.output, width, glyphs)
            if grading.shown is not shown or self._agreement:
                return
            height = self.page.size.height
            paras = question_paras(shown, laid_out.paras, width, height, whole=self._whole)
            self.page.show(list(paras), keep_place=True)
        elif grading.problem is not None:
            skips = f"{key('grade.cannot-tell', 'u')} goes on"
            self.page.show([Para(f"It cannot be graded: {grading.problem}; {skips}.", "error")])
        else:
            lines = await self.context.client.ponder(
                grading_reader.agreement_lines, self._run_id, grading.scorer, width
            )
            if grading.shown is not shown or self._agreement is not agreement:
                return
            ending = [] if self._agreement else _ending(grading)
            self.page.show([*ending, *(Para(line) for line in lines)])
        self._show_bars()

    def _show_bars(self) -> None:
        """Show where one is, by what is graded, and what is entered."""
        grading = self.grading
        if grading is None:
            self._title.show([Piece(" grading: drawing outputs…", "dim")])
            self.asked.display = self._rule.display = False
            return
        left = [Piece(" grading ", "dim"), Piece(grading.scorer, "strong")]
        left += [Piece(f"  {self._run_name}", "dim"), Piece(f"  by {grading.person}")]
        left.append(Piece(f"  seed {SEED}", "dim"))
        place = min(grading.at + 1, grading.count)
        count = f" {number(place)} of {number(grading.count)} " if grading.count else ""
        self._title.show(left, [Piece(count, "strong")])
        shown = grading.shown if not self._agreement else None
        self.asked.display = self._rule.display = shown is not None
        if shown is not None and grading.entry is not None:
            lines = line_paras(grading.entry, self.context.glyphs)
            paras = [*asked_paras(shown), *lines]
            self.asked.show(paras, keep_place=True)
        self.line.show(self._entered(grading))
        self.refresh_bindings()

    def _entered(self, grading: BlindGrading) -> list[Piece]:
        entry = grading.entry
        if self._agreement:
            return [Piece(f" {key('grade.agreement', 'v')} goes back to the output", "dim")]
        if entry is None:
            return []
        typed = [Piece(f" {entry.typed}▏", "strong")] if entry.typed else []
        dot = self.context.glyphs.dot
        problem = [Piece(f" {entry.problem} {dot}", "ungraded")] if entry.problem else []
        note = [Piece(f" note: {grading.note} ", "accent")] if grading.note else []
        return [*typed, *problem, *note, Piece(f" {entry.hint()}", "dim")]

    # -- what can be done

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        grading = self.grading
        if action in ("back", "leave"):
            return None
        if grading is None:
            return "outputs are still being drawn"
        if action in _GIVING and self._agreement:
            return f"{key('grade.agreement', 'v')} goes back to the output"
        skips = action == "cannot_tell" and grading.problem is not None
        if action in _GIVING and grading.shown is None and not skips:
            return "no output is left to grade"
        if action == "number" and grading.entry is not None and not grading.entry.takes_digits:
            return "pass or fail is asked here"
        if action == "back_one" and not grading.at and not grading.typed:
            return "this is the first one"
        if action == "question" and (self._agreement or grading.shown is None):
            return "no question is shown"
        if action == "apply" and not grading.session.done:
            return "you have graded nothing yet"
        return None

    def on_key(self, event: events.Key) -> None:
        """Take what numbers are made of: here a digit leads to no other screen."""
        if event.character is None or event.character not in CHARACTERS:
            return
        event.stop()
        why_not = self.why_not("number")
        if why_not is not None:
            self.say(why_not)
        elif self.grading is not None and self.grading.entry is not None:
            self._take(self.grading.entry.press(event.character))

    def action_verdict(self, passed: bool) -> None:
        """Give a verdict."""
        if self.grading is not None and self.grading.entry is not None:
            self._take(self.grading.entry.verdict(passed))

    def action_number(self) -> None:
        """Say what digits do."""
        if self.grading is not None and self.grading.entry is not None:
            self.say(self.grading.entry.hint())

    def action_enter(self) -> None:
        """End what is entered."""
        if self.grading is not None and self.grading.entry is not None:
            self._take(self.grading.entry.enter())

    def _take(self, given: Json) -> None:
        if given is None:
            self._show_bars()
        else:
            self._keep(given)

    def action_cannot_tell(self) -> None:
        """Keep that the person cannot tell."""
        self._keep(None)

    @work(exclusive=True, group="keep")
    async def _keep(self, given: Json) -> None:
        """Write a grade down, then go on."""
        grading = self.grading
        assert grading is not None, "an output is shown"
        with self.context.keys_wait():
            try:
                if grading.shown is None:
                    await grading.go_to(grading.at + 1)
                else:
                    await grading.keep(given)
            except (StoreError, OSError, OutputReplacedError) as error:
                self.say(f"not kept: {error}", "error", seconds=15)
                return
            self.page.scroll_home(animate=False)
            await self._show()

    @work
    async def action_back_one(self) -> None:
        """Erase what is entered, else go to the output before."""
        grading = self.grading
        assert grading is not None, "else it is greyed"
        entry = grading.entry
        if entry is not None and not self._agreement and entry.erase():
            self._show_bars()
            return
        with self.context.keys_wait():
            self._agreement = False
            await grading.go_to(max(grading.at - 1, 0))
            self.page.scroll_home(animate=False)
            await self._show()

    @work
    async def action_note(self) -> None:
        """Ask why."""
        grading = self.grading
        assert grading is not None, "else it is greyed"
        asked = NameDialog("note on the grade", grading.note, "kept with the grade", note_too_long)
        note = await self.app.push_screen_wait(asked)
        if note is not None:
            grading.note = note.strip()
            self._show_bars()

    @work
    async def action_agreement(self) -> None:
        """Show how far judge and people agree, or the output again."""
        shown = self.grading is not None and self.grading.shown is not None
        self._agreement = not self._agreement and shown
        await self._show()

    @work
    async def action_question(self) -> None:
        """Show all of a long question, or its beginning."""
        self._whole = not self._whole
        await self._show()

    @work
    async def action_more(self) -> None:
        """Draw 50 more."""
        grading = self.grading
        assert grading is not None, "else it is greyed"
        with self.context.keys_wait():
            grading.n += DRAWN
            await grading.draw()
            await self._show()

    @work
    async def action_apply(self) -> None:
        """Make the person's grades verdicts of the run."""
        client, grading = self.context.client, self.grading
        assert grading is not None, "else it is greyed"
        with self.context.keys_wait():
            grades = await client.ponder(of_person, self._run_id, grading.person, grading.scorer)
        question = ConfirmDialog(
            f"Make {many(len(grades), 'grade')} verdicts of the run?",
            yes=f"Apply {many(len(grades), 'grade')}",
            no="Keep the verdicts",
            more="They outrank the judge until they are withdrawn; "
            f"`{command_name()} undo {self._run_name}` takes them back.",
        )
        if not grades or not await self.app.push_screen_wait(question):
            return
        try:
            await run_requests.ask(client, self._run_id, Verb.GRADE, request_args(grades))
        except (StoreError, OSError) as error:
            self.say(f"not applied: {error}", "error", seconds=15)
            return
        self.say(f"{many(len(grades), 'verdict')} by hand")

    async def action_back(self) -> None:
        """Go back to the output, else leave; the next session goes on here."""
        if self._agreement:
            self._agreement = False
            await self._show()
        else:
            await self.action_leave()


def _why_no_name(name: str) -> str | None:
    if not name.strip():
        return "a name is wanted"
    return None if len(name) <= LONGEST_NAME else "it is too long"


def _ending(grading: BlindGrading) -> list[Para]:
    session = grading.session
    if not session.drawn:
        words = f"{grading.scorer} has neither passed nor failed any output: none is drawn."
        return [Para(words, "strong"), Para("")]
    more = f"{key('grade.more', 'm')} draws 50 more"
    if session.done:
        words = f"You have graded all {number(session.done)} that were yours."
        more += f"; {key('grade.apply', 'A')} makes your grades verdicts of the run"
    else:
        words = "Others have graded all that was drawn."
    return [Para(words, "strong"), Para(f"{more}.", "dim"), Para("")]
