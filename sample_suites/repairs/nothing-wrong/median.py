def median(values: list[float]) -> float:
    """Return the middle of some numbers; of an even count the mean of the two in the middle."""
    ordered = sorted(values)
    half = len(ordered) // 2
    if len(ordered) % 2:
        return ordered[half]
    return (ordered[half - 1] + ordered[half]) / 2
