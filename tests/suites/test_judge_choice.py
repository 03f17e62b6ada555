"""Who is asked for grades: judges by rubrics, the embedding by cosines."""

from pathlib import Path

import pytest

from tests.suites.writing import SMALL, loaded, told, write
from tui_eval.model.json import JsonObject
from tui_eval.suites.judge_choice import asked_judges, kinships
from tui_eval.suites.loading.suite_file import load, look_again
from tui_eval.suites.spec import EmbeddingSpec, Suite

ALIKE = '[[scorers]]\nkind = "similarity"\nmetric = "embedding"\nexpected = "{{ capital }}"\n'
EMBEDDING = '[embedding]\nprovider = "ollama"\nmodel = "nomic-embed-text"\n'
POLITE = '[[scorers]]\nkind = "judge"\nname = "polite"\nrequirements = ["It is polite"]\n'
JUDGE = '[judge]\nprovider = "ollama"\nmodel = "llama3.2"\n'


def test_an_embedding_is_asked_beside_the_only_judge(tmp_path: Path) -> None:
    suite = loaded(tmp_path, SMALL + ALIKE + EMBEDDING + POLITE + JUDGE)
    assert [(judge.name, judge.kind) for judge in suite.judges] == [
        ("judge", "model"),
        ("embedding", "embedding"),
    ]
    _, alike, polite = suite.scorers
    assert (alike.judges_named(), polite.judges_named()) == (("embedding",), ("judge",))
    assert asked_judges(suite) == {"judge", "embedding"}
    assert Suite.model_validate_json(suite.model_dump_json()) == suite


def test_an_embedding_favours_nobody_of_its_family(tmp_path: Path) -> None:
    target = '[[targets]]\nprovider = "ollama"\nmodel = "nomic-embed-chat"\n'
    assert not [*kinships(loaded(tmp_path, SMALL + target + ALIKE + EMBEDDING))]


def test_other_metrics_ask_nobody(tmp_path: Path) -> None:
    text = SMALL + ALIKE.replace('"embedding"', '"chrf"') + EMBEDDING
    assert not asked_judges(loaded(tmp_path, text + POLITE + JUDGE)) & {"embedding"}


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (ALIKE, "asks an embedding, and the suite has none; add [embedding] with a model"),
        (ALIKE + JUDGE, "asks an embedding, and the suite has none"),
        (POLITE + EMBEDDING, "asks a judge, and the suite has none"),
        (
            POLITE.replace("req", 'judge = "embedding"\nreq') + EMBEDDING + JUDGE,
            'no judge is called "embedding"',
        ),
        (ALIKE + EMBEDDING + 'name = "mine"\n', "embedding.name"),
        (ALIKE + EMBEDDING + "audit = 0.1\n", "is for judges that grade by a rubric"),
        (ALIKE + EMBEDDING + "temperature = 0\n", "write params = { temperature = … }"),
        (
            ALIKE + '[embedding]\nprovider = "local"\nmodel = "smollm2"\n',
            "the embedded model gives no vectors",
        ),
        (
            '[[judges]]\nkind = "embedding"\nmodel = "v"\nprovider = "ollama"\n',
            'judges[0].kind: unknown kind "embedding"; there are model, simulated',
        ),
        (
            '[[judges]]\nname = "embedding"\nmodel = "v"\nprovider = "ollama"\n',
            'there is a judge called "embedding" already',
        ),
        (ALIKE + EMBEDDING + 'tokenize = "zh"\n', "unknown key"),
        (ALIKE.replace("expected", 'tokenize = "zh"\nexpected') + EMBEDDING, "tokenize goes with"),
    ],
)
def test_what_does_not_go_together_is_told(tmp_path: Path, text: str, said: str) -> None:
    found = told(write(tmp_path, SMALL + text))
    assert any(said in one for one in found), found


def test_a_case_brings_a_similarity_by_embedding(tmp_path: Path) -> None:
    own: JsonObject = {"kind": "similarity", "metric": "embedding", "expected": "Paris"}
    data = '[dataset]\npath = "data.jsonl"\n' + SMALL[SMALL.index("[prompt]") :]
    row: JsonObject = {"country": "France", "capital": "Paris", "scorers": [own]}
    load(write(tmp_path, data + EMBEDDING, data_jsonl=[row]))


def test_its_fields_are_set_when_a_run_is_scored_again(tmp_path: Path) -> None:
    frozen = loaded(tmp_path, SMALL + ALIKE + EMBEDDING + POLITE + JUDGE)
    looked = look_again(frozen, {"embedding.model": "other", "judge.model": "big"}, trusted=True)
    assert looked.suite is not None
    judge, embedding = looked.suite.judges
    assert isinstance(embedding, EmbeddingSpec)
    assert (embedding.model, judge.asked_model()) == ("other", "big")
