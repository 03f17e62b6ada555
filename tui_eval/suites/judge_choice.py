"""Which scorer asks which judge."""

import re
from collections.abc import Collection, Iterator, Sequence
from typing import Final

from tui_eval.model.json import Json, JsonObject
from tui_eval.suites.loading.errors import did_you_mean
from tui_eval.suites.loading.source_map import tables
from tui_eval.suites.loading.toml_lines import Path
from tui_eval.suites.scorers import scorer_of
from tui_eval.suites.scorers.scorer import EMBEDDING
from tui_eval.suites.spec import UNNAMED, Suite

_FAMILY: Final = re.compile("[a-z]{3,}")


def judge_names(data: JsonObject) -> list[str]:
    """Return the names of a suite's judges, those that are names, and of its embedding."""
    names = [judge.get("name", UNNAMED) for _, judge in judge_tables(data)]
    return [name for name in names if isinstance(name, str)]


def judge_tables(data: JsonObject) -> Iterator[tuple[Path, JsonObject]]:
    """Yield the tables of all who may be asked for grades, with their paths, name and kind."""
    yield from tables(data, "judge", "judges")
    for path, embedding in tables(data, EMBEDDING):
        yield path, {"name": EMBEDDING, "kind": EMBEDDING, **embedding}


def _with_rubrics(judges: Sequence[str]) -> list[str]:
    """Return the names of those who grade by rubrics."""
    return [name for name in judges if name != EMBEDDING]


def judge_of(judges: Sequence[str]) -> str | None:
    """Return the judge of a scorer that names none: the only one, or the one called `judge`."""
    judges = _with_rubrics(judges)
    if len(judges) == 1:
        return judges[0]
    return UNNAMED if UNNAMED in judges else None


def judge_mistakes(
    scorer: JsonObject, judges: Sequence[str]
) -> Iterator[tuple[Path, str, str | None]]:
    """Yield what is wrong with whom a scorer asks: path in the scorer, message, hint.

    Args:
        scorer: The scorer as it was written.
        judges: The names of the suite's judges.
    """
    asks = scorer_of(scorer).asks(scorer)
    if asks == "judge":
        yield from _rubric_mistakes(scorer.get("judge"), _with_rubrics(judges))
    elif asks == EMBEDDING and EMBEDDING not in judges:
        yield (), "asks an embedding, and the suite has none", "add [embedding] with a model"


def _rubric_mistakes(wanted: Json, judges: Sequence[str]) -> Iterator[tuple[Path, str, str | None]]:
    if not judges:
        yield (), "asks a judge, and the suite has none", "add [judge] with a model"
    elif wanted is None:
        if judge_of(judges) is None:
            yield ("judge",), "is missing: there are several judges", _there_are(judges)
    else:
        names = wanted if isinstance(wanted, list) else [wanted]
        for index, name in enumerate(names):
            if isinstance(name, str) and name not in judges:
                at: Path = ("judge", index) if len(names) > 1 else ("judge",)
                near = did_you_mean(name, judges)
                hint = _there_are(judges)
                if near is not None and near.startswith("did"):
                    hint = f"{near} {hint}"
                yield at, f'no judge is called "{name}"', hint


def _there_are(names: Sequence[str]) -> str:
    return f"there {'is' if len(names) == 1 else 'are'} {', '.join(names)}"


def judges_of(scorer: JsonObject, judges: Sequence[str]) -> list[str]:
    """Return the names of the judges that a scorer as it was read asks; none: it asks nobody."""
    asks = scorer_of(scorer).asks(scorer)
    if asks != "judge":
        return [EMBEDDING] if asks == EMBEDDING and EMBEDDING in judges else []
    wanted = scorer.get("judge")
    if wanted is None:
        only = judge_of(judges)
        return [] if only is None else [only]
    names = wanted if isinstance(wanted, list) else [wanted]
    return [name for name in names if isinstance(name, str)]


def name_judge(scorer: JsonObject, judges: Sequence[str]) -> None:
    """Put the judge of a scorer that names none, so that it is known wherever it is used."""
    if scorer_of(scorer).asks(scorer) == "judge" and scorer.get("judge") is None:
        scorer["judge"] = list[Json](judges_of(scorer, judges))


def asked_judges(suite: Suite) -> frozenset[str]:
    """Return the names of the judges that a loaded suite's scorers ask.

    Where none of them asks any, judges are there for scorers that cases bring along: all of them.
    """
    scorers = [scorer for scorer in suite.scorers if scorer.asks_judge]
    named = [name for scorer in scorers for name in scorer.judges_named()]
    return frozenset(named) if scorers else frozenset(judge.name for judge in suite.judges)


def kinships(suite: Suite, targets: Collection[str] = ()) -> Iterator[str]:
    """Say which judges grade themselves, or a model of their own family: such grades are kinder.

    Args:
        suite: The suite.
        targets: The names of the targets that matter; none: all.
    """
    for judge in suite.judges:
        grading = judge.asked_model()
        if grading is None or not judge.HAS_TASTE or judge.name not in asked_judges(suite):
            continue
        for target in suite.targets:
            graded = target.asked_model()
            if graded is None or (targets and target.name not in targets):
                continue
            whose = f'target "{target.name}"'
            if _bare(grading) == _bare(graded):
                yield f'judge "{judge.name}" is the model it grades: {whose}'
            elif _family(grading) and _family(grading) == _family(graded):
                yield f'judge "{judge.name}" is of one family with the model it grades: {whose}'


def _family(model: str) -> str:
    """Return the word a model's name begins with (gpt, llama); empty: it is too short to tell."""
    found = _FAMILY.match(_bare(model))
    return "" if found is None else found[0]


def _bare(model: str) -> str:
    """Return a model's name without the makers before it and a file's ending, case aside."""
    return model.rpartition("/")[2].casefold().removesuffix(".gguf")
