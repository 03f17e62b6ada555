"""Whether the kernel killed something because memory ran out."""

import os
from typing import Final

_COUNTER: Final = b"\noom_kill "


def oom_kills() -> int:
    """Return how many processes the kernel has killed for memory; 0 where it does not say."""
    try:
        descriptor = os.open("/proc/vmstat", os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return 0
    try:
        found = os.read(descriptor, 1 << 14).partition(_COUNTER)[2].partition(b"\n")[0]
    finally:
        os.close(descriptor)
    return int(found) if found else 0
