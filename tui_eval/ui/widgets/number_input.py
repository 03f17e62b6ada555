"""A text field that holds a number."""

from textual import events
from textual.widgets import Input


class NumberInput(Input):
    """A field of a form whose letters lead to other fields: in a number a letter means that."""

    def check_consume_key(self, key: str, character: str | None) -> bool:
        """Say whether a key is text of this field; a letter is not, and its binding is acted on."""
        if character is not None and character.isalpha():
            return False
        return super().check_consume_key(key, character)

    async def _on_key(self, event: events.Key) -> None:
        if event.character is not None and event.character.isalpha():
            event.prevent_default()  # left to the form's own keys
            return
        await super()._on_key(event)
