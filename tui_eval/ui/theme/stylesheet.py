"""The style sheets of the app, each of them parsed once for a theme."""

from typing import Final

from textual.cache import LRUCache
from textual.css.stylesheet import Stylesheet

_PARSED: Final = 512
"""Sources whose rules are kept: more than widgets and screens together have."""


class ParsedOnce(Stylesheet):
    """Style sheets that are parsed anew only where their colours have changed.

    Textual parses all there are whenever a screen brings one of its own along: opening a dialog for
    the first time took a third longer for that. `set_variables`, which a theme calls, forgets what
    was parsed.
    """

    def __init__(self, *, variables: dict[str, str] | None = None) -> None:
        super().__init__(variables=variables)
        self._parse_cache = LRUCache(_PARSED)

    def reparse(self) -> None:
        """Parse what has not been parsed with the colours of now.

        Raises:
            StylesheetError: one could not be read.
            StylesheetParseError: one is invalid; the rules stay as they were.
        """
        self.parse()
