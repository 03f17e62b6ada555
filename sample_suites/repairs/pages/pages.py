def page_count(items: int, per_page: int) -> int:
    """Return how many pages are needed for so many items."""
    return items // per_page
