"""The app: modes, themes, keys and the way out. What is on the screen belongs to the screens.

What the first picture does not need is imported where it is used: the store, and other screens.
"""

import asyncio
import gc
import signal
import time
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from rich.text import Text
from textual import events, work
from textual.binding import Binding, BindingType
from textual.command import Provider
from textual.driver import Driver
from textual.filter import LineFilter
from textual.screen import Screen, SystemModalScreen
from textual.signal import Signal
from textual.worker import WorkerFailed

from tui_eval.model.visible import visible
from tui_eval.resources import styles_dir
from tui_eval.store.errors import StoreError, UnknownRunError
from tui_eval.suites.config.app_state import AppState, state_file
from tui_eval.ui.context import AppContext
from tui_eval.ui.keys import terminal_replies
from tui_eval.ui.keys.acting import say
from tui_eval.ui.keys.global_keys import EVERYWHERE
from tui_eval.ui.keys.key_queue import KeyFollower, KeyQueue
from tui_eval.ui.keys.palette import Actions
from tui_eval.ui.keys.restrictions import UNRESTRICTED, Restrictions
from tui_eval.ui.lean_app import LeanApp
from tui_eval.ui.navigation import LaunchSuite, OpenRun
from tui_eval.ui.screens.base.base_screen import BaseScreen
from tui_eval.ui.screens.base.laid_out_once import LaidOutOnce
from tui_eval.ui.settings.apply_config import ConfigApplier
from tui_eval.ui.store_access.store_client import StoreClient
from tui_eval.ui.theme.frames import PlainFrames
from tui_eval.ui.theme.glyphs import ASCII, glyphs_for
from tui_eval.ui.theme.stylesheet import ParsedOnce
from tui_eval.ui.theme.themes import OWN_VARIABLES, THEMES
from tui_eval.ui.widgets.bar import FRAMED

if TYPE_CHECKING:
    from tui_eval.ui.grade.grading_choice import GradingChoice
    from tui_eval.ui.screens.runs_screen import RunsScreen
    from tui_eval.ui.screens.suites_screen import SuitesScreen

_INSTEAD = {"run.copy": "copies", "run.stop-run": "stops the run"}
"""What somebody may have meant by ctrl+c beside quitting, by the binding's id."""
_QUITS = "ctrl+q"
"""Quits from everywhere, whatever the configuration says."""
_LOST_S = 0.05
"""Seconds after which a follower of a key is looked for: a screen that closes takes it along."""
_LATE_S = 2.0
"""Seconds after which it is given up, however busy the screen is."""
_READY_S = 0.02
"""Seconds after which a screen that was not ready for a key is looked at again."""
_READ_S = 12.0
"""Seconds for which a notice stays that is long to read; esc or a click takes it away before."""
_LONGEST_S = 3600.0
_FRAMES = PlainFrames()
_FIRST_S = 1.0
"""Seconds that what is shown first has to itself."""
_QUIET_S = 0.3
"""Seconds without a key after which nobody waits for anything."""
_REFUSED = 2
"""Exit code where the store or the run named is wrong, as everywhere in the program."""


class TuiEvalApp(LeanApp):
    """The workbench on a store.

    Args:
        store: The store's file; made where there is none.
        paths: Suites and folders of suites to list; empty: the current folder.
        open_run: A run to open at once: its name, a prefix of it, or `last`.
        grading: What of that run is to be graded at once; None: nothing.
        restrictions: What the session does not permit.
    """

    TITLE = "tui-eval"
    CSS_PATH = styles_dir() / "app.tcss"
    DEFAULT_MODE = "suites"
    COMMANDS: ClassVar[set[type[Provider] | Callable[[], type[Provider]]]] = {Actions}
    HORIZONTAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-narrow"),
        (80, "-normal"),
        (120, "-wide"),
    ]
    VERTICAL_BREAKPOINTS = [  # noqa: RUF012
        (0, "-low"),
        (22, "-high"),
        (30, FRAMED),
    ]
    BINDINGS: ClassVar[list[BindingType]] = EVERYWHERE

    def __init__(
        self,
        store: Path,
        paths: Sequence[Path] = (),
        open_run: str | None = None,
        grading: "GradingChoice | None" = None,
        *,
        restrictions: Restrictions = UNRESTRICTED,
    ) -> None:
        if open_run is not None:
            # nobody waits for suites that nobody asked to see
            self.DEFAULT_MODE = "runs"  # type: ignore[misc]  # read in __init__, by Textual
        super().__init__()
        self._started = time.time()
        self.stylesheet = ParsedOnce(variables=self.get_css_variables())
        self.context = AppContext(
            client=StoreClient(store, self._tell_of_wait, read_only=restrictions.read_only),
            glyphs=glyphs_for(),
            pulse=Signal(self, "pulse"),
            paths=tuple(paths),
            remembered=AppState(state_file(), keeps=not restrictions.read_only),
            restrictions=restrictions,
        )
        self._opening = open_run
        """What is to be opened, until its screen is there: so long keys are held for it."""
        self._grading = grading
        """What of it is to be graded, until that is begun."""
        self._key_queue = KeyQueue(
            self._give_key,
            self._send_after_key,
            self._ready_for_key,
            partial(self.set_timer, _READY_S),
        )
        self._key_at = float("-inf")
        """When a key was pressed last, by the monotonic clock."""
        self.crash_log: Path | None = None
        """The log of a crash; None: there was none, or it could not be written."""
        self.add_mode("suites", self._suites_screen)
        self.add_mode("runs", self._runs_screen)
        for theme in THEMES.values():
            self.register_theme(theme)
        self._config = ConfigApplier(self, self.context.remembered)
        self.theme = self._config.theme()

    def _suites_screen(self) -> "SuitesScreen":
        from tui_eval.ui.screens.suites_screen import SuitesScreen

        return SuitesScreen(self.context)

    def _runs_screen(self) -> "RunsScreen":
        from tui_eval.ui.screens.runs_screen import RunsScreen

        return RunsScreen(self.context, self._opening)

    # -- starting and ending

    def on_mount(self) -> None:
        """Begin; the first picture is painted before the store is looked at."""
        self.set_class(self.context.glyphs is ASCII, "-ascii")
        loop = asyncio.get_running_loop()
        for ended in (signal.SIGTERM, signal.SIGHUP):
            # a closed or killed terminal ends the app, never the runs: the engines are not ours
            loop.add_signal_handler(ended, self.exit)
        self.call_after_refresh(self._begin)

    def _begin(self) -> None:
        """Go on, now that the first picture is painted."""
        if not gc.isenabled():
            gc.freeze()  # what a start has made stays: it need not be looked through
            gc.enable()
        self._follow_store()
        self._config.begin()
        if not self.is_headless:  # a test opens few of the screens there are
            self._load_ahead()

    @work
    async def _load_ahead(self) -> None:
        from tui_eval.ui.loading_ahead import load_ahead

        await self.context.client.reader()
        await asyncio.sleep(_FIRST_S)
        await load_ahead(lambda: self.stylesheet, self._quiet)
        gc.freeze()  # what was loaded stays: looking through it would hold a key up

    async def _quiet(self) -> None:
        """Wait until no key has been pressed for a while."""
        while (rest := self._key_at + _QUIET_S - time.monotonic()) > 0:  # noqa: ASYNC110  # keys put it off
            await asyncio.sleep(rest)

    @work
    async def _follow_store(self) -> None:
        from tui_eval.store.follow import follow
        from tui_eval.store.read import run_queries

        client = self.context.client
        try:
            said = await client.open(self._tell_of_store)
            if said:
                self.clear_notifications()  # of what is done by now
            for words in said:
                self.notify(visible(words), timeout=_READ_S, markup=False)
            if self._opening is not None:
                run = await client.read(run_queries.run_named, self._opening)
                self.post_message(OpenRun(run.id))
            async for pulse in follow(await client.reader()):
                self.context.pulse.publish(pulse)
        except StoreError as error:
            self.exit(return_code=_REFUSED, message=Text(visible(str(error))))

    def _tell_of_store(self, words: str) -> None:
        """Say what is being done to the store, which may take long, until it is done."""
        self.notify(visible(words), timeout=_LONGEST_S, markup=False)

    def _tell_of_wait(self) -> None:
        """Say that something has not been written yet."""
        said = "not written yet: another process may hold the store; it is tried for a minute"
        say(self.screen, said, "warning", seconds=_READ_S)

    async def on_unmount(self) -> None:
        """Close the store."""
        await self.context.client.close()

    def _handle_exception(self, error: Exception) -> None:
        if isinstance(error, WorkerFailed) and isinstance(error.error, UnknownRunError):
            # deleted while something of it was read: its screen leaves by itself
            say(self.screen, "the run is not there any more: it was deleted", "warning")
            return
        super()._handle_exception(error)

    def _fatal_error(self) -> None:
        # Textual's own would print the whole traceback over the terminal
        import sqlite3

        from tui_eval.store.connection import explain
        from tui_eval.ui.crash import replaced_since, write_log

        error: BaseException | None = self._exception
        if isinstance(error, WorkerFailed):
            error = error.error  # its own traceback says only that there is another
        if error is None or self.crash_log is not None:
            return
        self.crash_log = write_log(error)
        where = (
            f"its traceback is in {self.crash_log}" if self.crash_log else "no log could be written"
        )
        what = f"{type(error).__name__}: {error}"
        if isinstance(error, sqlite3.Error):
            what = str(explain(self.context.client.path, error))
        words = f"tui-eval stopped: {what}"
        replaced = replaced_since(self._started)
        why = "its files were replaced while it ran: a new start may help\n" if replaced else ""
        self.panic(
            Text(f"{visible(words)[:400]}\n{why}{where}; runs go on, `tui-eval` opens them again")
        )

    @work
    async def action_quit(self) -> None:  # type: ignore[override]  # a worker, so that it can ask
        """Leave the app; asks what becomes of live runs."""
        from tui_eval.store.read import run_queries
        from tui_eval.store.requests import Verb
        from tui_eval.ui.dialogs.quit_menu import QuitMenu
        from tui_eval.ui.exit_message import farewell
        from tui_eval.ui.store_access.run_requests import ask_all

        if any(isinstance(screen, QuitMenu) for screen in self.screen_stack):
            return
        client = self.context.client
        with self.context.keys_wait():
            live = [run for run in await client.read(run_queries.runs, limit=50) if run.live]
        if client.writing:
            say(self.screen, "quitting, once it is written…", seconds=_LONGEST_S)
            await client.written()
        if not live or self.context.restrictions.read_only:
            self.exit()
            return
        choice = await self.push_screen_wait(QuitMenu(live, self.context.glyphs))
        if choice is None:
            return
        if choice == "stop":
            try:
                await ask_all(client, [run.id for run in live], Verb.STOP)
            except (StoreError, OSError) as error:
                self.notify(visible(f"not stopped: {error}"), severity="error", markup=False)
                return
        said = farewell(live, client.path, stopped=choice == "stop")
        self.exit(message=Text(visible(said)))

    def action_command_palette(self) -> None:
        """Show every action by its name."""
        from tui_eval.ui.dialogs.palette_dialog import PaletteDialog

        if not isinstance(self.screen, PaletteDialog):
            self.push_screen(PaletteDialog(id="--command-palette"))

    def action_help_quit(self) -> None:
        """Say what to press instead of ctrl+c."""
        said = "ctrl+q quits"
        for active in self.screen.active_bindings.values():
            if active.binding.id in _INSTEAD and active.enabled:
                key = self.get_key_display(active.binding)
                said += f", {key} {_INSTEAD[active.binding.id]}"
        self.clear_notifications()
        self.notify(said, markup=False, timeout=4)

    def check_action(self, action: str, parameters: tuple[object, ...]) -> bool | None:
        """Hide actions that this terminal or screen does not have."""
        if action == "command_palette" and self._takes_every_key:
            return False
        if action == "suspend_process" and not (self._driver and self._driver.can_suspend):
            return None if self.context.restrictions.why_not("suspend") else False
        return super().check_action(action, parameters)

    @property
    def _takes_every_key(self) -> bool:
        """Whether the screen wants even the keys that lead somewhere from everywhere."""
        return getattr(self.screen, "TAKES_EVERY_KEY", False)

    # -- going about

    async def action_suites(self) -> None:
        """Show the suites."""
        await self._show("suites")

    async def action_runs(self) -> None:
        """Show all runs."""
        await self._show("runs")

    async def _show(self, mode: str) -> None:
        await self.switch_mode(mode)
        while len(self.screen_stack) > 1:
            await self.pop_screen()

    @work
    async def action_settings(self) -> None:
        """Show the settings."""
        from tui_eval.ui.keys.keyboard import keyboard
        from tui_eval.ui.screens.settings_screen import SettingsScreen

        if not isinstance(self.screen, SettingsScreen):
            screen = SettingsScreen(self.context, keyboard(), self._config.reread)
            await self.push_screen(screen)

    @work
    async def on_launch_suite(self, event: LaunchSuite) -> None:
        """Show the form that launches a suite."""
        from tui_eval.ui.screens.suites_screen import SuitesScreen

        await self._show("suites")
        if self.screen_stack and isinstance(self.screen, SuitesScreen):
            self.screen.launch(event.path)

    @work
    async def on_open_run(self, event: OpenRun) -> None:
        """Show a run."""
        from tui_eval.ui.screens.run_screen import RunScreen
        from tui_eval.ui.screens.runs_screen import RunsScreen

        if not event.here:
            await self._show("runs")
        if not self.screen_stack:
            return  # the app was quit meanwhile
        below = self.screen
        screen = RunScreen(self.context, event.run_id, event.place)
        await self.push_screen(screen)
        if self._opening is not None and self._grading is not None:
            screen.grade(self._grading)
        self._opening = None
        if isinstance(below, RunsScreen):
            below.opened()

    async def on_event(self, event: events.Event) -> None:
        """Queue keys, so that each is dealt with before the next; pass everything else on."""
        if isinstance(event, events.Key) and not event.is_forwarded:
            if event.key == "escape" and self.context.client.opened:
                self.clear_notifications()  # whatever else it does
            if event.key == _QUITS and self._opening is not None:
                self.exit()  # nothing has been begun, and the store may keep one waiting
                return
            await self._key_queue.take(event)
        else:
            await super().on_event(event)

    async def _give_key(self, key: events.Key) -> None:
        self._key_at = time.monotonic()
        if self._key_queue.idle:  # of a burst, what all its keys come to is painted at once
            for screen in self.screen_stack:
                if isinstance(screen, LaidOutOnce):
                    screen.key_pressed()
        await super().on_event(key)

    def _ready_for_key(self) -> bool:
        there = bool(self.screen_stack) and self.screen.is_mounted
        return there and self._opening is None and not self.context.keys_wait.holds

    def _send_after_key(self, follower: KeyFollower) -> bool:
        if not self.screen_stack or not (self.focused or self.screen).post_message(follower):
            return False
        late = time.monotonic() + _LATE_S
        self.set_timer(_LOST_S, partial(self._look_for, follower, self.screen, late))
        return True

    async def _look_for(self, follower: KeyFollower, on: Screen[object], late: float) -> None:
        """Give up a follower that can no longer arrive."""
        if not self._key_queue.waits_for(follower):
            return
        if not on.is_running or time.monotonic() > late:
            await self._key_queue.arrived(follower)
        else:
            self.set_timer(_LOST_S, partial(self._look_for, follower, on, late))

    async def on_key_follower(self, event: KeyFollower) -> None:
        """Go on to the next key."""
        await self._key_queue.arrived(event)

    def on_key(self, event: events.Key) -> None:
        """Quit from a box too; say why a key that nothing took does nothing."""
        if isinstance(self.screen, BaseScreen):
            self.screen.answer(event)
        elif event.key == _QUITS:  # a box has no keys but its own; this one leads out of it too
            self.action_quit()

    @work
    async def action_help(self) -> None:
        """Show all keys of this screen, and do what is chosen among them."""
        from tui_eval.ui.dialogs.help_dialog import HelpDialog

        screen = self.screen
        chosen = await self.push_screen_wait(HelpDialog(screen, self.context.glyphs))
        if chosen is None:
            return
        if chosen.enabled:
            await self.run_action(chosen.binding.action, chosen.node)
        elif isinstance(screen, BaseScreen):
            screen.refuse(chosen)

    # -- looks

    def get_key_display(self, binding: Binding) -> str:
        """Name a key with letters alone where the terminal has no more."""
        shown = super().get_key_display(binding)
        return shown if shown.isascii() or self.context.glyphs is not ASCII else binding.key

    def get_driver_class(self) -> type[Driver]:
        """Return what reads and draws on this terminal."""
        terminal_replies.ignore()
        return super().get_driver_class()

    def get_line_filters(self) -> Sequence[LineFilter]:
        """Draw frames with letters too, where the terminal has no more."""
        filters = super().get_line_filters()
        return [*filters, _FRAMES] if self.context.glyphs is ASCII else filters

    def refresh_css(self, animate: bool = True) -> None:
        """Apply the colours anew, to what stands above all screens too."""
        super().refresh_css(animate)
        if self.screen_stack and isinstance(self.screen, SystemModalScreen):
            self.stylesheet.update(self.screen, animate=animate)

    def get_theme_variable_defaults(self) -> dict[str, str]:
        """Return the names of our own that style sheets use, for themes of others too."""
        return OWN_VARIABLES[self.current_theme.dark]

    def action_set_theme(self, theme: str) -> None:
        """Change the theme; it is kept where it was set: in the configuration, or by the app."""
        if self.context.restrictions.read_only:
            self.theme = theme  # for as long as the session lasts
        else:
            self._config.set_theme(theme)
