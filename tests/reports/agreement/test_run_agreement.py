import json
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.reports.agreement.rated import Rated, rated_run
from tests.support import DATA, do, writing
from tui_eval.model.judge_quality import GoldAgreement
from tui_eval.model.score import Grade, Score
from tui_eval.model.states import Verdict
from tui_eval.reports.agreement.agreement_document import agreement_document
from tui_eval.reports.agreement.corrected_rates import CorrectedPassRate
from tui_eval.reports.agreement.run_agreement import PeoplesWord, ScorerAgreement, peoples_word
from tui_eval.reports.document import document
from tui_eval.reports.terminal.agreement_text import corrected_line, people_lines
from tui_eval.statistics.corrected import GradedShare, corrected_by_gold, corrected_by_grades
from tui_eval.statistics.intervals import wilson
from tui_eval.store.read import run_queries
from tui_eval.store.tx import Tx
from tui_eval.store.write import score_writes
from tui_eval.store.write.judges import measured_judges


@pytest.fixture
def db(tmp_path: Path) -> Iterator[sqlite3.Connection]:
    with writing(tmp_path / "s.sqlite3") as opened:
        yield opened


def word(db: sqlite3.Connection, columns: dict[str, list[Rated]], **changes: Any) -> PeoplesWord:
    return peoples_word(db, rated_run(db, columns, **changes).run)


def only(found: PeoplesWord) -> ScorerAgreement:
    (one,) = found.scorers
    return one


def said(judge: float, person: float | str | None, n: int = 1) -> list[Rated]:
    return [Rated(judge, {"anna": person})] * n


def squality() -> dict[str, list[Rated]]:
    """Give the summaries of three systems: one rater stands for the judge, two for people."""
    ratings = json.loads((DATA / "squality_overall.json").read_text())["ratings"]
    return {
        system: [Rated(a, {"two": b, "three": c}) for a, b, c in rows]
        for system, rows in ratings.items()
    }


def test_squality_agrees_over_all_and_not_within_the_models(db: sqlite3.Connection) -> None:
    """By scikit-learn 1.7, statsmodels 0.14, scipy 1.16 and krippendorff 0.8."""
    found = only(word(db, squality()))
    by_name = dict(zip(squality(), found.columns.values(), strict=True))
    pooled = found.pooled
    assert pooled.spearman == pytest.approx(0.742580105109974, abs=1e-6)
    assert pooled.kappa == pytest.approx(0.6442255062944718, abs=1e-6)
    assert pooled.kappa_interval == pytest.approx((0.5201321295, 0.7683188830), abs=1e-6)
    assert pooled.agreement == pytest.approx(0.826666667, abs=1e-6)
    assert pooled.interval == pytest.approx((0.7581400726, 0.8788793677), abs=1e-6)
    assert by_name["bart"].spearman == pytest.approx(0.18740809251478716, abs=1e-6)
    assert by_name["bart-dpr"].spearman == pytest.approx(0.39629467959021825, abs=1e-6)
    assert by_name["bart"].kappa == pytest.approx(-0.07361963190184091, abs=1e-6)
    assert list(by_name["bart-dpr"].table.values()) and by_name["bart-dpr"].n == 50
    people = found.people
    assert people.kappa == {"three,two": pytest.approx(0.782016348773842, abs=1e-6)}
    assert people.alpha_nominal == pytest.approx(0.782703488372093, abs=1e-6)
    assert people.alpha_interval == pytest.approx(0.8739262870132303, abs=1e-6)
    assert [one.trusted(people.ceiling) for one in found.columns.values()] == [False] * 3


def test_within_the_models_alone_it_is_0_34(db: sqlite3.Connection) -> None:
    models = {name: rows for name, rows in squality().items() if name != "human"}
    assert only(word(db, models)).pooled.spearman == pytest.approx(0.3383663460479408, abs=1e-6)


def test_figures_are_in_the_shares_of_the_run(db: sqlite3.Connection) -> None:
    """Half of what is graded failed, though the judge fails but 10 of 100."""
    ungraded = [Rated(90, {})] * 70
    rated = [
        *said(90, "pass", 18),
        *said(90, "fail", 2),
        *said(10, "fail", 6),
        *said(10, "pass", 4),
        *ungraded,
    ]
    found = word(db, {"x": rated})
    one = only(found).columns[0]
    assert one.n == 30
    assert one.table == {
        (Verdict.PASS, Verdict.PASS): 18,
        (Verdict.PASS, Verdict.FAIL): 2,
        (Verdict.FAIL, Verdict.FAIL): 6,
        (Verdict.FAIL, Verdict.PASS): 4,
    }
    share = 0.9 * 18 / 20 + 0.1 * 6 / 10
    assert one.agreement == pytest.approx(share)
    n = (20 * 4.5 + 10) ** 2 / (20 * 4.5**2 + 10)
    assert one.interval == pytest.approx(wilson(share, n))
    corrected = found.corrected[0]
    expected = corrected_by_grades(90, 100, GradedShare(18, 20), GradedShare(4, 10))
    assert corrected == CorrectedPassRate("grades", expected.rate, expected.interval95, 30)


def test_all_agree_and_only_one_class(db: sqlite3.Connection) -> None:
    agreed = word(db, {"x": said(90, "pass", 20) + said(5, "fail", 15)})
    one = only(agreed).columns[0]
    assert (one.agreement, one.kappa) == (1.0, 1.0)
    assert one.kappa_interval is None
    assert one.trusted(None) is True
    alike = word(db, {"x": said(90, "pass", 40)})
    one = only(alike).columns[0]
    assert (one.agreement, one.kappa, one.trusted(None)) == (1.0, None, None)
    assert alike.corrected[0].why == (
        "graded 40 that the judge passed, 0 it failed; 30 with 10 of each are needed"
    )


def test_who_agrees_with_people_that_do_not_agree_is_not_trusted(db: sqlite3.Connection) -> None:
    def of(judge: float, anna: str, berta: str, n: int) -> list[Rated]:
        return [Rated(judge, {"anna": anna, "berta": berta})] * n

    rated = [
        *of(90, "pass", "pass", 12),
        *of(90, "pass", "fail", 8),
        *of(10, "fail", "fail", 12),
        *of(10, "fail", "pass", 8),
    ]
    found = only(word(db, {"x": rated, "y": [*said(90, "fail", 20), *said(10, "pass", 20)]}))
    ceiling = found.people.ceiling
    assert ceiling is not None
    assert ceiling < 0.3
    assert found.columns[0].kappa == 1.0
    assert [one.trusted(ceiling) for one in found.columns.values()] == [None, False]
    assert found.columns[0].trusted(0.7) is True
    assert "; too little" in " ".join(people_lines(found.people))


def test_twenty_are_too_few_to_say(db: sqlite3.Connection) -> None:
    found = word(db, {"x": said(90, 80, 10) + said(10, 20, 10)})
    one = only(found).columns[0]
    assert (one.n, one.why, one.trusted(None)) == (20, "too few to say (under 30)", None)
    assert found.corrected[0].rate is None


def test_what_nobody_could_tell_or_the_judge_left_is_in_no_figure(db: sqlite3.Connection) -> None:
    rated = said(90, "pass", 3) + said(90, None, 2) + [Rated(None, {"anna": "pass"})]
    one = only(word(db, {"x": rated, "y": said(20, None)}))
    assert (one.columns[0].n, one.columns[0].cannot_tell) == (3, 2)
    assert (one.columns[1].n, one.columns[1].cannot_tell) == (0, 1)
    assert one.pooled.why == "too few to say (under 30); none of 1 that it failed is graded"


def test_another_threshold_makes_other_verdicts_of_the_same_grades(db: sqlite3.Connection) -> None:
    rated = said(90, 60, 3)
    scorer = {"kind": "judge", "name": "good", "rubric": "Is it?", "scale": [0, 100],
              "judge": ["j"]}  # fmt: skip
    assert only(word(db, {"x": rated}, scorers=[scorer])).pooled.agreement == 1
    strict = only(word(db, {"x": rated}, scorers=[{**scorer, "pass_at": 70}]))
    assert strict.pooled.agreement == 0


def test_gold_corrects_where_too_little_is_graded(db: sqlite3.Connection) -> None:
    made = rated_run(db, {"x": [Rated(90, {})] * 70 + [Rated(10, {})] * 30})
    gold = GoldAgreement(100, 0, 0.85, 0.77, 0.9, 0.7, None, None, table=(45, 10, 5, 40))
    key = b"k" * 32
    do(db, lambda tx: measured_judges.write_measure(tx, made.run, "good", "j", key, gold))
    found = peoples_word(db, made.run).corrected[0]
    expected = corrected_by_gold(0.7, 100, GradedShare(45, 50), GradedShare(40, 50))
    assert expected is not None
    assert found == CorrectedPassRate("gold", expected.rate, expected.interval95, 100)


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({}, None),
        ({"run": {"reduce": "pass@1", "epochs": 1}}, None),
    ],
)
def test_the_document_has_the_very_figures(
    db: sqlite3.Connection, changes: dict[str, Any], why: str | None
) -> None:
    rated = said(90, "pass", 25) + said(10, "fail", 15)
    made = rated_run(db, {"x": rated, "y": [Rated(90, {})]}, **changes)
    found = peoples_word(db, made.run)
    whole = json.loads(json.dumps(document(db, made.run)))
    told = json.loads(
        json.dumps(agreement_document(found.scorers, run_queries.columns(db, made.run)))
    )
    corrected = whole["targets"]["x"]["corrected"]
    assert corrected == told["scorers"]["good"]["columns"]["x"]["corrected"]
    assert (corrected["by"], corrected["n"], corrected["why"]) == ("grades", 40, why)
    assert whole["targets"]["y"]["corrected"]["why"] == "nobody has graded its outputs"
    assert told["scorers"]["good"]["judge"] == "j"
    assert set(told["scorers"]["good"]["people"]) == {
        "n", "kappa", "alpha_nominal", "alpha_interval",
    }  # fmt: skip


def test_outputs_drawn_by_earlier_verdicts_are_told(db: sqlite3.Connection) -> None:
    """A judge that says otherwise now was given half of what it failed then, and not of now."""
    made = rated_run(db, {"x": said(90, "pass", 20) + said(10, "fail", 20)})
    assert only(peoples_word(db, made.run)).columns[0].why is None
    assert peoples_word(db, made.run).corrected[0].known

    def rescore(tx: Tx) -> None:
        tx.now += 1
        for trial, verdict in zip(made.trials, [True] * 25 + [False] * 15, strict=True):
            score = Score("good", Grade.of(verdict, "so it is"), source="judge")
            score_writes.add_scores(tx, trial, [score], fresh=True)

    do(db, rescore)
    one = only(peoples_word(db, made.run)).columns[0]
    assert one.table[Verdict.PASS, Verdict.FAIL] == 5
    assert one.why is not None
    assert "drawn by earlier verdicts: of 5 it said otherwise then" in one.why
    corrected = peoples_word(db, made.run).corrected[0]
    assert (corrected.rate, corrected.n) == (None, 40)
    assert corrected.why == "of 5 graded outputs the judge says otherwise now: grade anew"


def test_epochs_of_a_case_are_no_further_cases(db: sqlite3.Connection) -> None:
    """Asked four times of ten cases, people said the same of each time."""
    rated = [
        one for n in range(20) for one in said(90 if n % 2 else 10, ("pass", "fail")[n < 9], 4)
    ]
    alone, cases = (word(db, {"x": rated}, epochs=epochs).corrected[0] for epochs in (1, 4))
    assert alone.rate == cases.rate
    assert width(cases) > 1.8 * width(alone)


def test_cases_of_a_cluster_are_no_further_clusters(db: sqlite3.Connection) -> None:
    rated = [
        one for n in range(20) for one in said(90 if n % 2 else 10, ("pass", "fail")[n < 9], 4)
    ]
    alone = word(db, {"x": rated}).corrected[0]
    db.execute("UPDATE cases SET data = json_set(data, '$.fields.passage', seq / 4)")
    made = rated_run(db, {"x": rated}, dataset={"path": "x.jsonl", "cluster": "passage"})
    db.execute("UPDATE cases SET data = json_set(data, '$.fields.passage', seq / 4)")
    assert width(peoples_word(db, made.run).corrected[0]) > 1.8 * width(alone)
    db.execute("UPDATE cases SET data = json_set(data, '$.fields.passage', 'the only one')")
    assert (
        peoples_word(db, made.run).corrected[0].why
        == "all outputs are of one cluster, or of one case"
    )


def width(of: CorrectedPassRate) -> float:
    assert of.interval is not None, of.why
    return of.interval[1] - of.interval[0]


def test_outputs_that_somebody_chose_are_told_where_too_few_were_drawn(
    db: sqlite3.Connection,
) -> None:
    def of(seed: int | None, n: int) -> list[Rated]:
        return [
            *([Rated(90, {"anna": "pass"}, seed)] * n),
            *([Rated(10, {"anna": "fail"}, seed)] * n),
        ]

    rest = [Rated(90, {})] * 30
    chosen = word(db, {"x": [*of(None, 15), *rest]}).corrected[0]
    assert (chosen.known, chosen.n, chosen.chosen) == (True, 30, 30)
    assert corrected_line(chosen).endswith(
        "by 30 grades; all of the 30 graded were not drawn here: right if chosen by chance"
    )
    both = word(db, {"x": [*of(None, 15), *of(1, 15), *rest]}).corrected[0]
    assert (both.n, both.chosen) == (30, 0)
    few = word(db, {"x": [*of(None, 15), *of(1, 10), *rest]}).corrected[0]
    assert (few.n, few.chosen) == (50, 30)
    assert "; 30 of the 50 graded were not drawn" in corrected_line(few)
    whole = word(db, {"x": of(None, 15)}).corrected[0]
    assert (whole.n, whole.chosen) == (30, 0)  # each output is graded: none stands for others
