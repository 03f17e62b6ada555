"""Groups: what the listed trials have in common. The quick answer to why so many fail."""

from collections.abc import Sequence
from typing import TYPE_CHECKING, ClassVar, Final

from textual import work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType
from textual.containers import Vertical

from tui_eval.format import number
from tui_eval.resources import styles_dir
from tui_eval.store.search.confusion import Confusion
from tui_eval.store.search.groups import Grouping, Groups
from tui_eval.store.search.views import Condition
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.dialog import TOGETHER_S, Dialog
from tui_eval.ui.run.groups.choice_rows import ChoiceRows
from tui_eval.ui.run.groups.group_rates import GroupRates, group_rates
from tui_eval.ui.run.groups.group_rows import RATED, GroupRows
from tui_eval.ui.text.prose import Para
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.folded import Folded
from tui_eval.ui.widgets.toned import Piece

if TYPE_CHECKING:
    from tui_eval.ui.run.list.trial_list import TrialList

CHOICES: Final = "choice"
"""The tab of multiple choice, where the run has any."""
_WHAT = {
    Grouping.REASON: ("did not pass", "no listed trial has failed: there is nothing to explain"),
    Grouping.SCORER: ("fail a scorer", "no scorer says fail of a listed trial"),
    Grouping.REQUIREMENT: ("miss a requirement", "no judge found a requirement unmet"),
    Grouping.ERROR: ("are in error", "no listed trial is in error"),
    Grouping.TAG: ("have a tag", "no listed trial's case has a tag"),
    Grouping.TARGET: ("have a target", "no trial is listed"),
}
"""What those that are in a group do, and what stands there where none is."""


class GroupsScreen(Dialog[Condition | None]):
    """Returns the group that is to be listed; None: none."""

    CSS_PATH = styles_dir() / "groups_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "choose", "List", id="groups.list", tooltip="List this group alone"),
        Binding(
            "tab,right_square_bracket",
            "turn(1)",
            "Next grouping",
            id="groups.next",
            tooltip="Group by the next",
            priority=True,
        ),
        Binding(
            "shift+tab,left_square_bracket",
            "turn(-1)",
            "Grouping before",
            id="groups.before",
            tooltip="Group by the one before",
            priority=True,
        ),
        Binding("escape,q,b", "close", "Close", id="groups.close", tooltip="Back to the list"),
    ]

    def __init__(
        self,
        context: AppContext,
        run_id: int,
        trial_list: "TrialList",
        columns: Sequence[str],
        choice_scorers: Sequence[str],
    ) -> None:
        """Prepare it.

        Args:
            context: What all screens share.
            run_id: The run.
            trial_list: Which of its trials are grouped: those that are listed now.
            columns: The names of the run's columns; foreign.
            choice_scorers: Those of its multiple-choice scorers.
        """
        super().__init__()
        self.by: str = Grouping.REASON
        self._app_context = context
        self._run_id = run_id
        self._listed = trial_list.trials.places
        self._total = trial_list.trials.total
        self._count = trial_list.trials.listed
        self._searching = trial_list.searching
        self._tabs = Bar(id="tabs")
        self._over = Folded(id="over")
        self._rows = GroupRows(context.glyphs, columns, self._count)
        self._choice_rows = ChoiceRows(context.glyphs)
        self._choice_scorers = tuple(choice_scorers)
        self._reads_rates = False
        """Whether rates have been read, or are being read."""

    @property
    def groups(self) -> Sequence[tuple[Condition, int]]:
        """The groups that are shown, the largest first."""
        return self._rows.groups

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box") as box:
            box.border_title = "groups"
            yield self._tabs
            yield self._over
            yield self._rows
            yield self._choice_rows
            keys = (("enter", "list them", "choose"), ("tab", "next grouping", "turn(1)"))
            yield Bar(
                [
                    piece
                    for key, words, act in (*keys, ("esc", "back", "close"))
                    for piece in (
                        Piece(key, "accent", f"screen.{act}"),
                        Piece(f" {words}   ", "plain", f"screen.{act}"),
                    )
                ],
            )

    def on_mount(self) -> None:
        """Begin to count."""
        self.wait_for_content(TOGETHER_S)
        self.action_group(self.by)

    def on_rows_opened(self) -> None:
        """List the group that was clicked twice."""
        self.action_choose()

    def action_choose(self) -> None:
        """List the group under the cursor alone."""
        if self.by == CHOICES:
            chosen = self._choice_rows.selected
        else:
            chosen = self.groups[self._rows.cursor][0] if self.groups else None
        if chosen is not None:
            self.dismiss(chosen)

    def action_turn(self, step: int) -> None:
        """Group by the next, or with -1 by the one before."""
        there = self._groupings
        self.action_group(there[(there.index(self.by) + step) % len(there)])

    def action_group(self, by: str) -> None:
        """Group by this."""
        self.by = by
        self._show_tabs()
        self._rows.display = by != CHOICES
        self._choice_rows.display = by == CHOICES
        self.set_focus(self._choice_rows if by == CHOICES else self._rows)
        if by == CHOICES:
            self._count_choices()
            return
        self._rows.begin(Grouping(by))
        self._group(Grouping(by))
        if by in RATED and not self._reads_rates:
            self._reads_rates = True
            self._read_rates()

    def action_close(self) -> None:
        """Back to the list."""
        self.dismiss(None)

    @property
    def _groupings(self) -> list[str]:
        """What there is to group by; choices where the run has scorers of them."""
        return [*Grouping, *([CHOICES] if self._choice_scorers else [])]

    def _show_tabs(self) -> None:
        self._tabs.show([_tab(one, one == self.by) for one in self._groupings])

    @work(group="rates")
    async def _read_rates(self) -> None:
        """Read what is not counted over the listed trials: it is the run's."""
        found = await self._app_context.client.survey(group_rates, self._run_id)
        self._rows.show_rates(found or GroupRates())

    @work(exclusive=True, group="groups")
    async def _group(self, by: Grouping) -> None:
        """Count, and show what is counted so far."""
        found = Groups(self._run_id, by, self._listed, self._total)
        left = True
        while left:
            left = await self._app_context.client.ponder(found.step)
            self._show(by, found, going_on=left)
            self.content_is_there()

    @work(exclusive=True, group="groups")
    async def _count_choices(self) -> None:
        """Count choices, and show what is counted so far."""
        found = Confusion(self._run_id, self._choice_scorers, self._listed, self._total)
        left = True
        while left:
            left = await self._app_context.client.ponder(found.step)
            self._choice_rows.say_empty("counting" if left else "no listed trial chose an option")
            self._choice_rows.show(found.counts)
            n = sum(choices.total() for choices in found.counts.values())
            said = f"choices of {number(found.looked)} {'so far' if left else 'listed'} trials"
            keys = "; left and right select a cell"
            self._say_over(n, f"{said}: expected in rows, extracted in columns{keys}")

    def _show(self, by: Grouping, found: Groups, *, going_on: bool) -> None:
        verb, nothing = _WHAT[by]
        self._rows.say_empty("counting" if going_on else nothing)
        self._rows.show(found.largest, found.grouped)
        groups = len(found.counts)
        said = f"of {number(found.looked)} {'so far' if going_on else 'listed'} {verb}"
        beside = sum(part.reported for part in found.counts)
        if groups - beside > 1:
            said += f": {number(groups - beside)} groups"
        if groups > len(self.groups):
            said += f", the largest {len(self.groups)} here"
        if beside:
            said += f"; {number(beside)} reported"
        if going_on:
            said += f"; {number(self._count)} listed"
        if by in RATED and self._count < self._total:
            said += "; rates are of all its trials, listed or not"
        self._say_over(found.grouped, said)

    def _say_over(self, n: int, said: str) -> None:
        over = [Para(f"{number(n)} {said}")]
        if self._searching:
            over.append(Para("The search was not over.", "ungraded"))
        self._over.show(over)


def _tab(grouping: str, chosen: bool) -> Piece:
    words = f"[{grouping}]" if chosen else f" {grouping} "  # not by its colour alone
    tone: Tone = "accent" if chosen else "dim"
    return Piece(words, tone, f"screen.group('{grouping}')")
