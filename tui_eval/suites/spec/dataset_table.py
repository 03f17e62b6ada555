"""Where the cases come from."""

from typing import Literal

from pydantic import StrictBool, StrictInt

from tui_eval.suites.data.hub.hub_address import is_hub
from tui_eval.suites.spec.table import Spec, Text, Texts, Whole


class Dataset(Spec):
    """The file with the cases, and which of them are run.

    The order of choosing: filter, sample, shuffle, limit.
    """

    path: Text | None = None
    """A .jsonl, .json, .csv, .tsv (also .gz or .zst of these) or .parquet file, or a glob of such
    files; relative to the suite, and outside its folder it needs trust. Or a dataset of the Hub:
    hf://OWNER/NAME[/CONFIG]/SPLIT[@REVISION]. Left out where the cases stand in [[cases]]."""
    format: Literal["harbor", "terminal-bench", "swebench"] | None = None
    """What the path leads to, where that is no file of plain rows: a folder of tasks, or a glob of
    their files (`harbor`, `terminal-bench`), or rows of issues (`swebench`)."""
    repos: Text | None = None
    """For swebench: a folder of bare repositories, OWNER__NAME.git or OWNER/NAME.git; relative to
    the suite."""
    id: Text | None = None
    """The column of the case's id; a dotted path. Default: `id` where a row has it, else a digest
    of the row."""
    tags: Texts = ()
    """Columns whose values become tags for grouping results; dotted paths."""
    cluster: Text | None = None
    """A column; a dotted path. Cases of one value are not independent of each other, as questions
    about one passage: errors and comparisons are over clusters then."""
    filter: Text | None = None
    """A template that is true for the cases to keep: "{{ level > 3 }}"."""
    sample: Whole | None = None
    """Only so many cases, drawn by `seed`; they stay in order. A case's luck depends on its id
    alone, so a larger sample holds the smaller one."""
    shuffle: StrictBool = False
    """Whether the cases are put into an order drawn by `seed`."""
    limit: Whole | None = None
    """Only so many cases, the first ones of what is left."""
    seed: StrictInt = 0
    """What `sample` and `shuffle` draw by."""

    @property
    def hub(self) -> str | None:
        """The dataset of the Hub that is named; None: it is files, or stands in the suite."""
        return self.path if self.path is not None and is_hub(self.path) else None
