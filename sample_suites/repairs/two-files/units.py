FEET = 0.3048


def to_metres(feet: float) -> float:
    """Return a length in metres."""
    return feet * FEET
