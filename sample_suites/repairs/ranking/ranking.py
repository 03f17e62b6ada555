def ranked(points: dict[str, int]) -> list[str]:
    """Return the names of players, those with most points first."""
    return sorted(points, key=lambda name: points[name])
