"""Card files of one's own: what they may say, and what is refused with its place named."""

from __future__ import annotations

import pytest

import games
from engine_ext.errors import DataError
from engine_ext.rng import Stream

SPEC = games.spec("quarriors")
CARD = '[[card]]\nname = "{name}"\nclass = "{die}"\ncost = 3\nprovenance = "reconstructed"\n{more}\n'
DIE = (
    '[[die]]\nclass = "{name}"\nkind = "{kind}"\ncount = 5\nprovenance = "reconstructed"\n'
    "faces = [{{ quiddity = 1 }}, {{ quiddity = 1 }}, {{ quiddity = 2 }}, {{ quiddity = 2 }}, {face}, {face}]\n"
)


@pytest.fixture
def rules(tmp_path):
    """Rules with a set file of this content."""

    def make(content, **parameters):
        path = tmp_path / "set.toml"
        path.write_text(f'set = "mine"\n{content}')
        return SPEC.make_rules({"data": str(path), **parameters})

    return make


def effects(*texts):
    return f"effects = [{', '.join(texts)}]"


@pytest.mark.parametrize(
    ("die", "effect", "says"),
    [
        ("Witching Hag", 'on = "static", do = "surcharge", n = 1, target = "self"', "no use for the key 'target'"),
        ("Witching Hag", 'on = "score", do = "glory", n = 1, until = "turn"', "no use for the key 'until'"),
        ("Witching Hag", 'on = "score", do = "discount", n = 1, flavour = "light"', "no use for the key 'flavour'"),
        ("Witching Hag", 'on = "static", do = "attack", n = 1, color = 3', "no use for the key 'color'"),
        ("Witching Hag", 'on = "destroyed", do = "redirect", to = "pool", target = "all"', "target is 'all'"),
        ("Witching Hag", 'on = "score", do = "glory", n = true', "n is True"),
        ("Witching Hag", 'on = "static", do = "summonlimit", n = 0', "from 1 to 12"),
        ("Witching Hag", 'on = "static", do = "defense", n = 1, when = "often"', "when is 'often'"),
        ("Death", 'on = "cast", do = "attack", n = 1, until = "dawn"', "until is 'dawn'"),
        ("Death", 'on = "cast", do = "attack", n = 1, target = "everybody"', "target is 'everybody'"),
        ("Death", 'on = "cast", do = "cull", n = 1, then = 1', "then is 1, must be true or false"),
        ("Death", 'on = "cast", do = "cull", n = 1, then = true', "no step stands before it"),
        ("Death", 'on = "cast", do = "glory", n = 2, when = "after_attack"', "here n is a number"),
        ("Death", 'on = "attached", do = "attack", n = 2, target = "self"', "target is 'self'"),
        ("Death", 'on = "face", face = "spell", do = "reroll", itself = "yes"', "itself is 'yes'"),
        # what never happens with this die
        ("Witching Hag", 'on = "cast", do = "glory", n = 1', "'cast' needs a face with a spell icon"),
        ("Death", 'on = "score", do = "glory", n = 1', "'score' needs a face with a creature icon"),
        ("Death", 'on = "locked", do = "glory", n = 1', "'locked' needs a face with a Lock symbol"),
        ("Witching Hag", 'on = "face", face = "draw", do = "quiddity", n = 1', "needs a face with the symbol 'draw'"),
        ("Witching Hag", 'on = "score", burst = "**", do = "glory", n = 1', "creature icon with burst '\\*\\*'"),
    ],
)
def test_an_effect_that_says_something_in_vain_is_refused(die, effect, says, rules):
    with pytest.raises(DataError, match=rf"set\.toml: .*'Odd'.*effect 0.*{says}"):
        rules(CARD.format(name="Odd", die=die, more=effects("{ " + effect + " }")))


def test_two_cards_of_one_name_are_refused_even_if_a_die_has_it_too(rules):
    for name in ("Odd", "Witching Hag"):
        card = CARD.format(name=name, die="Witching Hag", more="")
        with pytest.raises(DataError, match=f"the card '{name}' stands there twice"):
            rules(card + card)


@pytest.mark.parametrize("face", ["{ level = 1, attack = 2 }", "{ level = 1, defense = 2 }", "{ level = 1 }"])
def test_a_creature_face_has_attack_and_defence(face, rules):
    with pytest.raises(DataError, match="needs level, attack and defense"):
        rules(DIE.format(name="Newt", kind="creature", face=face))


@pytest.mark.parametrize(
    ("kind", "face", "says"),
    [
        ("creature", "{ quiddity = 3 }", "no face shows the creature icon"),
        ("creature", "{ spell = true }", "no face shows the creature icon"),
        ("spell", "{ quiddity = 3 }", "no face shows the spell icon"),
        ("spell", "{ level = 1, attack = 1, defense = 1 }", "no face shows the spell icon"),
    ],
)
def test_a_die_shows_what_its_kind_says(kind, face, says, rules):
    with pytest.raises(DataError, match=f"'Newt': kind is '{kind}', but {says}"):
        rules(DIE.format(name="Newt", kind=kind, face=face))


def test_large_dice_have_no_card(rules):
    with pytest.raises(DataError, match="'Quiddity \\(large\\)' is a class of large dice, which have no card"):
        rules(CARD.format(name="Odd", die="Quiddity (large)", more=""), edition="light_vs_dark")


def test_anchored_spells_stand_on_creature_cards_and_are_cast(rules):
    anchored = 'anchored = {{ cost = 1, flavour = "light", effects = [{{ on = "{on}", do = "glory", n = 1 }}] }}'
    with pytest.raises(DataError, match="'Odd': an Anchored Spell stands on creature cards only"):
        rules(CARD.format(name="Odd", die="Death", more=anchored.format(on="cast")))
    with pytest.raises(DataError, match="'Odd', anchored effect 0: on is 'score'"):
        rules(CARD.format(name="Odd", die="Witching Hag", more=anchored.format(on="score")))


def test_a_card_of_ones_own_is_played_to_the_end(rules):
    """The made-up card is dealt, bought and scored in games of the rule of thumb, and looked up."""
    own = rules(
        CARD.format(
            name="Odd", die="Witching Hag", more='glory = 4\neffects = [{ on = "score", do = "glory", n = 1 }]'
        ),
        wilds="Odd",
    )
    stream, scored = Stream(2), False
    position = own.initial_position()
    while not position.is_terminal():
        chance = position.is_chance_node()
        before = [seat["glory"] for seat in position.to_dict()["players"]]
        position.apply_action(position.sample(stream) if chance else position.suggest(stream))
        after = [seat["glory"] for seat in position.to_dict()["players"]]
        scored |= any(now - then >= 5 for then, now in zip(before, after, strict=True))
    assert scored
    known = SPEC.look_up(position, 0)["Odd"]
    assert "when it scores: +1 Glory" in known
    assert "reconstructed" in known
