"""Which cases of a run are one of its parts, where several engines share it."""

import hashlib
import re
from dataclasses import dataclass
from typing import Final

MOST_PARTS: Final = 100_000
"""Parts that a run may be divided into."""
_FORM: Final = re.compile(r"0*([1-9][0-9]{0,5})/0*([1-9][0-9]{0,5})", re.ASCII)


@dataclass(frozen=True, slots=True)
class RunPart:
    """The `number`th of `of` parts, from 1."""

    number: int
    of: int

    @classmethod
    def parse(cls, text: str) -> "RunPart":
        """Read `3/16`.

        Raises:
            ValueError: it has another form, or there is no such part; the message says which.
        """
        found = _FORM.fullmatch(text)
        if found is None:
            raise ValueError(f"{text[:20]!r} is not of the form K/N, as 3/16")
        number, of = int(found[1]), int(found[2])
        if of > MOST_PARTS:
            raise ValueError(f"{of:,} parts are more than {MOST_PARTS:,}")
        if number > of:
            raise ValueError(f"there is no part {number} of {of}: they count from 1")
        return cls(number, of)

    def has(self, case_id: str) -> bool:
        """Return whether a case is in this part, as the first 8 bytes of its id's SHA-256 say.

        Every case is in one part, whatever the order of the cases and whoever asks.
        """
        digest = hashlib.sha256(case_id.encode("utf-8", "surrogatepass")).digest()
        return int.from_bytes(digest[:8], "big") % self.of == self.number - 1

    def share(self, whole: int) -> int:
        """Return what a part may use of something that all parts share, at least 1."""
        return max(whole // self.of, 1)

    def __str__(self) -> str:
        """Return it as it is written on the command line."""
        return f"{self.number}/{self.of}"
