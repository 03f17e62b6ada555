"""What deleting runs takes away, in words."""

from tui_eval.format import many, size
from tui_eval.model.visible import visible_line
from tui_eval.store.read import consignment_queries
from tui_eval.store.write.deletion import DeletionExtent


def removed_words(of: DeletionExtent) -> str:
    """Say what goes: `193 trials, 181 outputs, 120 kB of text`, and files that were kept."""
    said = (
        f"{many(of.trials, 'trial')}, {many(of.outputs, 'output')}, about {size(of.size)} of text"
    )
    if of.files:
        said += f", {many(of.files, 'file')} of {size(of.file_bytes)}"
    return said


def awaited_words(of: DeletionExtent) -> list[str]:
    """Say what is still to be done in bulk, and how to have it ended first."""
    if not of.awaited:
        return []
    told = visible_line(consignment_queries.awaited_words(of.awaited), 300)
    return [f"{told}, and nobody takes the results: `tui-eval cancel RUN` ends them first."]


def consequences(of: DeletionExtent) -> str:
    """Say what follows for other runs."""
    said = awaited_words(of)
    if of.baselines:
        named = ", ".join(visible_line(suite, 60) for suite in of.baselines)
        said.append(f"The baseline of {named} goes: later runs have none.")
    if of.compared:
        are = "run is" if of.compared == 1 else "runs are"
        said.append(f"{of.compared:,} other {are} compared with it, and will not be any more.")
    if of.outputs:
        said.append("A run that wants these outputs asks for them again.")
    if of.kept:
        stay = "output stays" if of.kept == 1 else "outputs stay"
        said.append(f"{of.kept:,} {stay}: other runs use them.")
    return " ".join(said)
