"""Stream the rows out of a Parquet file; it needs pyarrow, which the extra `parquet` installs."""

import base64
import math
from collections import Counter
from collections.abc import Iterator
from datetime import date, datetime, time, timedelta
from decimal import Decimal
from io import BufferedReader
from typing import TYPE_CHECKING, Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.data.unpacking import BrokenFileError

if TYPE_CHECKING:
    import pyarrow.parquet as pq

_BATCH: Final = 64
"""Rows that are unpacked together: one long value that is stored once may be in all of them."""
_NEAR: Final = f"in this row or one of the {_BATCH - 1} after it"
_PIECE: Final = 1 << 20
"""Bytes of a column that are read at a time, instead of a whole row group."""
_ALWAYS: Final = 4_000_000
"""Bytes that a column of a row group may unpack to, however small it is."""
_MOST_TIMES: Final = 100
"""How many times its stored size it may unpack to, beyond that."""


def parquet_rows(file: BufferedReader) -> Iterator[tuple[int, JsonObject]]:
    """Yield the rows of a file, each with its number, from 1 on.

    Dates and times become texts in ISO 8601, spans of time seconds, bytes Base64; numbers that are
    not finite become null.

    Raises:
        BrokenFileError: it is no Parquet file, is damaged, or unpacks to too much; or pyarrow is
            not installed.
    """
    try:
        import pyarrow as pa
        import pyarrow.parquet as pq
    except ImportError:
        message = "is Parquet, which needs pyarrow: pip install 'tui-eval[parquet]'"
        raise BrokenFileError(None, message) from None
    number = 0
    try:
        with pq.ParquetFile(file, buffer_size=_PIECE, pre_buffer=False) as opened:
            _check(opened)
            for batch in opened.iter_batches(_BATCH, use_threads=False):
                for row in batch.to_pylist(maps_as_pydicts="lossy"):
                    number += 1
                    yield number, {name: _plain(value) for name, value in row.items()}
    except UnicodeDecodeError:
        raise BrokenFileError(number + 1, f"is not UTF-8 text, {_NEAR}") from None
    except (pa.ArrowException, OSError) as error:
        if isinstance(error, OSError) and error.errno is not None:
            raise  # the disk's, not the file's
        first = str(error).strip().split("\n")[0][:200]
        if number:
            raise BrokenFileError(number + 1, f"is damaged, {_NEAR}: {first}") from None
        raise BrokenFileError(None, f"is cut off or no Parquet file: {first}") from None


def _check(file: "pq.ParquetFile") -> None:
    """Refuse what cannot be one table of rows, or is made to fill the memory."""
    twice = [name for name, count in Counter(file.schema_arrow.names).items() if count > 1]
    if twice:
        raise BrokenFileError(None, f'has the column "{twice[0]}" twice')
    about = file.metadata
    for group in range(about.num_row_groups):
        for column in range(about.num_columns):
            held = about.row_group(group).column(column)
            most = max(_ALWAYS, held.total_compressed_size * _MOST_TIMES)
            if held.total_uncompressed_size > most:
                message = f'unpacks to more than {_MOST_TIMES:,} times its size in column "'
                raise BrokenFileError(None, f'{message}{held.path_in_schema}"')


def _plain(value: object) -> Json:
    match value:
        case None | bool() | int() | str():
            return value
        case float():
            return value if math.isfinite(value) else None
        case dict():
            return {str(key): _plain(item) for key, item in value.items()}
        case list() | tuple():
            return [_plain(item) for item in value]
        case Decimal():
            return float(value)
        case bytes():
            return base64.b64encode(value).decode("ascii")
        case datetime() | date() | time():
            return value.isoformat()
        case timedelta():
            return value.total_seconds()
        case _:
            return str(value)
