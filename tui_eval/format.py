"""Figures as people read them, in the app, the command line and reports: one function for each.

Everything unknown is an en dash, or `$?` for money; never a nought.
"""

import time
from collections.abc import Sequence
from typing import Protocol

UNKNOWN = "–"
SELF_REPORTED = "as the target says"
"""Beside tokens and money of which nobody knows but whoever took them."""
_RATES = 3
"""Targets whose rate has room in one cell."""
_MINUTE_S = 60
_HOUR_S = 3600
_DAY_S = 86400
_YEAR_S = 365 * _DAY_S
_FOLDER = "folder|"
_UNITS = ("bytes", "kB", "MB", "GB", "TB")


def clock(seconds: float | None) -> str:
    """Return a duration as `0:42`, `12:05` or `1:02:03`."""
    if seconds is None:
        return UNKNOWN
    whole = max(int(seconds), 0)
    hours, rest = divmod(whole, _HOUR_S)
    minutes, left = divmod(rest, _MINUTE_S)
    return f"{hours}:{minutes:02}:{left:02}" if hours else f"{minutes}:{left:02}"


def seconds(value: float | None) -> str:
    """Return a call's time as `0.80s`, `12.3s`, `2:05`; milliseconds below ten of them."""
    if value is None:
        return UNKNOWN
    if 0 < value < 0.00995:
        return f"{value * 1000:.1f}ms"
    if value < 9.995:
        return f"{value:.2f}s"
    return f"{value:.1f}s" if value < 99.95 else clock(round(value))


def per_second(rate: float | None) -> str:
    """Return a rate as `1,300/s`, `48/s`, `3.2/s`, or by the minute where it is slow: `12/min`."""
    if rate is None:
        return f"{UNKNOWN}/s"
    if 0 < rate < 0.5:
        by_minute = 60 * rate
        return f"{by_minute:.0f}/min" if by_minute >= 10 else f"{by_minute:.1f}/min"
    return f"{rate:,.0f}/s" if rate >= 9.95 else f"{rate:.1f}/s"


def fine_rate(rate: float) -> str:
    """Return a rate on a scale: `0.05/s`, `2.5/s`, `1,300/s`, `60.0k/s`."""
    return f"{figure(rate)}/s"


def figure(value: float) -> str:
    """Return a non-negative number in few cells; without an exponent from 0.0001 upwards."""
    if value >= 10_000:
        return compact(round(value))
    if value >= 100 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}" if value >= 0.0001 else f"{value:.1g}"


def ago(then: float, now: float) -> str:
    """Say how long ago something was, in its largest unit."""
    past = max(now - then, 0)
    for size, unit in ((_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if past >= size:
            return f"{int(past // size)} {unit} ago"
    return "just now"


def age(then: float, now: float) -> str:
    """Return how long ago something was in six cells: `now`, `12 min`, `3 h`, `40 d`, `2 y`."""
    past = max(now - then, 0)
    for size, unit in ((_YEAR_S, "y"), (_DAY_S, "d"), (_HOUR_S, "h"), (_MINUTE_S, "min")):
        if past >= size:
            return f"{int(past // size)} {unit}"
    return "now"


def day_and_time(then: float, now: float) -> str:
    """Return when something was, local time: `Nov 23 07:12`, of another year `2025-11-23`."""
    at, today = time.localtime(then), time.localtime(now)
    return time.strftime("%b %d %H:%M" if at.tm_year == today.tm_year else "%Y-%m-%d", at)


def percent(share: float | None) -> str:
    """Return a share in 0..1 as `72.1%`."""
    return UNKNOWN if share is None else f"{share * 100:.1f}%"


def rates(shares: Sequence[float | None], judged: bool) -> str:
    """Return the pass rates of a run's targets in one cell: `72.1%`, or `72 78 91 +2`.

    Args:
        shares: The rates, in 0..1; None: nothing to say.
        judged: Whether they rest on a judge: then with `~`.
    """
    shown = [_rate(share, judged, "%" if len(shares) == 1 else "") for share in shares[:_RATES]]
    more = f" +{len(shares) - _RATES}" if len(shares) > _RATES else ""
    return " ".join(shown) + more


def rate(share: float | None, judged: bool) -> str:
    """Return a pass rate as `72.1%`; as `~72.1%` where it rests on a judge."""
    return _rate(share, judged, "%")


def _rate(share: float | None, judged: bool, unit: str) -> str:
    if share is None:
        return UNKNOWN
    figure = percent(share) if unit else f"{share * 100:.0f}"
    return f"~{figure}" if judged else figure


def interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval of shares as `66.1–77.4`, in percent."""
    return UNKNOWN if bounds is None else f"{bounds[0] * 100:.1f}–{bounds[1] * 100:.1f}"


def points(share: float) -> str:
    """Return a difference of rates in percentage points, with its sign: `+6.4`."""
    return f"{share * 100:+.1f}"


def points_interval(bounds: tuple[float, float] | None) -> str:
    """Return an interval of differences in percentage points: `[-0.8, +13.6]`."""
    return "" if bounds is None else f"[{points(bounds[0])}, {points(bounds[1])}]"


def decimal(value: float | None) -> str:
    """Return a score in 0..1 with two digits."""
    return UNKNOWN if value is None else f"{value:.2f}"


def money(usd: float | None) -> str:
    """Return dollars, small sums with more places; nothing that is paid reads as 0."""
    if usd is None:
        return "$?"
    if usd == 0 or usd >= 0.09995:
        return f"${usd:,.2f}"
    return f"${usd:.4f}" if usd >= 0.00005 else "<$0.0001"


class Spent(Protocol):
    """Money of which some may be unknown."""

    @property
    def cost_usd(self) -> float | None:
        """All of it; None: some is unknown."""

    @property
    def known_usd(self) -> float:
        """What is known of it."""

    @property
    def about_usd(self) -> float | None:
        """That, and estimates where no endpoint told; None: nothing is estimated."""

    @property
    def unestimated(self) -> bool:
        """Whether some of what is unknown is not in `about_usd` either."""


def call_cost(usd: float | None, about_usd: float | None) -> str:
    """Return what a call, or the calls of a trial, cost: `$0.12`; `about $0.12` by an estimate.

    Args:
        usd: What is known of it; None: something is unknown.
        about_usd: An estimate, where there is one.
    """
    if usd is not None or about_usd is None:
        return money(usd)
    return f"about {money(about_usd)}"


def estimated_usd(of: Spent) -> float | None:
    """Return all of a sum, by estimates where nobody told; None: some has not even an estimate."""
    if of.cost_usd is not None:
        return of.cost_usd
    return None if of.unestimated else of.about_usd


def cost(of: Spent, *, short: bool = False) -> str:
    """Return dollars of which some may be unknown.

    `about $0.83` with estimates, `at least $0.83` where some has none, `at least about $0.83` with
    both; `short`: `$0.83+?` for `at least`.
    """
    if of.cost_usd is not None:
        return money(of.cost_usd)
    if of.about_usd is not None:
        known, rest = f"about {money(of.about_usd)}", of.unestimated
    elif of.known_usd:
        known, rest = money(of.known_usd), True
    else:
        return money(None)
    if not rest:
        return known
    return f"{known}+?" if short else f"at least {known}"


def dollars(usd: float) -> str:
    """Return a sum as people write one they have chosen: `2`, `0.5`, `0.001`."""
    return f"{usd:.2f}".rstrip("0").rstrip(".") if usd >= 0.01 else f"{usd:g}"


def number(value: int | None) -> str:
    """Return a count with thin groups: `12,300`."""
    return UNKNOWN if value is None else f"{value:,}"


def counted(tokens: int) -> int | None:
    """Return a sum of tokens; None: nobody has counted them, as no call takes none."""
    return tokens or None


def compact(value: int) -> str:
    """Return a count in five cells: `642`, `12.3k`, `412k`, `1.0M`."""
    if value < 10_000:
        return str(value)
    scaled, unit = (value / 1e3, "k") if value < 999_500 else (value / 1e6, "M")
    return f"{scaled:.1f}{unit}" if scaled < 99.95 else f"{scaled:.0f}{unit}"


def left_words(endpoint: str) -> str:
    """Say of a cancelled trial's request in bulk that it may still be done; may be foreign.

    Args:
        endpoint: Where it is, as limiters know it, or a folder (`folder_endpoint`).
    """
    folder = endpoint_folder(endpoint)
    if folder is not None:
        return f"may still be done: its request is in the folder {folder}"
    return f"may still be billed: its request is at {endpoint_host(endpoint)} in bulk"


def endpoint_host(endpoint: str) -> str:
    """Return the host of an endpoint as limiters know it; of one without, all but its key's name.

    Args:
        endpoint: Its provider, base URL and the variable of its key: `openai|https://…|OPENAI_KEY`.
    """
    host = endpoint.partition("://")[2].partition("/")[0].partition("|")[0]
    return host or " ".join(filter(None, endpoint.split("|")[:2]))


def folder_endpoint(folder: str) -> str:
    """Return what limiters would know a folder by that requests are put into."""
    return f"{_FOLDER}{folder}"


def endpoint_folder(endpoint: str) -> str | None:
    """Return the folder that an endpoint is; None: it is none."""
    return endpoint.removeprefix(_FOLDER) if endpoint.startswith(_FOLDER) else None


def many(count: int, noun: str, plural: str | None = None) -> str:
    """Return a count with its noun: `1 trial`, `3 trials`."""
    return f"{count:,} {noun if count == 1 else plural or noun + 's'}"


def size(n: int) -> str:
    """Return bytes as people read them: `512 bytes`, `12.3 kB`, `4.0 GB` (of thousands)."""
    value, unit = float(n), 0
    while value >= 999.5 and unit < len(_UNITS) - 1:
        value /= 1000
        unit += 1
    if unit == 0:
        return many(n, "byte")
    return f"{value:.1f} {_UNITS[unit]}" if value < 99.95 else f"{value:.0f} {_UNITS[unit]}"
