from units import to_metres


def line(name: str, feet: float) -> str:
    """Return a line of the report."""
    return f"{name}: {to_metres(feet):.1f} m"
