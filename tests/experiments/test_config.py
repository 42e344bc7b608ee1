"""Experiment configs: what is wrong is named by file and key."""

from __future__ import annotations

import pytest

from engine_ext.errors import ConfigError, ResultsError
from experiments import config, report, run

GOOD = """
name = "trial"
seed = 7
[[arena]]
game = "pig"
bots = ["random", "greedy"]
deals = 10
"""


def prepared(text, tmp_path):
    path = tmp_path / "trial.toml"
    path.write_text(text)
    return run.prepare(config.read(path), str(path))


def test_games_and_bots_are_written_out_in_full(tmp_path):
    found = prepared(GOOD.replace("pig", "pig(goal=30)").replace('"greedy"', '" greedy ( ) "'), tmp_path).config
    assert found.arena[0].game == "quandary_pig(goal=30)"
    assert found.arena[0].bots == ["random", "greedy"]


def test_the_written_out_config_is_the_same_experiment(tmp_path):
    first = prepared(GOOD, tmp_path)
    again = prepared(report.to_toml(first.config), tmp_path)
    assert again.identity() == first.identity()


def test_a_file_that_is_missing_is_named_once(tmp_path):
    with pytest.raises(ConfigError) as caught:
        config.read(tmp_path / "none.toml")
    assert str(caught.value) == f"{tmp_path / 'none.toml'}: No such file or directory"


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ('"trial"', '"Trial run"', "name: "),
        ("seed = 7", "seed = -1", "seed: "),
        ("seed = 7", "sead = 7", "sead: this key is unknown; did you mean 'seed'?"),
        ("deals = 10", "deels = 10", "arena[1].deels: this key is unknown; did you mean 'deals'?"),
        (
            "deals = 10",
            "deals = 10\nzzz = 1",
            "arena[1].zzz: this key is unknown; allowed: game, bots, deals, sprt, title",
        ),
        ("seed = 7", "seed = 1.5", "seed: "),
        ("deals = 10", "", "arena[1].deals: this key is missing"),
        ('["random", "greedy"]', '["random", "random"]', "arena[1]: bots lists 'random' twice"),
        ('["random", "greedy"]', '["random", "greedily"]', "arena[1].bots[2]: "),
        ('["random", "greedy"]', '["random", "greedy(x=1)"]', "arena[1].bots[2]: "),
        ('"pig"', '"pigg"', "arena[1].game: "),
        ('"pig"', '"chess"', "arena[1].game: "),
        ("[[arena]]", "[[arenas]]", "arenas: this key is unknown"),
        ("[[arena]]", "[[arena", "trial.toml: "),
        ("[[arena]]", "[arena]", "arena: it must be [[arena]], in double brackets"),
        (GOOD, 'name = "empty"', "nothing to run"),
        ("seed = 7", "seed = 7\nseed = 8", "trial.toml: "),
        (
            '"trial"',
            '"../x"',
            "name: it must be lower-case letters, digits, '-' and '_', at most 64, a letter or digit",
        ),
        ('["random", "greedy"]', '"random"', "arena[1].bots: it must be a list, in brackets: [...], got 'random'"),
        ('["random", "greedy"]', "[]", "arena[1].bots: it must be a list that is not empty, got []"),
        ('["random", "greedy"]', "[1]", "arena[1].bots[1]: it must be text, in quotes, got 1"),
        ('"pig"', '""', "arena[1].game: it must be text that is not empty, got ''"),
        ("deals = 10", 'deals = "10"', "arena[1].deals: it must be a whole number, got '10'"),
        ("deals = 10", "deals = 0", "arena[1].deals: it must be 1 or more, got 0"),
        ("deals = 10", "deals = 1_000_000_000", "arena[1].deals: it must be 100,000,000 or less, got 1000000000"),
        ("deals = 10", "deals = 10\nsprt = 3", "arena[1].sprt: it must be a table of keys: { key = value }, got 3"),
        ("deals = 10", "deals = 10\nsprt = { alpha = 0.5 }", "arena[1].sprt.alpha: it must be below 0.5, got 0.5"),
        ("deals = 10", 'deals = 10\nsprt = { elo0 = "a" }', "arena[1].sprt.elo0: it must be a number, got 'a'"),
    ],
)
def test_a_wrong_key_or_value_is_named(old, new, says, tmp_path):
    assert old in GOOD
    with pytest.raises(ConfigError) as caught:
        prepared(GOOD.replace(old, new), tmp_path)
    assert says in str(caught.value)
    assert "trial.toml" in str(caught.value)


@pytest.mark.parametrize(
    ("key", "value"), [("measure", '"speed"'), ("unit", '"seconds"'), ("repeats", "0"), ("solvers", "[1]")]
)
def test_a_curve_is_refused_in_words_of_our_own(key, value, tmp_path):
    parts = {"game": '"kuhn"', "measure": '"induced"', "solvers": '["cfr"]', "budgets": "[1]", key: value}
    lines = "\n".join(f"{name} = {text}" for name, text in parts.items())
    with pytest.raises(ConfigError, match=rf"convergence\[1\]\.{key}.*: it must be ") as caught:
        prepared(f'name = "x"\n[[convergence]]\n{lines}\n', tmp_path)
    assert "nput" not in str(caught.value)


def test_a_bot_named_twice_under_two_names_plays_once(tmp_path):
    found = prepared(GOOD.replace('"greedy"', '"random()", "greedy"'), tmp_path)
    assert found.config.arena[0].bots == ["random", "greedy"]
    assert any("plays once" in note for note in found.notes)


def test_a_config_that_ships_is_found_by_name_and_a_missing_one_lists_them():
    with pytest.raises(ConfigError, match="configs that ship"):
        config.find("no-such-config")


def test_not_a_text_file(tmp_path):
    path = tmp_path / "binary.toml"
    path.write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ConfigError, match=r"binary\.toml"):
        config.read(path)


def test_only_the_name_of_a_config_that_ships_finds_it(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert config.find("quickstart") == config.find("quickstart.toml")
    for name in ("quickstart.json", "quickstart.toml.bak", "quickstart/"):
        with pytest.raises(ConfigError, match="no such file"):
            config.find(name)
    (tmp_path / "mine").mkdir()
    for name in ("mine", str(tmp_path)):
        with pytest.raises(ConfigError, match="is a folder"):
            config.find(name)


@pytest.mark.parametrize("path", sorted(config.find("quickstart").parent.glob("*.toml")), ids=lambda path: path.stem)
def test_every_config_that_ships_is_valid(path):
    run.prepare(config.read(path), str(path))


def test_a_config_of_a_windows_editor_is_read_and_one_that_is_no_text_is_refused_by_byte(tmp_path):
    text = 'name = "x"\r\n[[arena]]\r\ngame = "pig"\r\nbots = ["random"]\r\ndeals = 1\r\n'
    (tmp_path / "x.toml").write_bytes(b"\xef\xbb\xbf" + text.encode())
    assert config.read(tmp_path / "x.toml").name == "x"
    (tmp_path / "y.toml").write_bytes('title = "caf\xe9"'.encode("latin-1"))
    with pytest.raises(ConfigError, match=r"y\.toml: it must be UTF-8 text, and byte 13 \(0xe9, in line 1\)"):
        config.read(tmp_path / "y.toml")


def test_a_device_is_no_config():
    with pytest.raises(ConfigError, match="/dev/null is no ordinary file"):
        config.find("/dev/null")


def test_a_file_is_no_place_for_a_run(tmp_path):
    (tmp_path / "x.toml").write_text('name = "x"\n[[arena]]\ngame = "pig(goal=6)"\nbots = ["random"]\ndeals = 1\n')
    with pytest.raises(ResultsError, match=r"x\.toml is a file; a run needs a folder"):
        run.run(tmp_path / "x.toml", tmp_path / "x.toml")
