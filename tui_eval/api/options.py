"""What a suite and a launch may be, as Python code says it."""

import os
from collections.abc import Mapping, Sequence
from typing import Any, Final, Literal, TypeAlias, TypedDict

SuiteLike: TypeAlias = str | os.PathLike[str] | Mapping[str, Any]
"""A suite's file, or its content as a mapping of the same shape; paths in that are relative to the
current folder."""


ADDRESS_ALONE: Final = "address: says where an executor is: name it as `executor`"


class RunOptions(TypedDict, total=False):
    """What is chosen beside a suite; each has a default."""

    targets: Sequence[str]
    """Only these targets. Default: all."""
    cases: Sequence[str]
    """Only these cases, by id. Default: all."""
    tags: Sequence[str]
    """Only cases with one of these tags."""
    limit: int | None
    """Only the first so many cases."""
    sample: int | None
    """Only so many cases, drawn by the dataset's seed."""
    only: Literal["failed", "errors", "ungraded"] | None
    """Only cases whose latest verdict is so."""
    part: str | None
    """Only this part of the cases, as in `3/16`."""
    epochs: int | None
    """How often each case is asked, in place of what the suite says."""
    concurrency: int | Literal["auto"] | None
    """Calls in flight at each endpoint, in place of what the suite says."""
    executor: Literal["local", "ray"] | None
    """Who makes the attempts. Default: the run's own engine, on this machine."""
    address: str | None
    """Where the executor's cluster is, as in `10.0.0.5:6379`. Default: as it finds it here."""
    judge: bool
    """False: no judge is asked, and what judges decide is ungraded."""
    fresh: bool
    """True: no output and no grade of an earlier run is used."""
    max_cost_usd: float | None
    """The run pauses before a call that could take more than so many dollars."""
    max_tokens: int | None
    """Likewise in tokens."""
    set: Mapping[str, Any] | None
    """Fields of the suite by their path: `{"run.timeout": 30}`."""
    baseline: str | None
    """The run or baseline file that this one is compared with. Default: the suite's baseline."""
    name: str | None
    """A label that is shown beside the run's name."""
    store: str | os.PathLike[str] | None
    """The store's file. Default: the one that commands use."""
    trust: bool
    """Whether the suite may read outside its folder, run programs, and send keys to hosts that are
    not known."""
