"""The rule of instructions that can be checked: `instructions`.

Each follows what IFEval's own check does, see `tui_eval.suites.scorers.instructions`; sentences
are counted by rules and not by a trained model, and keywords are texts, not patterns.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from typing import Final, TypeAlias

from tui_eval.model.frozen import frozen
from tui_eval.model.json import Json, JsonObject
from tui_eval.model.score import Grade
from tui_eval.model.states import Verdict
from tui_eval.scoring.settings import number, text, texts
from tui_eval.suites import loop_bounds
from tui_eval.texts.sentences import count_sentences, whole_words, words
from tui_eval.texts.wording import quoted


@frozen
class Found:
    """What a check found in an answer."""

    followed: bool
    said: str


Rule: TypeAlias = Callable[[str, JsonObject], Found]


class NoLanguagesError(Exception):
    """What tells languages apart is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "the language cannot be told: install tui-eval[instructions], which brings langdetect"
        )


def instructions(settings: JsonObject, answer: str) -> Grade:
    """Pass where each instruction was followed; the value is the share of them that were."""
    asked = settings["instructions"]
    assert isinstance(asked, list)
    forms = list(_loose_forms(answer)) if settings["loose"] is True else [answer]
    try:
        found = {
            f"{at + 1}. {one['id']}": _followed(one, forms)
            for at, one in enumerate(asked)
            if isinstance(one, dict)
        }
    except NoLanguagesError as error:
        return Grade.ungraded(str(error))
    broken = [
        f"{name[name.index(' ') + 1 :]}: {one.said}"
        for name, one in found.items()
        if not one.followed
    ]
    value = 1 - len(broken) / len(found)
    threshold = number(settings["threshold"])
    passed = value >= (1.0 if threshold is None else threshold)
    followed: Json = {name: one.followed for name, one in found.items()}
    count = f"{len(found) - len(broken)} of {len(found)} followed"
    reason = "; ".join([count, *broken[:3]])
    return Grade(Verdict.PASS if passed else Verdict.FAIL, value, reason, followed)


def _followed(asked: JsonObject, forms: list[str]) -> Found:
    """Return what the first form gives that follows it, else the first."""
    rule = RULES[text(asked["id"])]
    found = [rule(form, asked) if form.strip() else Found(False, "empty") for form in forms[:1]]
    for form in forms[1:]:
        if found[0].followed:
            break
        other = rule(form, asked) if form.strip() else found[0]
        if other.followed:
            return other
    return found[0]


def _loose_forms(answer: str) -> Iterator[str]:
    """Yield an answer without its first line, its last, both, and each without asterisks."""
    lines = answer.split("\n")
    forms = [answer]
    forms += ["\n".join(part).strip() for part in (lines[1:], lines[:-1], lines[1:-1])]
    yield from forms
    for form in forms:
        yield form.replace("*", "")


def _compared(count: int, wanted: Json, relation: Json, what: str) -> Found:
    bound = number(wanted) or 0
    right = count < bound if relation == "less than" else count >= bound
    return Found(right, f"{count} {what}, {relation} {bound:g} asked")


def _at_least(count: int, wanted: Json, what: str) -> Found:
    return _compared(count, wanted, "at least", what)


def _exactly(count: int, wanted: Json, what: str) -> Found:
    return Found(count == wanted, f"{count} {what}, {wanted} asked")


# --- keywords and language --------------------------------------------------------------------


def _keywords(answer: str, asked: JsonObject) -> Found:
    read = answer.casefold()
    missing = [word for word in texts(asked["keywords"]) if word.casefold() not in read]
    return Found(not missing, f"{quoted(missing[0])} is missing" if missing else "all there")


def _keyword_frequency(answer: str, asked: JsonObject) -> Found:
    word = text(asked["keyword"]).strip()
    count = answer.casefold().count(word.casefold())
    return _compared(count, asked["frequency"], asked["relation"], f"times {quoted(word)}")


def _forbidden_words(answer: str, asked: JsonObject) -> Found:
    for word in texts(asked["forbidden_words"]):
        if re.search(rf"\b{re.escape(word)}\b", answer, re.IGNORECASE):
            return Found(False, f"{quoted(word)} is there")
    return Found(True, "none there")


def _letter_frequency(answer: str, asked: JsonObject) -> Found:
    letter = text(asked["letter"]).lower()
    count = answer.lower().count(letter)
    return _compared(count, asked["let_frequency"], asked["let_relation"], f"times {letter!r}")


def _language_of(answer: str) -> str | None:
    """Return the code of an answer's language; None where it has nothing to tell it by."""
    loop_bounds.allow(len(answer), 0)  # profiles of all languages are loaded first
    try:
        import langdetect  # late: an extra
    except ImportError as error:
        raise NoLanguagesError from error
    langdetect.DetectorFactory.seed = 0  # it draws, and is to say the same each time
    try:
        return str(langdetect.detect(answer))
    except langdetect.LangDetectException:
        return None


def _response_language(answer: str, asked: JsonObject) -> Found:
    found, wanted = _language_of(answer), asked["language"]
    return Found(found in (None, wanted), f"language {found}, {wanted} asked")


def _case(answer: str, right: bool, which: str) -> Found:
    if not right:
        return Found(False, f"not all in {which} letters")
    found = _language_of(answer)
    return Found(found in (None, "en"), f"language {found}, en asked")


def _english_capital(answer: str, _: JsonObject) -> Found:
    return _case(answer, answer.isupper(), "capital")


def _english_lowercase(answer: str, _: JsonObject) -> Found:
    return _case(answer, answer.islower(), "small")


def _capital_words(answer: str, asked: JsonObject) -> Found:
    count = sum(word.isupper() for word in whole_words(answer))
    relation = asked["capital_relation"]
    return _compared(count, asked["capital_frequency"], relation, "words in capitals")


# --- length -----------------------------------------------------------------------------------


def _sentences(answer: str, asked: JsonObject) -> Found:
    count = count_sentences(answer)
    return _compared(count, asked["num_sentences"], asked["relation"], "sentences")


def _words(answer: str, asked: JsonObject) -> Found:
    return _compared(len(words(answer)), asked["num_words"], asked["relation"], "words")


def _paragraphs(answer: str, asked: JsonObject) -> Found:
    """Count what `***` divides; none but the first and the last may be empty."""
    parts = [part.strip() for part in answer.split("***")]
    if not all(parts[1:-1]):
        return Found(False, "an empty paragraph between two dividers")
    return _exactly(sum(map(bool, parts)), asked["num_paragraphs"], "paragraphs")


def _first_word(answer: str, asked: JsonObject) -> Found:
    """Look at the first word of a paragraph, of those that empty lines divide."""
    parts = answer.split("\n\n")
    count, nth = sum(bool(part.strip()) for part in parts), number(asked["nth_paragraph"]) or 0
    paragraph = parts[int(nth) - 1].strip() if 1 <= nth <= count else ""
    if not paragraph:
        return Found(False, f"no paragraph {nth:g} of {count}")
    start = paragraph.split()[0].lstrip("'").lstrip('"')
    word = re.split(r"[.,?!'\"]", start)[0].lower()
    wanted = text(asked["first_word"]).lower()
    if word != wanted:
        return Found(False, f"paragraph {nth:g} starts with {quoted(word)}")
    return _exactly(count, asked["num_paragraphs"], "paragraphs")


# --- content and format -----------------------------------------------------------------------


def _placeholders(answer: str, asked: JsonObject) -> Found:
    count = 0
    for line in answer.split("\n"):
        start = line.find("[")
        while start >= 0 and (end := line.find("]", start)) >= 0:
            count += 1
            start = line.find("[", end)
    return _at_least(count, asked["num_placeholders"], "placeholders in brackets")


def _postscript(answer: str, asked: JsonObject) -> Found:
    marker = text(asked["postscript_marker"]).strip()
    known = {"P.P.S": r"p\.\s?p\.\s?s", "P.S.": r"p\.\s?s\."}
    there = re.search(known.get(marker, re.escape(marker.lower())), answer.lower())
    return Found(there is not None, f"no {quoted(marker)}" if there is None else "there")


def _bullets(answer: str, asked: JsonObject) -> Found:
    count = 0
    for line in answer.split("\n"):
        item = line.lstrip()
        starred = item.startswith("*") and item[1:2] not in ("", "*")
        count += starred or item.startswith("-")
    return _exactly(count, asked["num_bullets"], "bullet points")


_CONSTRAINED: Final = ("My answer is yes.", "My answer is no.", "My answer is maybe.")


def _constrained(answer: str, _: JsonObject) -> Found:
    there = any(option in answer for option in _CONSTRAINED)
    return Found(there, "one of the options" if there else "none of the three options")


def _highlights(answer: str, asked: JsonObject) -> Found:
    """Count `*single*` and `**double**` ones, which hold more than asterisks and spaces."""
    single = re.findall(r"\*[^\n*]*\*", answer)
    double = re.findall(r"\*\*[^\n*]*\*\*", answer)
    count = sum(bool(one.strip("*").strip()) for one in (*single, *double))
    return _at_least(count, asked["num_highlights"], "highlighted sections")


def _sections(answer: str, asked: JsonObject) -> Found:
    splitter = re.escape(text(asked["section_spliter"]).strip())
    count = len(re.findall(rf"{splitter}\s?\d+", answer))
    return _at_least(count, asked["num_sections"], "sections")


_FENCES: Final = ("```json", "```Json", "```JSON", "```")


def _json(answer: str, _: JsonObject) -> Found:
    read = answer.strip()
    for fence in _FENCES:
        read = read.removeprefix(fence)
    try:
        json.loads(read.removesuffix("```").strip())
    except (ValueError, RecursionError):
        return Found(False, "no JSON")
    return Found(True, "JSON")


def _title(answer: str, _: JsonObject) -> Found:
    for line in answer.split("\n"):
        start, end = line.find("<<"), line.rfind(">>")
        if 0 <= start < end and line[start:end].strip("<> \t"):
            return Found(True, "a title")
    return Found(False, "no title in <<…>>")


def _two_responses(answer: str, _: JsonObject) -> Found:
    parts = [part.strip() for part in answer.split("******")]
    if not all(parts[1:-1]):
        return Found(False, "an empty answer between two dividers")
    given = [part for part in parts if part]
    if len(given) != 2:
        return Found(False, f"{len(given)} answers, 2 asked")
    return Found(given[0] != given[1], "two answers that are the same")


def _repeated(answer: str, asked: JsonObject) -> Found:
    wanted = text(asked["prompt_to_repeat"]).strip().lower()
    there = answer.strip().lower().startswith(wanted)
    return Found(there, "repeated" if there else "it does not start with the request")


def _end(answer: str, asked: JsonObject) -> Found:
    wanted = text(asked["end_phrase"]).strip()
    there = answer.strip().strip('"').lower().endswith(wanted.lower())
    return Found(there, f"it ends with {quoted(answer.strip()[-60:])}")


def _quotation(answer: str, _: JsonObject) -> Found:
    read = answer.strip()
    there = len(read) > 1 and read[0] == read[-1] == '"'
    return Found(there, "in quotes" if there else "not wrapped in double quotes")


def _no_comma(answer: str, _: JsonObject) -> Found:
    count = answer.count(",")
    return Found(not count, f"{count} commas")


RULES: Final[Mapping[str, Rule]] = {
    "keywords:existence": _keywords,
    "keywords:frequency": _keyword_frequency,
    "keywords:forbidden_words": _forbidden_words,
    "keywords:letter_frequency": _letter_frequency,
    "language:response_language": _response_language,
    "length_constraints:number_sentences": _sentences,
    "length_constraints:number_paragraphs": _paragraphs,
    "length_constraints:number_words": _words,
    "length_constraints:nth_paragraph_first_word": _first_word,
    "detectable_content:number_placeholders": _placeholders,
    "detectable_content:postscript": _postscript,
    "detectable_format:number_bullet_lists": _bullets,
    "detectable_format:constrained_response": _constrained,
    "detectable_format:number_highlighted_sections": _highlights,
    "detectable_format:multiple_sections": _sections,
    "detectable_format:json_format": _json,
    "detectable_format:title": _title,
    "combination:two_responses": _two_responses,
    "combination:repeat_prompt": _repeated,
    "startend:end_checker": _end,
    "startend:quotation": _quotation,
    "change_case:capital_word_frequency": _capital_words,
    "change_case:english_capital": _english_capital,
    "change_case:english_lowercase": _english_lowercase,
    "punctuation:no_comma": _no_comma,
}
"""How each instruction is checked."""
