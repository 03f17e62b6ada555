"""What a person is asked, and what is remembered of it, on the command line."""

import json
import shutil
import sqlite3

import pytest

from tests.cli.conftest import Beside, Command, Place
from tests.servers.fake_model import FakeModel

KEY = "sk-of-this-test-0001"


@pytest.fixture
def keen(place: Place) -> str:
    """A suite that reads outside its folder; it asks nobody."""
    own = place.folder / "own"
    own.mkdir()
    name = place.suite(n=2, name="own/keen.toml")
    (place.folder / "shared.md").write_text("{{ question }}")
    text = (own / "keen.toml").read_text()
    (own / "keen.toml").write_text(
        text.replace('user = "{{ question }}"', 'user_file = "../shared.md"')
    )
    return name


def asking(place: Place, base_url: str, key: str = "OPENAI_API_KEY") -> str:
    """A suite that sends a key."""
    name = place.asking(base_url, n=2)
    file = place.folder / name
    file.write_text(
        file.read_text().replace('model = "fake', f'api_key_env = "{key}"\nmodel = "fake')
    )
    return name


def test_without_trust_nothing_is_started(place: Place, keen: str, tui_eval: Command) -> None:
    done = tui_eval("run", keen)
    assert (done.code, done.out) == (2, "")
    assert "wants to read ../shared.md outside the suite's folder" in done.err
    assert "tui-eval trust add" in done.err and "--trust" in done.err
    assert not place.store.exists()


def test_trust_on_the_command_line_is_for_one_run(
    place: Place, keen: str, tui_eval: Command
) -> None:
    assert tui_eval("run", keen, "--trust").code in (0, 1)
    assert tui_eval("run", keen).code == 2
    listed = tui_eval("trust", "list", "--json")
    assert json.loads(listed.out)["suites"] == []


def test_what_was_added_runs_until_it_changes(place: Place, keen: str, tui_eval: Command) -> None:
    added = tui_eval("trust", "add", keen)
    assert added.code == 0
    assert "read ../shared.md outside the suite's folder" in added.out
    assert tui_eval("run", keen).code in (0, 1)
    (place.folder / "shared.md").write_text("What is {{ question }}")
    done = tui_eval("run", keen)
    assert done.code == 2
    assert "whose content has changed" in done.err
    shown = tui_eval("trust", "show", keen)
    assert shown.code == 0
    assert "changed  read ../shared.md outside the suite's folder, whose content" in shown.out
    assert tui_eval("trust", "add", keen).code == 0
    assert tui_eval("run", keen).code in (0, 1)


def test_a_change_of_wording_asks_nothing(place: Place, keen: str, tui_eval: Command) -> None:
    tui_eval("trust", "add", keen)
    file = place.folder / keen
    file.write_text(f'description = "in other words"\n{file.read_text()}')
    assert tui_eval("run", keen).code in (0, 1)


def test_another_host_is_asked_for_and_the_old_one_is_gone(place: Place, tui_eval: Command) -> None:
    name = asking(place, "https://me.example/v1")
    tui_eval("trust", "add", name)
    file = place.folder / name
    file.write_text(file.read_text().replace("me.example", "you.example"))
    shown = json.loads(tui_eval("trust", "show", name, "--json").out)
    assert [(one["does"], one["standing"]) for one in shown["wishes"]] == [
        ("send OPENAI_API_KEY to host you.example", "new")
    ]
    assert [one["does"] for one in shown["gone"]] == ["send OPENAI_API_KEY to host me.example"]
    assert (shown["trusted"], shown["complete"]) == (False, True)
    text = tui_eval("trust", "show", name).out
    assert "  gone     send OPENAI_API_KEY to host me.example" in text


def test_a_folder_is_trusted_as_a_whole(place: Place, keen: str, tui_eval: Command) -> None:
    assert "every suite in it" in tui_eval("trust", "add", "own").out
    assert tui_eval("run", keen).code in (0, 1)
    assert "trusted as a whole" in tui_eval("trust", "show", keen).out
    assert f"folder {place.folder / 'own'}" in tui_eval("trust", "list").out
    assert tui_eval("trust", "remove", "own").code == 0
    assert tui_eval("run", keen).code == 2


def test_what_an_include_wants_is_trusted_in_a_second_step(place: Place, tui_eval: Command) -> None:
    own = place.folder / "own"
    own.mkdir()
    (place.folder / "more.toml").write_text(
        '[[targets]]\nname = "away"\nmodel = "m"\nbase_url = "https://me.example/v1"\n'
        'api_key_env = "MY_KEY"\n'
    )
    name = place.suite(name="own/s.toml", n=1)
    (place.folder / name).write_text(
        f'include = ["../more.toml"]\n{(place.folder / name).read_text()}'
    )
    assert "it may want more" in tui_eval("trust", "show", name).out
    first = tui_eval("trust", "add", name)
    assert first.code == 2
    assert "send MY_KEY to host me.example" in first.err
    assert "send MY_KEY" not in first.out
    second = tui_eval("trust", "add", name)
    assert second.code == 0
    assert "send MY_KEY to host me.example" in second.out


def test_what_wants_nothing_needs_no_trust(place: Place, tui_eval: Command) -> None:
    name = place.suite()
    assert "wants nothing that needs trust" in tui_eval("trust", "show", name).out
    assert tui_eval("trust", "add", name).code == 0
    assert json.loads(tui_eval("trust", "list", "--json").out)["suites"] == []


def test_nothing_is_listed_where_nothing_is_trusted(tui_eval: Command) -> None:
    done = tui_eval("trust", "list")
    assert (done.code, done.out) == (0, "")
    assert "nothing is trusted" in done.err


def test_what_is_not_trusted_cannot_be_removed(place: Place, tui_eval: Command) -> None:
    done = tui_eval("trust", "remove", "nothing.toml")
    assert (done.code, done.out) == (2, "")
    assert "nothing.toml is not trusted" in done.err


def test_a_folder_everybody_writes_to_is_refused(place: Place, tui_eval: Command) -> None:
    shared = place.folder / "shared"
    shared.mkdir()
    shared.chmod(0o777)
    done = tui_eval("trust", "add", "shared")
    assert done.code == 2
    assert "can be written to by everybody" in done.err


def test_a_damaged_record_stops_only_what_needs_it(
    place: Place, keen: str, tui_eval: Command
) -> None:
    tui_eval("trust", "add", keen)
    (place.folder / "config" / "trust.json").write_text("{")
    done = tui_eval("run", keen)
    assert done.code == 2
    assert "trust.json: is damaged; mend it or remove it" in done.err
    assert tui_eval("trust", "list").code == 2
    assert tui_eval("run", place.suite()).code in (0, 1)


def test_the_group_alone_says_what_there_is(tui_eval: Command) -> None:
    done = tui_eval("trust")
    assert done.code == 2
    assert "remove" in done.err


def test_check_names_a_permission_and_goes_on(place: Place, tui_eval: Command) -> None:
    name = asking(place, "https://me.example/v1", "MY_KEY")
    done = tui_eval("check", name)
    assert done.code == 0
    assert "needs trust: wants to send MY_KEY to host me.example" in done.out
    (document,) = json.loads(tui_eval("check", name, "--json").out)
    assert document["valid"] is True
    assert document["needs_trust"] == ["send MY_KEY to host me.example"]


def test_check_does_not_judge_what_it_may_not_read(keen: str, tui_eval: Command) -> None:
    done = tui_eval("check", keen, "--json")
    assert done.code == 2
    (document,) = json.loads(done.out)
    assert document["valid"] is None
    assert document["needs_trust"] == ["read ../shared.md outside the suite's folder"]


def test_scorers_of_an_edited_suite_need_no_trust_for_its_keys(
    place: Place, tui_eval: Command
) -> None:
    tui_eval("run", place.suite())
    name = asking(place, "https://me.example/v1", "MY_KEY")
    assert tui_eval("rescore", "last", "--suite", name).code in (0, 1)


async def test_the_users_own_binding_sends_the_key_unasked(
    place: Place, beside: Beside, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("MY_KEY", KEY)
    (place.folder / "config").mkdir()
    config = place.folder / "config" / "config.toml"
    async with FakeModel() as server:
        name = asking(place, server.base_url, "MY_KEY")
        config.write_text('[keys]\nMY_KEY = ["elsewhere.example"]\n')
        refused = await beside("run", name)
        assert refused.code == 2
        assert "send MY_KEY to host 127.0.0.1" in refused.err
        assert server.requests == 0
        config.write_text('[keys]\nMY_KEY = ["127.0.0.1"]\n')
        done = await beside("run", name)
        assert done.code in (0, 1)
        assert server.calls[0].headers["authorization"] == f"Bearer {KEY}"


# --- runs that come with somebody else's store


@pytest.fixture
def own_key(place: Place, monkeypatch: pytest.MonkeyPatch) -> None:
    """Have a key, in this process and in those that are started."""
    monkeypatch.setenv("OPENAI_API_KEY", KEY)
    place.environment["OPENAI_API_KEY"] = KEY


async def half_done(place: Place, server: FakeModel, beside: Beside) -> str:
    """Make a run that was trusted once and has errors; give its name."""
    name = asking(place, server.base_url)
    done = await beside("run", name, "--trust", "--json")
    assert done.code in (0, 1), done.err
    return str(json.loads(done.out)["run"])


@pytest.mark.usefixtures("own_key")
async def test_a_run_that_was_trusted_here_is_taken_up_unasked(
    place: Place, beside: Beside
) -> None:
    async with FakeModel() as server:
        run = await half_done(place, server, beside)
        done = await beside("retry", run, "--case", "case-0")
    assert done.code in (0, 1), done.err
    assert server.requests == 3


@pytest.mark.usefixtures("own_key")
@pytest.mark.parametrize("command", [["resume"], ["retry", "--case", "case-0"], ["rescore"]])
async def test_a_run_of_somebody_else_sends_no_key(
    place: Place, command: list[str], beside: Beside
) -> None:
    async with FakeModel() as server:
        run = await half_done(place, server, beside)
        shutil.rmtree(place.folder / "config")  # somebody who never trusted it
        done = await beside(*command, run)
        assert done.code == 2
        assert "not trusted to send OPENAI_API_KEY to host 127.0.0.1" in done.err
        assert server.requests == 2
        trusted = await beside(*command, run, "--trust")
        assert trusted.code in (0, 1), trusted.err
        again = await beside(*command, run)
        assert again.code in (0, 1), again.err


@pytest.mark.usefixtures("own_key")
async def test_a_background_engine_asks_nobody_for_a_run_it_does_not_trust(
    place: Place, beside: Beside
) -> None:
    async with FakeModel() as server:
        run = await half_done(place, server, beside)
        shutil.rmtree(place.folder / "config")
        with sqlite3.connect(place.store) as db:
            db.execute("UPDATE trials SET state = 'queued'")
            db.execute("UPDATE runs SET state = 'interrupted'")
        done = await (await place.start("engine", run)).ended()
        assert done.code == 0
        assert "not trusted to send OPENAI_API_KEY" in done.err
        assert server.requests == 2
    with sqlite3.connect(place.store) as db:
        assert db.execute("SELECT stopped_by, lease_pid FROM runs").fetchall() == [("trust", None)]


def test_a_suite_in_a_store_cannot_move_its_folder(place: Place, tui_eval: Command) -> None:
    """A run whose data is still to be read reads it only where it was made."""
    (place.folder / "secret.csv").write_text("id,text\n1,of mine\n")
    own = place.folder / "own"
    own.mkdir()
    (own / "d.csv").write_text("id,question,answer\n1,2,3\n")
    name = place.suite(name="own/s.toml", n=0, more='[dataset]\npath = "d.csv"')
    assert tui_eval("run", name).code in (0, 1)
    with sqlite3.connect(place.store) as db:
        (spec,) = db.execute("SELECT spec FROM runs").fetchone()
        forged = json.loads(spec)
        forged["file"] = str(place.folder / "s.toml")
        forged["dataset"]["path"] = str(place.folder / "secret.csv")
        db.execute("DELETE FROM trials")
        db.execute(
            "UPDATE runs SET spec = ?, staged = 0, state = 'interrupted'", (json.dumps(forged),)
        )
    done = tui_eval("resume", "last")
    assert done.code == 2
    assert "secret.csv for a run that was not made here" in done.err
