"""Which plugin a name stands for."""

import sys
from pathlib import Path

import pytest

from tests.plugins.installed import install, site
from tui_eval.plugins.lookup import (
    PluginError,
    PluginSort,
    all_plugins,
    find_plugin,
    is_plugin_name,
    worker_path,
)

__all__ = ["site"]


def test_a_name_is_a_distribution_and_its_own(site: Path) -> None:
    info = install(site, "acme-evals", "1.2", "scorer.even = acme_even", "target.even = acme_other")
    found = find_plugin(PluginSort.SCORER, "Acme_Evals.even")
    assert (found.distribution, found.module) == ("acme-evals 1.2", "acme_even")
    assert (found.place, found.record) == (str(site), info / "RECORD")
    assert find_plugin(PluginSort.TARGET, "acme-evals.even").module == "acme_other"
    names = ("acme.even", "zope.interface.x", "a-b.c_d", "even", "acme.", ".even", "a b.c", "1.5")
    assert [is_plugin_name(name) for name in names] == [True] * 3 + [False] * 5


@pytest.mark.parametrize(
    ("name", "mistake"),
    [
        ("none.even", 'no distribution is called "none"; install it where tui-eval is: '),
        ("acme.odd", 'acme has no scorer "odd"; it has scorer.code, scorer.even, scorer.twice'),
        ("acme.twice", 'acme has two scorers "twice": acme_a and acme_b; one of them has to go'),
        ("acme.code", "its entry point names no module, but 'os:system(1)'"),
        ("acme", '"acme" is no plugin; one is named DISTRIBUTION.NAME'),
    ],
)
def test_what_stands_for_none_or_for_several_is_a_mistake(
    site: Path, name: str, mistake: str
) -> None:
    points = ("even = acme_even", "twice = acme_a", "twice = acme_b", "code = os:system(1)")
    info = install(site)
    lines = "\n".join(f"scorer.{point}" for point in points)
    (info / "entry_points.txt").write_text(f"[tui_eval]\n{lines}\n")
    with pytest.raises(PluginError) as found:
        find_plugin(PluginSort.SCORER, name)
    assert str(found.value).startswith(mistake)


def test_a_distribution_that_is_installed_twice_is_a_mistake(
    site: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = tmp_path / "other"
    for folder in (site, other):
        folder.mkdir(exist_ok=True)
        install(folder, "acme", "1.0", "scorer.even = acme_even")
    monkeypatch.syspath_prepend(other)
    with pytest.raises(PluginError, match=f'"acme" is installed twice, in {other} and {site}'):
        find_plugin(PluginSort.SCORER, "acme.even")


def test_all_of_them_are_listed_with_what_is_wrong(site: Path) -> None:
    install(site, "acme", "1.0", "scorer.even = acme_even", "judge.odd = acme_odd")
    own = [one for one in all_plugins() if "acme" in str(one)]
    assert [str(one) if isinstance(one, PluginError) else one.name for one in own] == [
        "acme.odd: judge.odd is no scorer, target, importer, exporter",
        "acme.even",
    ]


def test_workers_do_not_look_into_the_current_folder(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", ["", str(tmp_path), "relative", "/usr/lib/python3"])
    path = worker_path()
    assert path[0] == "/usr/lib/python3"
    assert (Path(path[1]) / "tui_eval" / "plugins").is_dir()
    assert len(path) == 2
