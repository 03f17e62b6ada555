"""Figures as people read them; what is unknown is a dash."""

UNKNOWN = "–"


def percent(share: float | None) -> str:
    """Give a share of 1 in percent, with one decimal place."""
    return UNKNOWN if share is None else f"{100 * share:.1f}%"


def rate(share: float | None, judged: bool) -> str:
    """Give a pass rate in percent; with `~` where it rests on a judge."""
    return f"~{percent(share)}" if judged and share is not None else percent(share)


def seconds(duration: float | None) -> str:
    """Give a call's duration: `0.83s`, `12.3s`, `2:05`."""
    if duration is None:
        return UNKNOWN
    if duration < 9.995:
        return f"{duration:.2f}s"
    return f"{duration:.1f}s" if duration < 99.95 else clock(duration)


def clock(duration: float) -> str:
    """Give a long duration: `0:42`, `12:03`, `1:02:03`."""
    minutes, rest = divmod(round(duration), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def money(usd: float | None) -> str:
    """Give US dollars, small sums with more places; none that is not 0 reads like 0."""
    if usd is None:
        return UNKNOWN
    if 0 < usd < 0.00005:
        return "<$0.0001"
    return f"${usd:.2f}" if usd == 0 or usd >= 0.1 else f"${usd:.4f}"


def decimal(value: float | None) -> str:
    """Give a score with two decimal places."""
    return UNKNOWN if value is None else f"{value:.2f}"


def many(n: int, noun: str, plural: str | None = None) -> str:
    """Give a number with its noun: `1 case`, `1,200 cases`."""
    return f"{n:,} {noun if n == 1 else plural or noun + 's'}"
