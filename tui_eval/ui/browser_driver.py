"""The driver of an app whose terminal is drawn by a browser."""

from textual import messages
from textual.drivers.web_driver import WebDriver


class BrowserDriver(WebDriver):
    """Draws and is typed to through pipes; the app leaves where nobody is at their other end."""

    def run_input_thread(self) -> None:
        """Hand on what is typed until the pipe ends, then have the app leave.

        Textual's own goes on without: a server that was killed would leave the apps of its tabs.
        """
        super().run_input_thread()
        if not self.exit_event.is_set():
            self.send_message(messages.ExitApp())
