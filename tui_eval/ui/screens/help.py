"""All keys of the screen beneath, in words."""

from collections.abc import Iterable
from typing import ClassVar

from textual.app import ComposeResult
from textual.binding import ActiveBinding, Binding, BindingType
from textual.containers import Vertical
from textual.screen import ModalScreen, Screen

from tui_eval.resources import styles_dir
from tui_eval.ui.prose import Para
from tui_eval.ui.tones import Tone
from tui_eval.ui.widgets.page import Page

_KEY_CELLS = 12
_GENERAL = ("everywhere", "table", "page")


class Help(ModalScreen[None]):
    """Every key of a screen with what it does."""

    CSS_PATH = styles_dir() / "help.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("escape,q,question_mark,enter", "close", "Close", id="help.close", tooltip="Close"),
    ]

    def __init__(self, of: Screen[object]) -> None:
        super().__init__()
        self._of = of

    def compose(self) -> ComposeResult:
        """Lay the box out."""
        with Vertical(classes="box") as box:
            yield Page()
        box.border_title = "Keys"
        box.border_subtitle = "esc closes"

    def on_mount(self) -> None:
        """Write the keys down."""
        page = self.query_one(Page)
        page.show(list(self._paras()))
        page.focus()

    def _paras(self) -> Iterable[Para]:
        groups: dict[str, dict[str, tuple[list[str], ActiveBinding]]] = {}
        for active in self._of.active_bindings.values():
            binding = active.binding
            if binding.id is None:
                continue
            area = binding.id.partition(".")[0] if "." in binding.id else "everywhere"
            keys, _ = groups.setdefault(area, {}).setdefault(binding.id, ([], active))
            keys.append(self.app.get_key_display(binding))
        # what belongs to the screen first, then what is the same everywhere
        for area, actions in sorted(groups.items(), key=lambda group: group[0] in _GENERAL):
            yield Para(area, "accent")
            for keys, active in actions.values():
                label = " ".join(dict.fromkeys(keys)).ljust(_KEY_CELLS)
                words = active.binding.tooltip or active.binding.description
                tone: Tone = "plain" if active.enabled else "dim"
                yield Para(words, tone, indent=1, label=label)
            yield Para("")
        yield Para("Greyed: makes no sense just now; its key says why.", "dim")

    def action_close(self) -> None:
        """Close."""
        self.dismiss()
