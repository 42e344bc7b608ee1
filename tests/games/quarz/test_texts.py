"""Cards, powers and options say what they do, as the rules and the machine have it."""

from __future__ import annotations

import pytest

from engine_ext.position import Position
from games.quarz.cards import Card, Monster
from games.quarz.texts import describe_bonus, describe_effects, describe_play, describe_time
from tests.games.quarz.test_cases import choices, position_of, rules_for
from tests.games.quarz.test_words import SPEC, words

CONTENT = rules_for().content
MONSTERS = {monster.name: monster for monster in CONTENT.monsters}


def card(monster: str, label: str) -> Card:
    return MONSTERS[monster].cards[MONSTERS[monster].card_number(label)]


def powers(monster: Monster) -> dict[str, str]:
    """Each power of its slots and munched cards with its words."""
    bonuses = [monster.slot2, monster.slot3, *(each.munch.keep for each in monster.cards)]
    return {key: describe_bonus({key: True}) for bonus in bonuses for key, value in bonus.items() if value is True}


@pytest.mark.parametrize("name", ["Creepy Curtain", "Judo Jellyfish", "Globe Golem"])
def test_a_lift_over_walls_is_for_a_friend(name: str) -> None:
    """Rule 105, Q1, Q2: an adjacent monster of the mob ignores one wall; the monster itself does not. (The machine:
    cases "power wall_step".)"""
    text = powers(MONSTERS[name])["wall_step"]
    assert text.startswith("lets a friend cross one crystal wall")
    assert text in SPEC.look_up(mob_of(name), 0)[name]


@pytest.mark.parametrize("name", ["Soda Squid", "Calcu Bot", "Tennis Snake"])
def test_a_view_over_walls_is_for_a_friend(name: str) -> None:
    """Rule 105, Q1: an adjacent monster of the mob ignores walls when it shoots."""
    text = powers(MONSTERS[name])["wall_shot"]
    assert text == "lets a friend next to it shoot past crystal"
    assert text in SPEC.look_up(mob_of(name), 0)[name]


def mob_of(name: str) -> Position:
    """A position in which a monster fights for seat 0."""
    mob = MONSTERS[name].mob
    other = next(each for each in CONTENT.mobs if each != mob)
    return position_of(rules_for(), {"P1": {"mob": mob}, "P2": {"mob": other}, "P1.1": {"name": name}})


@pytest.mark.parametrize("name", sorted(MONSTERS))
def test_what_is_melted_is_an_impassable_field(name: str) -> None:
    """Rules 118, 119: the power is given up for good, and an impassable field becomes a floe."""
    text = SPEC.look_up(mob_of(name), 0)[name]
    if MONSTERS[name].slot3.get("second_shrine"):
        assert "give that up for good to melt an impassable field into a floe" in text
    assert "melt ice" not in text


def test_the_shrine_of_movement_says_what_it_ignores() -> None:
    """Rule 116, Q55: water and walls, not what nobody enters; with the idol 1."""
    shrine = next(shrine for shrine in CONTENT.shrines if shrine.name == "Shrine of Movement")
    assert describe_effects(shrine.effects) == "moves any monster up to 2 (with the idol 1), across water and crystal"
    for each in CONTENT.monsters:
        assert "everything" not in " ".join(describe_effects(one.effects) for one in each.cards)


@pytest.mark.parametrize(
    ("monster", "label", "says"),
    [
        ("Mummified Pencil", "Curse of the Tomb/1", "when it or another of its mob is attacked: "),
        ("Calcu Bot", "Error Correction/1", "when it or another of its mob is attacked: "),
        ("Trash Bin", "Slammed Lid/1", "when attacked: makes the attack do 2 less"),
        ("Chili Ninja", "Burning Reflex/1", "when hurt by another monster: "),
        ("Soda Squid", "Bubble Burst/1", "when an enemy has moved beside it: "),
        (
            "Bookworm",
            "Footnote/1",
            "in its mob's turn, between actions or after the last: adds 1 to its attacks of this turn",
        ),
        ("Lab Rat", "Squeak/1", "when attacked: moves up to 1, and out of reach the attack fails"),
        # rule 55: a carrier moves 1 unless the card says otherwise
        ("Cheese Fly", "Fly Away", "moves up to 3 (with the idol 2), across water and crystal"),
        ("Cheese Fly", "Buzz Off/1", "moves up to 3 (with the idol 1), across water and crystal"),
        (
            "Skater Bunny",
            "Rabbit Hole/1",
            "jumps to a free field up to 2 away (with the idol 1), whatever lies between",
        ),
        ("Slime Alien", "Portal/1", "exchanges two of its mob, and the idol stays in its place"),  # rule 115
        ("Creepy Curtain", "Curtain Call", "lets each of its mob move up to 2 (with the idol 1)"),
        ("Cake Monster", "Frosting/1", "puts 2 frost on an enemy in sight"),
        (
            "Watering Can",
            "Flood",
            "strikes every enemy beside it for 2, then moves up to 2 (with the idol 1), across water",
        ),
    ],
)
def test_a_card_says_when_and_what(monster: str, label: str, says: str) -> None:
    text = describe_play(card(monster, label))
    assert text.startswith(says) if says.endswith(": ") else text == says


def test_every_instant_of_the_mob_says_so() -> None:
    for monster in CONTENT.monsters:
        for each in monster.cards:
            assert ("another of its mob" in describe_play(each)) == (each.scope == "mob"), each.label


def test_who_gains_is_the_monster_of_the_card() -> None:
    """After an effect on an enemy no word may be taken for the enemy's."""
    for monster in CONTENT.monsters:
        for each in monster.cards:
            for effects in (each.effects, each.munch.once):
                assert not describe_effects(effects).startswith("it "), each.label
                assert ", then it " not in describe_effects(effects), each.label


def test_time_tiles_say_whom_they_are_for() -> None:
    tiles = {tile.name: describe_time(tile) for tile in CONTENT.time_tiles}
    assert tiles["Picnic"] == "at the start of a turn all monsters of its mob recover 1"
    assert tiles["Restless Idol"] == "at the start of its mob's turn the idol's carrier loses 1"
    assert tiles["Sharp Claws"] == "attacks do 1 more, and as many more cards may block"  # rule 65


# ---- costs -------------------------------------------------------------------------------------------


def test_a_movement_says_what_it_costs_with_stun() -> None:
    """Rule 40, Q43: 1 energy, and 1 more for each stun token."""
    menu = words(position_of(rules_for(), {"P1.1": {"stun": 2}}))
    assert menu["move 1 (-1,2)"] == "Mummified Pencil moves to F1 for 3 energy, 2 of it for stun"
    assert menu["move 2 (-1,2)"] == "Watering Can moves to F1 for 1 energy"
    assert menu["march 2"].endswith("Watering Can pays 6 energy, 2 of it for stun")  # rule 80


def test_the_use_of_a_shrine_says_what_it_costs_now() -> None:
    """Rule 108: 2 energy; the time tile Open Gates takes 1 off."""
    for tile, cost in (("Picnic", 2), ("Open Gates", 1)):
        menu = words(position_of(rules_for(), {"P1.1": {"at": [2, 1]}, "time": {"tile": tile}}))
        assert f"({cost} energy, scores 1 point)" in menu["shrine 1"]


def test_a_draw_says_how_many_come() -> None:
    """Rules 81, 82, Q66: bonuses of slots and time tile add cards; a short pile gives what it has."""
    given = {"P1.1": {"draw": ["Wrapped Up/1", "Wrapped Up/2"], "removed": "rest"}, "time": {"tile": "Open Library"}}
    menu = words(position_of(rules_for(), given))
    assert menu["draw 1 1"] == "Mummified Pencil draws 1 card for 1 energy, and 1 more as a bonus"
    assert menu["draw 1 3"].endswith("draws 3 cards for 5 energy, and 1 more as a bonus (its pile has only 2)")


FREE = ("pass", "regenerate", "melt")


def test_every_action_that_costs_says_so() -> None:
    """Rules 40-124: all but ending, regenerating and melting takes energy."""
    given = {
        "P1.1": {"at": [1, 0], "hand": ["Push/Swap/1", "Wrapped Up/2", "Toilet Paper/1"]},
        "P1.2": {"at": [2, 1], "slots": ["Cold Shower/2", "Cold Shower/3", "Growth Spurt/2"], "energy": 5},
        "P2.1": {"at": [1, -1 + 2]},
    }
    position = position_of(rules_for(), given)
    menu = words(position)
    assert {"play 1 10", "swap 1 10", "munch 1 2", "shrine 2", "draw 1 1"} <= choices(position)
    for name, text in menu.items():
        said = text if name.startswith("march") else text.partition(": ")[0]  # after the colon stands what a card does
        assert (" energy" in said) == (not name.startswith(FREE)), text
    assert menu["melt 2 0"].startswith("Watering Can gives up its second use of shrines for good to melt")


def test_bringing_the_idol_home_says_that_it_wins() -> None:
    """Rule 56: the camp of seat 0 is (-1,3); the carrier stands beside it."""
    menu = words(position_of(rules_for(), {"P1.3": {"at": [-1, 2]}, "idol": [-1, 2]}))
    wins = {name for name, text in menu.items() if text.endswith(", and wins the game")}
    assert wins == {"move 3 (-1,3)"}


def wins(position: Position) -> dict[str, str]:
    """The options that say that they end the game, with what they say of it."""
    return {name: text.rpartition(", and ")[2] for name, text in words(position).items() if "wins the game" in text}


def after(position: Position, *names: str) -> Position:
    for name in names:
        position = position.child(position.string_to_action(name))
    return position


def test_every_way_that_brings_the_idol_home_says_so() -> None:
    """Rules 56, 91, 107, 116: swapped by a friend into the camp (-1,3), thrown into it, moved there by a shrine."""
    bin_ = {"P1.3": {"hand": ["Push/Swap/1"]}, "P1.1": {"at": [-1, 2]}, "idol": [-1, 2]}
    assert wins(position_of(rules_for(), bin_)) == {"move 1 (-1,3)": "wins the game", "swap 3 10": "wins the game"}
    squid = {"name": "Soda Squid", "at": [-1, 2], "hand": ["Push/Swap/1"]}
    squid["slots"] = ["Fizz Jet/2", "Fizz Jet/3", "Long Straw/2"]
    given = {"P1": {"mob": "Snack Mob"}, "P2": {"mob": "Horror Mob"}, "idol": [-1, 2], "P1.1": squid}
    thrown = after(position_of(rules_for(), given), "play 1 10", "choice 0")
    assert wins(thrown) == {"cell (-1,3)": "wins the game"}
    shrine = {"P1.2": {"at": [2, 1]}, "P1.1": {"at": [-1, 2]}, "idol": [-1, 2]}
    shrine["shrine_cards"] = ["Shrine of Movement", "Shrine of Trade"]
    moved = after(position_of(rules_for(), shrine), "shrine 2", "target P1.1")
    assert wins(moved) == {"cell (-1,3)": "wins the game"}


def test_who_drives_a_carrier_home_is_told_whom_that_wins_the_game_for() -> None:
    """Rules 76, 127: plain damage leaves the idol to the one knocked out, which stands beside its camp (2,-3)."""
    given = {
        "P1": {"mob": "Sport Mob"},
        "P1.3": {"at": [2, -1], "hand": ["Slime Ball/1"]},
        "P2.1": {"at": [2, -2], "energy": 1},
        "idol": [2, -2],
    }
    position = after(position_of(rules_for(), given), "play 3 4")
    assert wins(position) == {"cell (2,-3)": "wins the game for seat 1"}


def test_the_last_turn_says_so() -> None:
    """Rule 25: with one time tile left, 6 o'clock ends the game; two players' track has 12 spaces."""
    given = {"time": {"turns": 41, "left": 1, "tile": "Fury"}, "turn": 1}
    assert SPEC.ask(position_of(rules_for(), given)) == (
        "Your turn, the last of the game, 2 actions left: what do your monsters do?"
    )
    given = {"time": {"turns": 40, "left": 1, "tile": "Fury"}, "turn": 0}
    assert SPEC.ask(position_of(rules_for(), given)).startswith("Your turn, 2 actions left")


# ---- provenance --------------------------------------------------------------------------------------


def test_the_table_says_what_is_reconstructed() -> None:
    position = position_of(rules_for(), {})
    notes = SPEC.sections(position, 0)["notes"].plain
    assert notes.startswith("Reconstructed: the board, edges of tiles, figures of monsters, most cards, ")
    assert "shrines" not in notes  # the rule text has them


def test_mobs_boards_tiles_and_munch_effects_say_what_is_reconstructed() -> None:
    """The rule text names the Horror Mob and the Push/Swap cards, but no other mob, no board, and no edges of tiles."""
    known = SPEC.look_up(position_of(rules_for(), {"tiles": {"1,0": ["brook", 0]}}), 0)
    assert known["Snack Mob"].endswith("; its name is reconstructed")
    assert "reconstructed" not in known["Horror Mob"]
    assert known["Push/Swap/1"].endswith("; its munch effect is reconstructed")
    assert known["D3"].endswith("; board and tile pattern reconstructed")
    assert known["D1"].endswith("; board reconstructed")


def test_time_tiles_can_be_looked_up_before_they_lie_open() -> None:
    """Rules 20-24: all know which there are; only the stack's order is hidden."""
    given = {"time": {"turns": 13, "left": 3, "tile": "Cold Snap", "used": ["Picnic"]}, "turn": 1}
    known = SPEC.look_up(position_of(rules_for(), given), 0)
    assert known["time tile Cold Snap"].startswith("level 2, open now: water is no obstacle")
    assert known["time tile Picnic"].startswith("level 1, gone: ")
    assert known["time tile Fury"].startswith("level 3, not seen yet: ")
    assert len([name for name in known if name.startswith("time tile ")]) == 13  # rule 3
