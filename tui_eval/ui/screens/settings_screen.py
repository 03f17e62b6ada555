"""Settings: what the configuration says, what is in force, and a way to change each of it."""

from collections.abc import Callable, Sequence
from typing import ClassVar

from textual import on, work
from textual.app import ComposeResult
from textual.binding import Binding, BindingType

from tui_eval.resources import styles_dir
from tui_eval.suites.config import config_writing
from tui_eval.suites.config.configuration import Configuration
from tui_eval.suites.loading.errors import SuiteError
from tui_eval.ui.context import AppContext
from tui_eval.ui.dialogs.key_dialog import KeyDialog
from tui_eval.ui.dialogs.menu import Choice, Menu
from tui_eval.ui.dialogs.name_dialog import NameDialog
from tui_eval.ui.editor import NoEditorError, edit
from tui_eval.ui.keys.keymap import Keyboard, checked
from tui_eval.ui.keys.shown_keys import key
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.settings.preferences import Preferences
from tui_eval.ui.settings.setting_list import Setting, SettingKind, SettingSources, settings
from tui_eval.ui.settings.values import parse_value, why_not
from tui_eval.ui.text.prose import Para, fold
from tui_eval.ui.theme.glyphs import Glyphs
from tui_eval.ui.theme.themes import THEMES
from tui_eval.ui.theme.tones import Tone
from tui_eval.ui.widgets.bar import Bar, Lines
from tui_eval.ui.widgets.drawn_row import Cell, DrawnRow
from tui_eval.ui.widgets.fields import Field
from tui_eval.ui.widgets.keyline import KeyLine
from tui_eval.ui.widgets.rows import Rows
from tui_eval.ui.widgets.toned import Piece, width_of

_SHARE = 0.45
"""Of the width that what a setting is called may take."""


class SettingsScreen(BaseScreen):
    """Lists every field of the configuration; changes the file when a person changes one."""

    CSS_PATH = styles_dir() / "settings_screen.tcss"
    BINDINGS: ClassVar[list[BindingType]] = [
        Binding("enter", "change", "change", id="settings.change", tooltip="Change this setting"),
        Binding(
            "backspace",
            "as_usual",
            "default",
            id="settings.as-usual",
            tooltip="Take this setting out of the configuration",
        ),
        Binding(
            "e",
            "edit",
            "edit the file",
            id="settings.edit",
            tooltip="Open the configuration in $EDITOR, and read it again",
        ),
    ]

    def __init__(
        self,
        context: AppContext,
        keyboard: Keyboard,
        reread: Callable[[], tuple[Configuration, Preferences]],
    ) -> None:
        """Prepare the screen.

        Args:
            context: What every screen gets.
            keyboard: The usual keys.
            reread: Reads the configuration again and puts it in force.
        """
        super().__init__(context)
        self._keyboard = keyboard
        self._reread = reread
        self.table = _Table(context.glyphs)
        self._told = Lines(id="told")
        """The setting under the cursor, whole: what it is called or says may be cut above."""

    def compose(self) -> ComposeResult:
        """Lay the screen out."""
        yield Bar(id="title", classes="title")
        yield self.table
        yield self._told
        yield KeyLine()

    def on_mount(self) -> None:
        """List what there is."""
        self.app.clear_notifications()  # what they told of a mistake stands here
        self._list()
        self.table.cursor = 1  # the first line names what follows
        self.table.focus()

    def _list(self) -> None:
        read, looks = self._reread()
        self._own = looks.keymap
        actions = self._keyboard.actions
        known = SettingSources(read, looks, actions, self.context.client.path, self._shown)
        self.table.list_settings(settings(known))
        self._file = read.file
        there = "" if read.there else "  not there yet: a change writes it "
        title = [Piece("  Settings  ", "strong"), Piece(str(read.file))]
        self.query_one("#title", Bar).show(title, [Piece(there, "dim")])
        self._tell()
        self.refresh_bindings()

    def _shown(self, key: str) -> str:
        return self.app.get_key_display(Binding(key, "", ""))

    @property
    def selected(self) -> Setting:
        """The line under the cursor."""
        return self.table.settings[self.table.cursor]

    def why_not(self, action: str) -> str | None:
        """Return why an action is not available now; None: it is."""
        if action in ("change", "as_usual") and self.table.settings:
            if self.selected.kind in (SettingKind.HEAD, SettingKind.MISTAKE):
                if self.selected.kind is SettingKind.HEAD:
                    return "this line is no setting"
                return f"this line is no setting; {_edit_key()} opens the file there"
            if action == "as_usual" and not self.selected.own:
                return "the configuration says nothing of it"
        return None

    @on(Rows.Moved)
    def _moved(self) -> None:
        self._tell()
        self.refresh_bindings()

    def on_resize(self) -> None:
        """Fold what is told for the new width."""
        self._tell()

    def _tell(self) -> None:
        paras = []
        if self.table.settings:
            one = self.selected
            tone: Tone = "ungraded" if one.kind is SettingKind.MISTAKE else "dim"
            value = (
                f": {one.value}"
                if one.kind in (SettingKind.THEME, SettingKind.TEXT) and one.value
                else ""
            )
            paras.append(Para("" if one.kind is SettingKind.HEAD else f"{one.words}{value}", tone))
        width = max(self.size.width - 4, 20)
        self._told.show([[Piece(f"  {text}", tone)] for text, tone in fold(paras, width)])

    @on(Rows.Opened)
    def _opened(self) -> None:
        if self.selected.kind is SettingKind.MISTAKE:
            if self.permits("edit"):
                self.action_edit()
        elif self.why_not("change") is None and self.permits("change"):
            self.action_change()

    # -- changing

    @work
    async def action_change(self) -> None:
        """Ask for another value of the setting, and write it down."""
        setting = self.selected
        match setting.kind:
            case SettingKind.THEME:
                await self._choose_theme(setting)
            case SettingKind.KEY:
                await self._press_key(setting)
            case SettingKind.TEXT if setting.choices:
                await self._choose(setting)
            case SettingKind.TEXT:
                await self._type(setting)

    async def _choose_theme(self, setting: Setting) -> None:
        before = self.app.theme
        lines = [Choice(name, name, chosen=name == before) for name in THEMES]
        chosen = await self.app.push_screen_wait(_Themes(lines, self.context.glyphs))
        if chosen is None:
            self.app.theme = before
        else:
            self._write(setting.at, chosen)

    async def _choose(self, setting: Setting) -> None:
        lines = [Choice(one, one, chosen=one == setting.value) for one in setting.choices]
        chosen = await self.app.push_screen_wait(Menu(setting.words, lines, self.context.glyphs))
        if chosen is not None:
            self._write(setting.at, chosen)

    async def _press_key(self, setting: Setting) -> None:
        name = setting.at[1]
        usual, own = self._keyboard, self._own

        def refused(key: str) -> str | None:
            _, problems = checked(usual, {**own, name: (key,)})
            new = [one for one in problems if one.id == name]
            return f"{new[0].message}; {new[0].hint}" if new else None

        question = KeyDialog(setting.words, setting.value, refused)
        key = await self.app.push_screen_wait(question)
        if key is not None:
            self._write(setting.at, None if (key,) == usual.actions[name].keys else key)

    async def _type(self, setting: Setting) -> None:
        question = NameDialog(
            setting.words, setting.own, setting.hint, lambda typed: why_not(setting.at, typed)
        )
        typed = await self.app.push_screen_wait(question)
        if typed is not None:
            self._write(*parse_value(setting.at, typed))

    def action_as_usual(self) -> None:
        """Take the setting out of the configuration."""
        self._write(self.selected.at, None)

    def _write(self, at: tuple[str, ...], value: config_writing.Value | None) -> None:
        try:
            config_writing.change(self._file, at, value)
        except SuiteError as error:
            self.say(f"not written: {error}; {_edit_key()} opens the file", "error", seconds=12)
        except OSError as error:
            self.say(f"not written: {self._file}: {error.strerror}", "error", seconds=12)
        self._list()

    def action_edit(self) -> None:
        """Open the configuration in the person's editor, at the mistake under the cursor."""
        line = self.selected.own if self.selected.kind is SettingKind.MISTAKE else ""
        try:
            self._file.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            edit(self.app, self._file, int(line) if line else None)
        except NoEditorError as error:
            self.say(str(error), "warning")
        except OSError as error:
            self.say(f"{self._file}: {error.strerror}", "warning")
        self._list()
        if self.table.settings[1].kind is SettingKind.MISTAKE:
            self.table.cursor = 1


class _Themes(Menu[str]):
    """Themes, each seen at once."""

    def __init__(self, choices: Sequence[Choice[str]], glyphs: Glyphs) -> None:
        super().__init__("theme", choices, glyphs)

    @on(Rows.Moved)
    def _try_on(self, event: Rows.Moved) -> None:
        self.app.theme = self.choices[event.cursor].value


class _Table(Rows):
    """The lines of the screen."""

    def __init__(self, glyphs: Glyphs) -> None:
        super().__init__((), glyphs=glyphs)
        self.settings: list[Setting] = []

    def on_resize(self) -> None:
        """Choose the columns for the new width."""
        self._lay_out()
        super().on_resize()

    def _lay_out(self) -> None:
        longest = max((width_of(one.words) for one in self.settings), default=0) + 1
        words = min(longest, int(self.size.width * _SHARE))
        self.set_fields(
            [
                Field("setting", max(words, 20)),
                Field("value", 14, share=2),
                Field("in the file", 22, share=1, drop=2),
                Field("said by", 22, drop=1) if self.size.width > 100 else Field("said by", 14),
            ]
        )

    def list_settings(self, settings: list[Setting]) -> None:
        """Show these; the cursor stays on the setting it is on."""
        before = self.settings[self.cursor].at if self.settings else ()
        self.settings = settings
        places = [place for place, one in enumerate(settings) if one.at == before and before]
        self._lay_out()
        self.place(len(settings), places[0] if places else min(self.cursor, len(settings) - 1))

    def row(self, index: int) -> DrawnRow | None:
        """Return the row of a setting."""
        one = self.settings[index]
        if one.kind is SettingKind.HEAD:
            return DrawnRow((Cell(one.words, "accent"), Cell(""), Cell(""), Cell("")))
        if one.kind is SettingKind.MISTAKE:
            told = Cell(f" {one.words}", "ungraded"), Cell(one.value, "dim")
            return DrawnRow((*told, Cell(""), Cell("")))
        name = one.at[-1] if len(one.at) > 1 or one.at[0] != "keys" else ""
        source = Cell(one.source, "accent" if one.own else "dim")
        return DrawnRow((Cell(f" {one.words}"), Cell(one.value), Cell(name, "dim"), source))


def _edit_key() -> str:
    return key("settings.edit", "e")
