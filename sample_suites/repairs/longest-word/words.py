def words(text: str) -> list[str]:
    """Return the words of a text in their order."""
    return text.split()
