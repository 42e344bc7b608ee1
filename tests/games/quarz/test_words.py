"""What Qu'arz says: questions, options and story, with figures from the data files."""

from __future__ import annotations

import random

import games
from engine_ext.position import Position
from games.words import Step
from tests.games.quarz.test_cases import position_of, rules_for

SPEC = games.spec("quarz")


def words(position: Position) -> dict[str, str]:
    """Name of an action to its words."""
    return {position.action_to_string(action): text for action, text in SPEC.options(position).items()}


def told(position: Position, *names: str, seat: int = 0, hidden: bool = False) -> list[tuple[int, str]]:
    steps = []
    for name in names:
        player = position.current_player()
        if player < 0:
            action = next(o for o, _ in position.chance_outcomes() if position.action_to_string(-1, o) == name)
        else:
            action = position.string_to_action(name)
        after = position.child(action)
        steps.append(Step(player, action, None if hidden else name, position, after))
        position = after
    return [(line.seat, line.text) for line in SPEC.tell(steps, seat)]


def test_a_turn_asks_what_the_monsters_do_and_ends_with_ending_it() -> None:
    """Trash Bin (damage 2, strikes) beside the Chili Ninja (energy 9)."""
    rules = rules_for()
    position = position_of(rules, {"P1.3": {"at": [1, 0]}, "P2.1": {"at": [1, 1]}})
    assert SPEC.ask(position) == "Your turn, 2 actions left: what do your monsters do?"
    menu = words(position)
    assert list(menu.values())[-1] == "end your turn, 2 actions unused"
    assert menu["attack 3 P2.1"] == "Trash Bin strikes Chili Ninja (seat 1) for 2 of its 9 energy (costs 2 energy)"
    assert menu["move 3 (0,0)"] == "Trash Bin moves to D2 (altar, the idol) for 1 energy"
    assert menu["draw 1 2"].startswith("Mummified Pencil draws 2 cards for 3 energy")


def test_after_the_last_action_the_question_says_what_is_left_and_doing_nothing_is_not_told() -> None:
    """Q27, Q91: melting is free; the Trash Bin has three filled slots."""
    given = {"actions": 1, "P1.3": {"slots": ["Recycle/2", "Recycle/3", "Stench/2"]}}
    position = position_of(rules_for(), given)
    for name in ("draw 1 1", "card 1"):
        seat = position.current_player()
        position = position.child(
            next(a for a in position.legal_actions() if position.action_to_string(seat, a) == name)
        )
    assert SPEC.ask(position).startswith("No action left; before your turn ends, ")
    assert words(position)["pass"] == "nothing more: end your turn"
    for seat in range(2):
        assert [line for line in told(position, "pass", seat=seat) if line[0] == 0] == []
        assert told(position, "melt 3 0", seat=seat)[0] == (0, "Trash Bin melted the impassable field E3")


def test_an_attack_is_told_with_its_damage() -> None:
    rules = rules_for()
    position = position_of(rules, {"P1.3": {"at": [1, 0]}, "P2.1": {"at": [1, 1]}})
    assert told(position, "attack 3 P2.1") == [
        (0, "Trash Bin struck at Chili Ninja for 2"),
        (0, "Trash Bin: energy 11 to 9"),
        (1, "Chili Ninja: energy 9 to 7"),
    ]


def test_cards_are_worded_by_what_they_do() -> None:
    rules = rules_for()
    position = position_of(rules, {"P1.1": {"at": [0, 0], "hand": ["Toilet Paper/2"]}})
    menu = words(position)
    assert menu["play 1 5"] == "Mummified Pencil plays Toilet Paper/2 (1 energy): puts 2 shield on one of its mob"
    assert menu["munch 1 5"] == "Mummified Pencil munches Toilet Paper/2 (1 energy): for good +1 movement"


def test_a_favor_card_is_chosen_in_secret() -> None:
    position = position_of(rules_for(), {"moment": "favor"})
    assert SPEC.ask(position).startswith("Choose a favor card in secret")
    assert words(position)["favor 0"] == (
        "favor card 0: all favor cards come back to the hand; "
        "one of the mob regenerates, and does no action in this turn"
    )
    first = position.current_player()
    assert told(position, "favor 3", seat=first) == [(first, "chose favor card 3 in secret")]
    assert told(position, "favor 3", seat=1 - first, hidden=True) == [(first, "chose a favor card in secret")]


def test_favor_cards_are_shown_when_all_have_chosen() -> None:
    position = position_of(rules_for(), {"moment": "favor"})
    lines = told(position, "favor 1", "favor 4")
    assert (-1, "favor cards: you have 1 and seat 1 has 4") in lines
    assert (-1, "turn 1: the turn of seat 1") in lines


def test_placing_a_tile_asks_for_field_and_turn() -> None:
    """The ridge has crystal on two sides, E and SE when unturned; turned by 3 on W and NW."""
    rules = rules_for(tiles="placed")
    position = rules.initial_position()
    while position.action_to_string(position.legal_actions()[0]).partition(" ")[0] != "pattern":
        position = position.child(position.legal_actions()[0])
    ridge = next(o for o, _ in position.chance_outcomes() if rules.content.patterns[o - 13].name == "ridge")
    position = position.child(ridge)
    assert SPEC.ask(position) == "Place the ridge tile (2 edges of crystal): on which field?"
    assert words(position)["cell (1,-2)"] == "B1"
    position = position.child(position.string_to_action("cell (1,-2)"))
    assert SPEC.ask(position) == "Place the ridge tile on B1: how is it turned?"
    assert words(position)["turn 0"] == "crystal on E and SE"
    assert words(position)["turn 3"] == "crystal on W and NW"
    assert told(position, "turn 3")[0] == (position.current_player(), "put the ridge tile on B1: crystal on W and NW")


def test_taking_the_idol_is_told() -> None:
    position = position_of(rules_for(), {"P1.3": {"at": [1, 0]}})
    lines = told(position, "move 3 (0,0)")
    assert lines[0] == (0, "Trash Bin moved from D3 to D2")
    assert (0, "Trash Bin has the idol") in lines
    after = position.child(position.string_to_action("move 3 (0,0)"))
    assert SPEC.ask(after) == "Trash Bin has taken the idol and may move 1 field at once: where to?"


def test_fields_and_cards_can_be_looked_up() -> None:
    position = position_of(rules_for(), {"P1.3": {"at": [1, 0]}})
    known = SPEC.look_up(position, 0)
    assert known["D2"].startswith("altar, the idol;")
    assert known["D3"].startswith("Trash Bin, ")  # and its tile
    assert "(0,0)" not in "".join(known.values())  # coordinates are for data files
    push = known["Push/Swap/1"]
    assert "(1 energy) pushes a monster beside it" in push  # rules 89, 91
    assert "or (2 energy) changes places with a monster beside it" in push
    assert known["Toilet Paper/2"].startswith("card of Mummified Pencil: (1 energy)")
    assert known["Trash Bin"].startswith("energy 11, strikes for 2, moves 2;")


def test_what_is_reconstructed_says_so_where_it_is_looked_up() -> None:
    position = position_of(rules_for(), {})
    known = SPEC.look_up(position, 0)
    assert known["Toilet Paper/2"].endswith("; reconstructed")
    assert not known["Push/Swap/1"].endswith("; reconstructed")  # the rule text has it
    content = rules_for().content
    for favor in content.favors:
        assert known[f"favor card {favor.value}"].endswith("; reconstructed") == (favor.provenance == "reconstructed")


def test_monsters_can_be_looked_up_before_they_are_chosen() -> None:
    position = rules_for(draft="players").initial_position()
    assert position.rules.scene(position, 0)["doing"] == "mob"
    known = SPEC.look_up(position, 0)
    assert known["Study Mob"].startswith("a mob: ")
    assert "shoots" in known["Bookworm"] or "strikes" in known["Bookworm"]


def test_all_cards_that_the_hand_limit_takes_are_told() -> None:
    """Rule 93: ten cards may be kept. Of twelve two go; when the first is the last but one, the other goes unasked."""
    hands = {
        "P1.1": {"hand": ["Toilet Paper/1", "Toilet Paper/2", "Toilet Paper/3", "Push/Swap/1"]},
        "P1.2": {"hand": ["Push/Swap/1", "Push/Swap/2", "Push/Swap/3", "Growth Spurt/1"]},
        "P1.3": {"hand": ["Push/Swap/1", "Push/Swap/2", "Push/Swap/3", "Recycle/1"]},
    }
    position = position_of(rules_for(), hands)
    for seat in range(2):
        assert position.rules.scene(position, seat)["doing"] == "action"
    position = position.child(position.string_to_action("pass"))
    assert position.rules.scene(position, 0)["doing"] == "hand limit"
    assert SPEC.ask(position) == (
        "Your monsters hold 12 cards, and 10 may be kept, so 2 go, any that you like, the topmost of them first: "
        "which is it? (Those above it stay; the other one comes from below it.)"
    )
    # In the order of monsters and cards Push/Swap/3 of Trash Bin is the last card, Push/Swap/2 the one before it.
    names = {position.action_to_string(action) for action in position.legal_actions()}
    assert "discard 3 11" in names
    assert "discard 3 12" not in names
    lines = [line for line in told(position, "discard 3 11") if "hand limit" in line[1]]
    assert lines == [(0, "Trash Bin discarded Push/Swap/2 and Push/Swap/3 (hand limit)")]
    first = [line for line in told(position, "discard 1 4") if "hand limit" in line[1]]
    assert first == [(0, "Mummified Pencil discarded Toilet Paper/1 (hand limit)")]


def test_a_favor_card_says_what_becomes_of_the_monster_that_is_chosen() -> None:
    """Favor card 0 lets one monster of the mob regenerate."""
    position = position_of(rules_for(), {"moment": "favor"})
    names = []
    while position.rules.scene(position, position.current_player())["doing"] != "effect":
        name = {"favor": "favor 0", "favor action": "choice 0"}[
            position.rules.scene(position, position.current_player())["doing"]
        ]
        names.append(name)
        position = position.child(position.string_to_action(name))
    assert SPEC.ask(position) == (
        "Favor card 0, one of your monsters regenerates, and does no action in this turn: which one?"
    )
    seat = position.current_player()
    lines = told(position, position.action_to_string(position.legal_actions()[0]), seat=seat)
    assert lines[0][1].startswith("Favor card 0: ")
    assert lines[0][1].endswith(" regenerates, and does no action in this turn")


def test_the_table_asks_nobody_to_play_when_the_game_is_over() -> None:
    position = rules_for().initial_position()
    rng = random.Random(1)
    while not position.is_terminal():
        chance = position.is_chance_node()
        actions = [o for o, _ in position.chance_outcomes()] if chance else position.legal_actions()
        position = position.child(rng.choice(actions))
    assert "to play" not in SPEC.sections(position, 0)["status"].plain


def test_the_hand_limit_asks_for_one_card_and_for_several() -> None:
    """Rule 93 with eleven and thirteen cards; twelve: see above."""
    pencil, can = ["Toilet Paper/1", "Toilet Paper/2", "Toilet Paper/3"], ["Growth Spurt/1", "Growth Spurt/2"]
    push = ["Push/Swap/1", "Push/Swap/2", "Push/Swap/3"]
    for more, asked in (
        ([], "Your monsters hold 11 cards, and 10 may be kept: which one goes?"),
        (
            can,
            "so 3 go, any that you like, the topmost of them first: which is it? (Those above it stay; the other 2",
        ),
    ):
        hands = {"P1.1": {"hand": pencil + push}, "P1.2": {"hand": more + push}, "P1.3": {"hand": push[:2]}}
        position = position_of(rules_for(), hands)
        assert asked in SPEC.ask(position.child(position.string_to_action("pass")))


def test_the_start_of_a_turn_is_told_below_its_heading_with_the_cause() -> None:
    """Q93: Picnic gives each monster of the seat 1 energy, then poison takes 1; the strike before belongs to the turn
    that ends. Trash Bin does 2, the Cheese Fly has 6."""
    given = {
        "P1.3": {"at": [1, 0]},
        "P2.1": {"energy": 5, "poison": 1},
        "P2.2": {"energy": 4},
        "P2.3": {"at": [1, 1], "energy": 6},
        "time": {"tile": "Picnic"},
    }
    for limit, seat in ((1, 0), (1, 1), (2, 0)):
        position = position_of(rules_for(actions=limit), given)
        lines = told(position, "attack 3 P2.3", *["pass"] * (limit - 1), seat=seat)
        heading = next(k for k, line in enumerate(lines) if line[1].startswith("turn 2: "))
        assert (1, "Cheese Fly: energy 6 to 4") in lines[:heading]
        assert lines[heading + 1 :] == [
            (1, "Chili Ninja: poison 1 to 0 (start of the turn: time tile Picnic and poison)"),
            (1, "Cake Monster: energy 4 to 5 (start of the turn: time tile Picnic)"),
            (1, "Cheese Fly: energy 4 to 5 (start of the turn: time tile Picnic)"),
        ]


def test_poison_and_the_drain_of_the_idol_are_told_as_the_start_of_the_turn() -> None:
    """Poison takes 1 at the start of a turn, and a time tile's drain 1 from the carrier (Q93)."""
    tiles = {tile.name for tile in rules_for().content.time_tiles if "idol_drain" in tile.while_visible}
    for tile in tiles:
        given = {"P2.1": {"at": [0, 0], "energy": 5, "poison": 1}, "P2.2": {"poison": 2}, "time": {"tile": tile}}
        lines = told(position_of(rules_for(), given), "pass")
        cause = f"start of the turn: time tile {tile} and poison"
        assert lines[-2:] == [
            (1, f"Chili Ninja: energy 5 to 3, poison 1 to 0 ({cause})"),
            (1, "Cake Monster: energy 12 to 11, poison 2 to 1 (start of the turn: poison)"),
        ]
    assert tiles


def test_any_cards_may_go_over_the_hand_limit() -> None:
    """Rule 93: of twelve cards any two: 66 pairs, each reached in one way."""
    hands = {
        f"P1.{k}": {"hand": ["Push/Swap/1", "Push/Swap/2", "Push/Swap/3", f"{ability}/1"]}
        for k, ability in ((1, "Toilet Paper"), (2, "Growth Spurt"), (3, "Recycle"))
    }
    start = position_of(rules_for(), hands)
    start = start.child(start.string_to_action("pass"))
    pairs = []
    for first in start.legal_actions():
        middle = start.child(first)
        over = middle.rules.scene(middle, 0)["doing"] == "hand limit" and middle.current_player() == 0
        for second in middle.legal_actions() if over else [None]:
            end = middle if second is None else middle.child(second)
            monsters = end.to_dict()["mobs"][0]["monsters"]
            pairs.append(tuple(f"{k} {card}" for k in range(3) for card in monsters[k]["discard"]))
    assert len(pairs) == len(set(pairs)) == 66
    assert all(len(pair) == 2 for pair in pairs)


def test_the_order_of_blocks_is_said() -> None:
    """Rules 64, 65: any cards of the attacked monster; they are named downwards, so that each set goes once."""
    given = {
        "P1.3": {"at": [1, 0]},
        "P2.1": {"at": [1, 1], "hand": ["Hot Kick/1", "Smoke Seeds/1"]},
    }
    position = position_of(rules_for(), given)
    position = position.child(position.string_to_action("attack 3 P2.1"))
    assert SPEC.ask(position) == (
        "Trash Bin (seat 0) hits Chili Ninja for 2: discard a card to block 1 of it (up to 2 cards, any that you like, "
        "the topmost of them first: those above it stay)?"
    )


def test_an_attack_that_has_been_reduced_asks_with_what_is_left() -> None:
    """Slammed Lid takes 2 off the damage; the Ninja does 2, and 1 more for the Hot Kick it has munched."""
    given = {
        "order": [1, 0],
        "P1.3": {"at": [1, 1], "hand": ["Slammed Lid/1", "Slammed Lid/2"]},
        "P2.1": {"at": [1, 0], "slots": ["Hot Kick/2"]},
    }
    position = position_of(rules_for(), given)
    for name, damage in (("attack 1 P1.3", 3), ("react 3 7", 1)):
        position = position.child(position.string_to_action(name))
        assert SPEC.ask(position) == (
            f"Chili Ninja (seat 1) attacks Trash Bin for {damage}: do you answer with an instant?"
        )


def test_a_draw_bonus_says_what_it_adds_to() -> None:
    """Q98, rule 82: the draw action, not what a card draws."""
    known = SPEC.look_up(position_of(rules_for(), {}), 0)
    assert "with two slots filled +1 card a draw action" in known["Mummified Pencil"]
    assert known["time tile Open Library"].partition(": ")[2].startswith("cards a draw action +1")
