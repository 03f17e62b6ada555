"""What the first screens have in common: a list, a field to find in it, and that leaving quits."""

from textual import on
from textual.widgets import Input

from tui_eval.format import number
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.widgets.bar import Bar
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece


class FirstScreen(BaseScreen):
    """A list that a person narrows by what is typed into a field above it."""

    AUTO_FOCUS = ""  # the first that could have it is the hidden field

    table: Rows

    def __init__(self, context: AppContext, title: str, sought: str) -> None:
        """Prepare the screen.

        Args:
            context: What all screens share.
            title: What is listed, as the head says it.
            sought: What is typed into the field, said while it is empty.
        """
        super().__init__(context)
        self._title = Piece(f"  {title}", "strong")
        self.head = Bar([self._title], id="title", classes="title")
        self.find = Input(id="find", placeholder=sought, compact=True, select_on_focus=False)
        self._sought = ""

    def _list(self) -> None:
        """List what is sought."""
        raise NotImplementedError

    def _count(self, shown: int, of: int, more: str = "") -> list[Piece]:
        """Return the title with how many are listed, of how many."""
        words = number(of) if shown == of else f"{number(shown)} of {number(of)}"
        return [self._title, Piece(f"  {words}{more}", "dim")]

    def action_find(self) -> None:
        """List by what is typed."""
        self.find.select_all()
        self.add_class("-finding")
        self.set_focus(self.find)  # now: the next key of a burst is for it

    @on(Input.Changed, "#find")
    def _seek(self, event: Input.Changed) -> None:
        self._sought = event.value
        self._list()

    @on(Input.Submitted, "#find")
    def _found(self) -> None:
        self.set_focus(self.table)

    async def action_back(self) -> None:
        """List all again."""
        if self.has_class("-finding"):
            self.remove_class("-finding")
            self.find.value = ""
            self.set_focus(self.table)
        else:
            self.say(f"this is a first screen; {key('leave', 'q')} quits")

    async def action_leave(self) -> None:
        """Quit."""
        await self.app.run_action("app.quit")
