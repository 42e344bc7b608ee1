"""Terms: a game's folder says what its words mean, and `about` tells them with the rule."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

import games
from engine_ext.errors import DataError
from games import terms

DOCS = Path(__file__).resolve().parents[2] / "docs" / "games"
PARAMETERS = {"players": 2, "distinct": False}
GOOD = '[[term]]\nname = "sun"\ntext = "any number"\nrule = "rule 18"\n'


def written(folder: Path, text: str) -> Path:
    path = folder / "terms.toml"
    path.write_text(text, encoding="utf-8")
    return path


def test_a_game_without_a_file_has_no_terms(tmp_path):
    assert terms.read(tmp_path / "terms.toml", PARAMETERS) == []
    spec = games.spec("pig")
    assert spec.terms(spec.make_rules()) == {}


def test_a_term_is_read_with_its_rule_and_when_it_holds(tmp_path):
    found = terms.read(written(tmp_path, GOOD + "when = { players = [1, 3], distinct = true }\n"), PARAMETERS)
    assert [(term.name, term.text, term.rule) for term in found] == [("sun", "any number", "rule 18")]
    assert found[0].holds({"players": 3, "distinct": True})
    assert not found[0].holds({"players": 2, "distinct": True})
    assert not found[0].holds({"players": 3, "distinct": False})


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        ("[[term]]", "[[terms]]", "a list of"),
        ("[[term]]", "[[term", "terms.toml"),
        ('rule = "rule 18"\n', "", r"term\[1\]: the key 'rule' is missing"),
        ("text", "txt", "unknown key 'txt'"),
        ('"any number"', "3", "text must be a str"),
        ('"any number"', '""', "text must be a str, and not empty"),
        ('"rule 18"\n', '"rule 18"\nwhen = { seats = 2 }\n', "no parameter 'seats'"),
        ('"rule 18"\n', '"rule 18"\nwhen = { players = "two" }\n', "players must be of type int"),
    ],
)
def test_a_malformed_file_is_named(old, new, says, tmp_path):
    with pytest.raises(DataError, match=says):
        terms.read(written(tmp_path, GOOD.replace(old, new)), PARAMETERS)


@pytest.mark.parametrize("name", sorted(games.SPECS))
def test_the_rules_that_terms_name_are_there(name):
    """Numbers of rules and readings stand in the game's page of the docs or in its README."""
    spec = games.SPECS[name]
    readme = spec.folder / "README.md"
    pages = [page for page in (DOCS / f"{spec.folder.name}.md", readme) if page.exists()]
    text = "\n".join(page.read_text(encoding="utf-8") for page in pages)
    numbers = set(re.findall(r"\b([A-Z]\d+)\b", text))
    for letter, first, last in re.findall(r"\b([A-Z])(\d+)-[A-Z](\d+)\b", text):
        numbers |= {f"{letter}{n}" for n in range(int(first), int(last) + 1)}
    for term in spec._terms:
        assert set(re.findall(r"\b[A-Z]\d+\b", term.rule)) <= numbers, term.name
        assert not term.text.endswith("."), term.name


@pytest.mark.parametrize("name", ["pentaquest", "quarz"])
def test_terms_are_looked_up_beside_cards_and_pieces(name):
    spec = games.spec(name)
    rules = spec.make_rules()
    known = spec.look_up(rules.initial_position(), 0)
    assert spec.terms(rules)
    for term, text in spec.terms(rules).items():
        assert known[term].endswith(text)
        assert re.search(r"\(.+\)$", text), term


@pytest.mark.parametrize("term", ["stun", "idol", "floe", "shrine", "poison", "frost", "shield", "munch", "instant"])
def test_the_words_on_the_table_of_quarz_are_explained(term):
    assert term in games.spec("quarz").terms(games.spec("quarz").make_rules())


def test_which_text_counts_depends_on_the_game():
    """P12: by the original rules a failed turn costs a card; alone (rule 22) it loses the game."""
    spec = games.spec("pentaquest")
    alone, several, original = (
        spec.terms(spec.make_rules(given))["failed turn"]
        for given in ({}, {"players": 2}, {"players": 2, "original": True})
    )
    assert "the game is lost" in alone
    assert "costs" not in several
    assert "costs a card of the army" in original
