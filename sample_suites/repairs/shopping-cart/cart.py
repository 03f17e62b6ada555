def added(item: str, cart: list[str] = []) -> list[str]:
    """Return a cart with an item more; a new one where none is given."""
    cart.append(item)
    return cart
