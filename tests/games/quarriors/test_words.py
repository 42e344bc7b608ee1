"""What Quarriors says: questions, options and story, with figures worked out by hand from the dice."""

from __future__ import annotations

import io
import random
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from rich.console import Console

import games
from engine_ext.position import Position
from games.quarriors.loading import read_sets
from games.quarriors.texts import card_text
from games.quarriors.words import parse
from games.words import Line, Step
from tests.games.quarriors.scripts import begin

DATA = Path(games.__file__).parent / "quarriors" / "data"
SPEC = games.spec("quarriors")
ASSISTANT = {"die": "Assistant", "face": 4}  # level 1, 1/2
DEALER = {"die": "Deathdealer", "face": 3}  # level 1, 3/2


def table(**fields: Any) -> Position:
    """A position of two players at the start of a phase."""
    names = ["Deathdealer", "Witching Hag", "Death Cantrip", "Life Cantrip"]
    given = {"edition": "base", "turn": 2, "active": 0, "wilds": [{"card": name, "dice": 3} for name in names]}
    return SPEC.make_rules({}).from_dict({**given, **fields})


def play(position: Position, *names: str) -> tuple[Position, list[Step]]:
    """The position after these actions, and the steps."""
    steps = []
    for name in names:
        if position.is_chance_node():
            action = next(o for o, _ in position.chance_outcomes() if position.action_to_string(-1, o) == name)
        else:
            action = position.string_to_action(name)
        after = position.child(action)
        steps.append(Step(position.current_player(), action, name, position, after))
        position = after
    return position, steps


def told(position: Position, *names: str, seat: int = 0) -> list[tuple[int, str]]:
    return [(line.seat, line.text) for line in SPEC.tell(play(position, *names)[1], seat)]


def test_an_attack_is_told_with_its_total_and_who_fell() -> None:
    """Deathdealer and Assistant attack with 3 + 1 = 4; of three Assistants with defence 2, two fall.
    With nothing left to buy with, the turn passes, and the third scores."""
    position = table(
        phase=3,
        quiddity={"normal": 2},
        players=[
            {"active": [ASSISTANT], "ready": [DEALER]},
            {"ready": [ASSISTANT] * 3},
        ],
    )
    assert told(position, "summon Assistant 4") == [
        (0, "summoned Assistant (level 1, 1/2)"),
        (0, "attacked with Assistant and Deathdealer: 4 in all"),
        (1, "lost 2 Assistant"),
        (-1, "turn 4: the turn of seat 1"),
        (1, "scored 1 Glory with Assistant: 1 now"),
    ]


def test_what_scores_belongs_to_the_next_turn() -> None:
    """Attack 3 against two Assistants: one falls, the other scores its 1 Glory as the turn passes."""
    position = table(phase=3, players=[{"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT] * 2}])
    position = table(
        phase=3,
        quiddity={"normal": 1},
        players=[{"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT] * 2}],
    )
    lines = told(position, "done", "done")
    assert lines[:4] == [
        (0, "attacked with Deathdealer: 3 in all"),
        (1, "lost Assistant"),
        (-1, "turn 4: the turn of seat 1"),
        (1, "scored 1 Glory with Assistant: 1 now"),
    ]
    assert told(position, "done", "done", seat=1)[2] == (-1, "turn 4: your turn")


def test_options_say_price_stock_and_text() -> None:
    """The Witching Hag costs 5 and brings 3 Glory, Life Cantrip costs 3; 3 dice lie on each card."""
    position = table(phase=5, quiddity={"normal": 5}, players=[{}, {}])
    words = list(SPEC.options(position).values())
    assert "capture Witching Hag for 5 Quiddity (3 dice left, 3 Glory when it scores)" in words[-2]
    assert any(text.startswith("capture Life Cantrip for 3 Quiddity (3 dice left): attached: ") for text in words)
    assert words[-1] == "buy nothing more"
    assert SPEC.ask(position) == "You have 5 Quiddity left: buy a die (1 die allowed)?"


def test_a_defender_is_asked_with_what_is_left_of_the_attack() -> None:
    """3 attack against two creatures with defence 2 each: one of them falls, and its owner says which."""
    position = table(
        phase=3,
        quiddity={"normal": 1},
        players=[{"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT, DEALER]}],
    )
    asked, _ = play(position, "done")
    assert asked.current_player() == 1
    assert SPEC.ask(asked) == "Seat 0 attacks you with 3: which of your creatures stands up to it?"
    assert set(SPEC.options(asked).values()) == {"Assistant (level 1, 1/2)", "Deathdealer (level 1, 3/2)"}


def test_a_seat_that_is_attacked_can_be_drawn() -> None:
    """Seat 0 is the defender."""
    position = table(
        phase=3,
        active=1,
        quiddity={"normal": 1},
        players=[{"ready": [ASSISTANT, DEALER]}, {"active": [ASSISTANT], "ready": [DEALER]}],
    )
    asked, _ = play(position, "done")
    assert asked.current_player() == 0
    assert "an attack of 3 on you" in SPEC.sections(asked, 0)["turn"].plain


def test_rolls_name_faces_and_come_in_one_line() -> None:
    """Basic Quiddity shows 1 on its first five faces and 2 on the sixth."""
    position = table(phase=2, players=[{"bag": {"Basic Quiddity": 4, "Assistant": 2}}, {}])
    assert position.is_chance_node()
    names = {position.action_to_string(-1, outcome) for outcome, _ in position.chance_outcomes()}
    assert "roll Basic Quiddity: 0x3 5x1" in names
    after, steps = play(position, "roll Basic Quiddity: 0x3 5x1", "roll Assistant: 3x1 4x1")
    assert after.current_player() == 0
    assert SPEC.tell(steps, 0) == [
        Line(0, "rolled Basic Quiddity: 3 × 1 Quiddity, 2 Quiddity; Assistant: roll again *, level 1, 1/2")
    ]


@pytest.mark.parametrize("name", ["Death Cantrip", "Witching Hag"])
def test_a_card_can_be_looked_up(name: str) -> None:
    text = SPEC.look_up(table(phase=5, players=[{}, {}]), 0)[name]
    assert "faces: " in text
    assert "3 dice left" in text
    assert {"Death Cantrip": "costs 4", "Witching Hag": "costs 5, 3 Glory"}[name] in text


@pytest.mark.parametrize(
    ("name", "edition", "says"),
    [
        ("Dark Incantation", "light_vs_dark", "cast: cull 1 used die, and then +2 dark Quiddity"),
        ("Light Enchantment", "light_vs_dark", "; cast: +2 light Quiddity"),
        ("Strong Qladiator", "qladiator", "when locked: cull 1 used die, and then +1 Quiddity"),
        ("Mighty Quartz Golem", "light_vs_dark", "anchored, 2 light Quiddity: cull 1 used die, and then +1 Glory"),
        (
            "Mighty Warrior of the Quay",
            "base",
            "when summoned: destroy all rivals' creatures of class Warrior of the Quay; "
            "only 1 Warrior of the Quay a turn",  # A51
        ),
    ],
)
def test_a_card_says_what_hangs_on_what_and_which_quiddity(name: str, edition: str, says: str) -> None:
    assert says in card_text(read_sets([DATA / f"{edition}.toml"]).cards[name])


def test_what_hangs_on_a_cull_of_several_dice_needs_all_of_them() -> None:
    """A140."""
    card = read_sets([DATA / "light_vs_dark.toml"]).cards["Dark Incantation"]
    card = replace(card, effects=({**card.effects[0], "n": 2}, card.effects[1]))
    assert card_text(card) == "cast: cull up to 2 used dice, and then if all 2 are culled, +2 dark Quiddity"


def test_a_phase_with_nothing_but_locks_to_pay_off_says_so() -> None:
    """LK18, LK19: 2 Quiddity unlock a die, from phase 2 on; Basic Quiddity 0 shows 1."""
    rules = SPEC.make_rules({"edition": "base", "qladiator": True})
    given = {
        "edition": "base",
        "phase": 2,
        "turn": 2,
        "active": 0,
        "wilds": [{"card": "Qladiator", "dice": 3}, {"card": "Witching Hag", "dice": 3}],
        "players": [
            {"active": [{"die": "Basic Quiddity", "face": 0}] * 3, "locked": {"die": "Qladiator", "face": 2}},
            {},
        ],
    }
    position = rules.from_dict(given)
    words = list(SPEC.options(position).values())
    assert [text.partition(" ")[0] for text in words] == ["unlock", "go"]
    assert SPEC.ask(position) == "You have 3 Quiddity: pay off a locked die for 2 of it, or go on?"


def test_a_creature_that_scores_by_what_it_destroyed_is_not_lost() -> None:
    """Strong Deathdealer (2 Glory) scores as soon as it destroys a creature: 3 attack against an Assistant with 2."""
    position = table(
        wilds=[{"card": "Strong Deathdealer", "dice": 3}, {"card": "Witching Hag", "dice": 3}],
        phase=3,
        quiddity={"normal": 1},
        players=[{"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT]}],
    )
    lines = told(position, "done")
    assert lines[0] == (0, "attacked with Strong Deathdealer: 3 in all")
    assert (1, "lost Assistant") in lines
    assert (0, "scored 2 Glory with Strong Deathdealer: 2 now") in lines
    assert not any(seat == 0 and text.startswith("lost") for seat, text in lines)


def test_a_boost_in_the_last_step_before_the_attack_counts() -> None:
    """Mighty Black Cat's Anchored Spell gives each of your creatures 1 attack: a Herald of 1 attacks with 2."""
    given = {
        "edition": "light_vs_dark",
        "phase": 2,
        "turn": 2,
        "active": 0,
        "quiddity": {"dark": 3},
        "pending": {"rolled": True},
        "wilds": [{"card": name, "dice": 3} for name in ("Assistant of Economics", "Mighty Black Cat", "Herald")],
        "players": [
            {"active": [{"die": "Herald", "face": 3}]},
            {"ready": [{"die": "Black Cat", "face": 4}, {"die": "Black Cat", "face": 5}]},
        ],
    }
    position = SPEC.make_rules({"edition": "light_vs_dark"}).from_dict(given)
    lines = told(position, "summon Herald 3", "anchored Black Cat")
    assert (0, "attacked with Herald: 2 in all") in lines


def test_losers_are_told_clockwise_from_the_attacker() -> None:
    """B68: seat 1 attacks with 3; seat 2 loses its Assistant before seat 0 does."""
    rules = SPEC.make_rules({"players": 3})
    given = {
        "edition": "base",
        "phase": 3,
        "turn": 3,
        "active": 1,
        "quiddity": {"normal": 1},
        "wilds": [{"card": "Deathdealer", "dice": 3}, {"card": "Witching Hag", "dice": 3}],
        "players": [{"ready": [ASSISTANT]}, {"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT]}],
    }
    lines = told(rules.from_dict(given), "done")
    assert [seat for seat, text in lines if text == "lost Assistant"] == [2, 0]


def test_an_attack_that_counts_differently_against_somebody_says_so() -> None:
    """Warrior of the Quay (2/3) adds 3 against a single creature (A31): with an Assistant's 1 it is 3 against the
    two creatures of seat 1 and 6 against the one of seat 2, whatever their cards."""
    rules = SPEC.make_rules({"players": 3})
    given = {
        "edition": "base",
        "phase": 3,
        "turn": 3,
        "active": 0,
        "quiddity": {"normal": 1},
        "wilds": [{"card": "Warrior of the Quay", "dice": 3}, {"card": "Witching Hag", "dice": 3}],
        "players": [
            {"active": [ASSISTANT], "ready": [{"die": "Warrior of the Quay", "face": 3}, ASSISTANT]},
            {"ready": [ASSISTANT] * 2},
            {"ready": [ASSISTANT]},
        ],
    }
    lines = told(rules.from_dict(given), "done", seat=2)
    assert lines[0] == (0, "attacked with Assistant and Warrior of the Quay: 3 in all (6 against you)")


def test_what_a_first_loss_adds_to_an_attack_is_told_apart() -> None:
    """A34: Mighty Deathdealer's 3 count again at a defender's first loss."""
    position = table(
        wilds=[{"card": "Mighty Deathdealer", "dice": 3}, {"card": "Witching Hag", "dice": 3}],
        phase=3,
        quiddity={"normal": 1},
        players=[{"active": [ASSISTANT], "ready": [DEALER]}, {"ready": [ASSISTANT] * 2}],
    )
    lines = told(position, "done")
    assert lines[:2] == [
        (0, "attacked with Mighty Deathdealer: 3 in all, and 3 more at a defender's first loss"),
        (1, "lost 2 Assistant"),  # 3 kill one with defence 2, and 1 + 3 the other
    ]


def test_a_summon_that_waits_for_its_price_loses_nobody() -> None:
    """Light vs. Dark asks which Quiddity pays (D22); the creature enters with the answer, and 1 attack against one
    defence of 2 destroys nobody."""
    given = {
        "edition": "light_vs_dark",
        "phase": 2,
        "turn": 2,
        "active": 0,
        "quiddity": {"dark": 2, "normal": 2},
        "pending": {"rolled": True},
        "wilds": [{"card": name, "dice": 3} for name in ("Assistant of Economics", "Herald")],
        "players": [{"active": [ASSISTANT, {"die": "Herald", "face": 3}]}, {"ready": [ASSISTANT]}],
    }
    position = SPEC.make_rules({"edition": "light_vs_dark"}).from_dict(given)
    asked, _ = play(position, "summon Assistant 4")
    assert SPEC.ask(asked) == "Assistant of Economics costs 1 Quiddity: which do you pay with?"
    assert list(SPEC.options(asked).values()) == ["1 normal Quiddity", "1 dark Quiddity"]
    assert told(position, "summon Assistant 4", "pay 0 light 1 dark", "done") == [
        (0, "summoned Assistant of Economics (level 1, 1/2)"),
        (0, "attacked with Assistant of Economics: 1 in all"),
    ]


def test_the_end_is_told_as_people_would() -> None:
    """19 Glory of 20, and one creature worth 1 scores: whoever listens hears of its own Glory first."""
    position = table(
        phase=3,
        quiddity={"normal": 1},
        players=[{"active": [ASSISTANT], "glory": 3}, {"ready": [ASSISTANT], "glory": 19}],
    )
    lines = told(position, "done")
    assert lines[-1] == (-1, "the game is over: you have 3 Glory and seat 1 has 20")
    assert told(position, "done", seat=1)[-1] == (-1, "the game is over: you have 20 Glory and seat 0 has 3")


LAST_DIE = {
    "players": 3,
    "cards": "Deathdealer; Witching Hag; Quake Dragon; Warrior of the Quay; Scavenging Goblin",
    "dice": {"Scavenging Goblin": 1, "Witching Hag": 1},
    "phase": 5,
    "quiddity": 2,
    "p0": "glory: 5",
}


def test_the_last_die_of_the_fourth_card_is_told_of_before_and_after() -> None:
    """B82, B87: three creature cards are empty and the Goblin, which costs 2, is the fourth; most Glory wins."""
    position = begin({**LAST_DIE, "p1": "glory: 7"})
    goblin = next(text for text in SPEC.options(position).values() if text.startswith("capture Scavenging Goblin"))
    assert "(the last die of it: the game ends, 2 Glory when it scores)" in goblin
    assert "creature cards without dice: 3; 4 end the game" in str(SPEC.sections(position, 0)["wilds"].table.title)
    lines = told(position, "capture Scavenging Goblin")
    assert (-1, "four creature cards are empty, which ends the game: most Glory wins") in lines
    assert lines[-1] == (-1, "the game is over: you have 5 Glory, seat 1 has 7 and seat 2 has 0")
    assert "4 creature cards have no dice left" in SPEC.aim(position.rules)


def test_a_last_die_that_ends_nothing_is_one_die() -> None:
    """B82: with two cards empty the third may go, too; Basic Quiddity is no creature."""
    position = begin({**LAST_DIE, "dice": {"Scavenging Goblin": 1, "Witching Hag": 1, "Quake Dragon": 1}})
    assert not any("the game ends" in text for text in SPEC.options(position).values())
    three_empty = begin(LAST_DIE)
    ends = [text for text in SPEC.options(three_empty).values() if "the game ends" in text]
    assert [text.split(" for ")[0] for text in ends] == ["capture Scavenging Goblin"]


def test_equal_glory_is_told_with_what_decides() -> None:
    """B87: of two with 5 Glory, seat 1 has a creature in its Ready Area."""
    lines = told(begin({**LAST_DIE, "p1": "glory: 5 | ready: Assistant 4"}), "capture Scavenging Goblin")
    assert (-1, "with equal Glory the dice in the Ready Area count: seat 1 had most") in lines


def test_a_game_that_runs_out_of_turns_says_so() -> None:
    """One turn each, and nobody has the Glory that wins."""
    rng = random.Random(1)
    position = SPEC.make_rules({"max_turns": 1}).initial_position()
    steps: list[Step] = []
    while not position.is_terminal():
        chance = position.is_chance_node()
        action = position.chance_outcomes()[0][0] if chance else rng.choice(position.legal_actions())
        after = position.child(action)
        name = None if chance else position.action_to_string(action)
        steps.append(Step(-1 if chance else position.current_player(), action, name, position, after))
        position = after
    texts = [line.text for line in SPEC.tell(steps, 0)]
    assert "everybody has had 1 turn, the most there are: most Glory wins" in texts
    assert texts[-1].startswith("the game is over: ")


def test_lending_a_lock_speaks_of_its_holder() -> None:
    """LK21: a Quaxos' Eye may go to a rival, whose summons it makes dearer then."""
    given = {
        "edition": "light_vs_dark",
        "qladiator": True,
        "players": 2,
        "cards": "Assistant of Economics; Strong Quaxos' Eye; Herald",
        "phase": 2,
        "pending": {"rolled": True},
        "p0": "active: Quaxos' Eye 2",
    }
    position = begin(given)
    lent = next(text for text in SPEC.options(position).values() if " with seat 1" in text)
    assert "its holder's summons cost 1 more" in lent
    assert "your" not in lent
    assert SPEC.ask(position) == "Lock a die, or go on to the attack?"


def test_a_creature_that_copies_another_is_named() -> None:
    """A39: of two attackers, 1 (A29) or more count against the Ooze, which is asked whether it copies the Devotee."""
    given = {
        "cards": "Strong Primordial Ooze; Devotee of the Holy Query; Scavenging Goblin",
        "phase": 4,
        "p0": "ready: Devotee of the Holy Query 2, Scavenging Goblin 2",
        "p1": "ready: Primordial Ooze 3 = Scavenging Goblin 4",
    }
    position = begin(given)
    assert SPEC.ask(position).endswith(": do you let a copying creature copy another?")
    words = list(SPEC.options(position).values())
    assert words[0].startswith("let your Strong Primordial Ooze (")
    assert words[0].endswith(") copy another")
    assert " as Scavenging Goblin (" in words[0]
    before_scoring = {"cards": "Strong Primordial Ooze; Mighty Quake Dragon", "phase": 1}
    before_scoring |= {"p0": "ready: Primordial Ooze 3", "p1": "ready: Quake Dragon 5"}
    assert SPEC.ask(begin(before_scoring)).startswith("Before scoring: does your Strong Primordial Ooze (")


def test_one_ability_is_not_asked_for_among_several() -> None:
    """The only creature that scored is a Deathdealer."""
    given = {"cards": "Deathdealer; Quake Dragon", "phase": 1, "p0": "ready: Deathdealer 3"}
    position = begin({**given, "p1": "used: 1 Quake Dragon"})
    assert SPEC.ask(position) == "Creatures scored: do you use the ability of Deathdealer (level 1, 3/2)?"
    assert list(SPEC.options(position).values())[-1] == "leave it unused"


def test_where_destroyed_dice_go_is_asked_as_that() -> None:
    """A13: Life Charm says the pool, Mighty Ghostly Spirit says aside."""
    given = {"cards": "Life Charm; Deathdealer; Mighty Ghostly Spirit", "phase": 4, "p0": "ready: Deathdealer 5"}
    position = begin({**given, "p1": "ready: Ghostly Spirit 3, Life 3"})
    assert SPEC.ask(position).endswith("will be destroyed: do you answer with a spell?")
    asked, _ = play(position, "cast Life 3")
    assert SPEC.ask(asked).endswith("will be destroyed: where do the dice go?")


def test_no_burst_is_said_in_words() -> None:
    cards = read_sets([DATA / "light_vs_dark.toml"]).cards
    assert card_text(cards["Dark Spell"]).startswith(
        "without a burst, cast: attack +2 for your creatures this turn; * cast: attack +3"
    )
    assert not any(text.startswith("- ") for card in cards.values() for text in card_text(card).split("; "))


def test_a_price_names_what_is_bought() -> None:
    """D22: a Herald paid for with light or dark Quiddity."""
    given = {
        "edition": "light_vs_dark",
        "cards": "Assistant of Economics; Herald",
        "dice": {"Herald": 3},
        "phase": 4,
        "quiddity": {"light": 9, "dark": 9},
    }
    asked, _ = play(begin(given), "capture Herald")
    assert SPEC.ask(asked).startswith("Herald costs ")


ASKED = {
    "buy a die": {"capture", "discounted"},
    "with a spell": {"cast"},
    "cast a spell": {"cast"},
    "Anchored Spell": {"anchored"},
    "pay off a locked die": {"unlock"},
    "lock a die": {"lock", "lock with"},
    "summon creatures (": {"summon"},
    "at once": {"use"},
    "discard a readied spell": {"discard"},
    "copy another": {"recopy"},
}


@pytest.mark.parametrize(
    "parameters",
    [
        {"players": 3},
        {"qladiator": True},
        {"edition": "light_vs_dark", "players": 3, "qladiator": True},
        {"edition": "light_vs_dark", "mixed": True},
    ],
)
def test_a_question_names_what_is_offered_and_nothing_else(parameters: dict[str, Any]) -> None:
    seen = set()
    for seed in range(3):
        rng = random.Random(seed)
        position = SPEC.make_rules(parameters).initial_position()
        for _ in range(500):
            if position.is_terminal():
                break
            if position.is_chance_node():
                outcomes, weights = zip(*position.chance_outcomes(), strict=True)
                position = position.child(rng.choices(outcomes, weights)[0])
                continue
            doing = position.to_dict()["pending"]["stack"][-1][0]
            if doing in ("main", "use", "between", "capture", "clean", "window"):
                question = SPEC.ask(position).lower()
                offered = {parse(position.action_to_string(action))[0] for action in position.legal_actions()}
                for phrase, families in ASKED.items():
                    if phrase.lower() in question:
                        assert families & offered, question
                assert all(
                    any(phrase.lower() in question for phrase, families in ASKED.items() if family in families)
                    for family in offered - {"done", "ready"}
                ), (question, offered)
                last = list(SPEC.options(position).values())[-1]
                if doing == "capture":
                    only = offered <= {"capture", "discounted", "done"}
                    assert last == ("buy nothing more" if only else "end the capture phase")
                seen.add(doing)
            position = position.child(rng.choice(position.legal_actions()))
    assert {"main", "capture"} <= seen


def options(case: dict[str, Any]) -> list[str]:
    return list(SPEC.options(begin(case)).values())


def shown(position: Position, part: str) -> str:
    """A part of the table as it is printed, its lines joined."""
    console = Console(width=200, record=True, file=io.StringIO())
    console.print(SPEC.sections(position, 0)[part])
    return " ".join(console.export_text().split())


def test_a_spell_that_can_hit_nobody_else_says_whom_it_destroys() -> None:
    """B90: the caster's own creatures are targets; Death Incantation * reaches level 2."""
    case = {"cards": "Death Incantation; Witching Hag; Deathdealer", "phase": 3, "p0": "ready: Witching Hag 3, Death 3"}
    assert options(case)[0].startswith(
        "cast Death Incantation (spell *), destroying your own Witching Hag (level 1, 3/3), the only target: "
    )
    theirs = options({**case, "p0": "ready: Death 3", "p1": "ready: Witching Hag 3"})[0]
    assert ", destroying seat 1's Witching Hag (level 1, 3/3), the only target: " in theirs
    own = options({**case, "p0": "ready: Witching Hag 3, Deathdealer 3, Death 3"})[0]
    assert ", destroying one of your own creatures, the only targets: " in own
    both = options({**case, "p1": "ready: Deathdealer 3"})[0]  # asks
    assert "destroying" not in both


def test_so_does_an_anchored_spell() -> None:
    """A116, E59: Greater Archangel's needs a dark creature, and the own Boogieman is the only one."""
    case = {
        "edition": "light_vs_dark",
        "cards": "Assistant of Economics; Greater Archangel; Boogieman; Herald",
        "phase": 4,
        "quiddity": {"light": 2},
        "p0": "ready: Boogieman 3, Herald 3",
    }
    spell = next(text for text in options(case) if "Anchored" in text)
    assert ", destroying your own Boogieman (level 1, " in spell
    assert ", the only target: 2 light Quiddity: destroy one dark creature, anyone's, and then +1 Glory" in spell


def test_a_spell_with_one_spell_to_discard_says_whose() -> None:
    """A55: not itself."""
    case = {"cards": "Shaping Spell; Life Spell; Deathdealer", "phase": 3, "p0": "ready: Shaping 3, Life 3"}
    assert ", discarding your own Life Spell (spell), the only target: " in options(case)[0]


def test_a_face_that_works_at_once_says_what_it_brings_and_costs() -> None:
    """B46, A82, K31, B48, B47 and the cards' own lines."""
    case = {
        "cards": "Quake Dragon; Mighty Questing Wizard; Victory Charm; Growth Cantrip",
        "phase": 2,
        "pending": {"rolled": True},
        "p0": "active: Quake Dragon 2, Questing Wizard 2, Questing Wizard 0, Assistant 3, Victory 3, Growth 3, Portal 3"
        " | bag: 5 Assistant",
    }
    words = options(case)
    assert set(words) >= {
        "use Quake Dragon (3 Quiddity or roll again): roll it again, giving up its 3 Quiddity",
        "use Mighty Questing Wizard (2 Quiddity *): draw and roll 2, giving up its 2 Quiddity",
        "use Mighty Questing Wizard (1 Quiddity and draw 1): +1 Quiddity, draw and roll 1, and it is spent",
        "use Assistant (roll again *): roll it and up to 1 other die again",
        "use Portal (draw 2): draw and roll 2, and it is spent",
        "use Growth Cantrip (spell): +2 Quiddity, 1 more to capture, and it is spent",
        "use Victory Charm (draw 1 and roll again): draw and roll 1, roll it again",
        "use Victory Charm (draw 1 and roll again): roll it again",
        "use Victory Charm (draw 1 and roll again): draw and roll 1, and it is spent",
    }


def test_what_a_lock_pushes_out_is_said_and_that_one_must_follow() -> None:
    """LK4, LK5, LK23."""
    case = {
        "qladiator": True,
        "cards": "Qladiator; Frost Howler; Quaxos' Eye",
        "phase": 2,
        "pending": {"rolled": True},
        "p0": "active: Qladiator 2 | locked: Frost Howler 2",
        "p1": "locked: Frost Howler 2",
    }
    words = options(case)
    assert words[0].startswith("lock Qladiator (lock), pushing out your locked Frost Howler (lock): ")
    assert words[-1] == "go on: Qladiator (lock) must then be locked, pushing out your locked Frost Howler (lock)"
    two = options({**case, "p0": "active: Qladiator 2, Quaxos' Eye 2"})
    assert two[-1] == "go on: one of the Lock faces must then be locked"
    assert any(" with seat 1, pushing out seat 1's locked Frost Howler (lock): " in text for text in two)


def test_what_creatures_are_now_stands_beside_what_they_show() -> None:
    """A49: four creatures in all Ready Areas. Devotee: 4, 2 by its burst and 4 by Life Cantrip (E55)."""
    case = {
        "cards": "Mighty Primordial Ooze; Devotee of the Holy Query; Mighty Deathdealer; Life Cantrip",
        "phase": 3,
        "quiddity": 3,
        "p0": "ready: Primordial Ooze 3, Deathdealer 3 | active: Primordial Ooze 3",
        "p1": "ready: Devotee of the Holy Query 5 + Life 3, Primordial Ooze 3",
    }
    players = shown(begin(case), "players")
    assert "Mighty Primordial Ooze L2 ?/?, now 4/4" in players
    assert "Life Cantrip spell, now 2/10" in players
    assert "Mighty Deathdealer L1 3/2 " in players
    words = options(case)
    assert words[0].startswith("summon Mighty Primordial Ooze (level 2, ?/?) for 2 Quiddity")
    # 4 + 3, and A34
    assert words[-1] == "go on to the attack: 7 against seat 1 and 3 more at its first loss"


def test_an_attack_is_not_foretold_where_somebody_can_change_it() -> None:
    """W1: Life Incantation. A30: what Quake Dragon kills first caps nothing, and may be saved."""
    case = {"cards": "Life Incantation; Deathdealer; Quake Dragon", "phase": 3, "quiddity": 3}
    case |= {"p0": "ready: Deathdealer 3 | active: Assistant 4", "p1": "ready: Deathdealer 3, Life 3"}
    assert options(case)[-1] == "go on to the attack"
    quake = {**case, "p0": "ready: Quake Dragon 5 | active: Assistant 4", "p1": "ready: Deathdealer 3, Deathdealer 5"}
    assert options(quake)[-1] == "go on to the attack"
    assert options({**quake, "p1": "ready: Deathdealer 5"})[-1] == "go on to the attack: 8 against seat 1"


def test_after_a_first_loss_the_attack_is_what_it_has_become() -> None:
    """A34: 4 + 4, and 4 more for what Quake Dragon killed; then E15, 6 and 6 more, less 2."""
    case = {"cards": "Quake Dragon; Mighty Deathdealer; Mighty Witching Hag; Questing Wizard", "phase": 4}
    case |= {"p0": "ready: Quake Dragon 3, Deathdealer 5"}
    case |= {"p1": "ready: Witching Hag 3, Questing Wizard 5, Questing Wizard 4"}
    assert SPEC.ask(begin(case)) == "Seat 0 attacks you with 12: which of your creatures stands up to it?"
    case = {"cards": "Mighty Deathdealer; Scavenging Goblin; Questing Wizard", "phase": 4}
    case |= {"p0": "ready: Deathdealer 3, Deathdealer 3"}
    case |= {"p1": "ready: Scavenging Goblin 2, Questing Wizard 5, Questing Wizard 4"}
    asked, _ = play(begin(case), "creature 1 Scavenging Goblin 2 #0")
    assert SPEC.ask(asked).startswith("Seat 0 attacks you with 12, 10 of it left: ")


def test_a_die_that_waits_for_its_price_or_its_host_is_on_the_table() -> None:
    """D22: which Quiddity pays is asked. B93: so is which creature gets the spell."""
    case = {
        "edition": "light_vs_dark",
        "cards": "Assistant of Economics; Herald",
        "phase": 2,
        "pending": {"rolled": True},
        "quiddity": {"light": 2, "dark": 2},
        "p0": "active: Herald 3",
    }
    asked, _ = play(begin(case), "summon Herald 3")
    assert SPEC.ask(asked).startswith("Herald costs ")
    assert "Herald L1 1/2 (on its way)" in shown(asked, "players")
    attach = {"cards": "Life Cantrip; Deathdealer", "phase": 3, "p0": "ready: Life 3, Deathdealer 3, Deathdealer 5"}
    asked, _ = play(begin(attach), "cast Life 3")
    assert "Life Cantrip spell (on its way)" in shown(asked, "players")


def test_one_of_several_attackers_is_named_with_its_own_numbers() -> None:
    """Three Deathdealers attack, one of them with 2 more defence."""
    case = {"cards": "Life Incantation; Deathdealer; Quake Dragon", "phase": 4}
    case |= {"p0": "ready: Deathdealer 3, Deathdealer 3, Deathdealer 3 !d2", "p1": "ready: Quake Dragon 5, Life 3"}
    asked, _ = play(begin(case), "cast Life 3")
    assert list(SPEC.options(asked).values()) == [
        "seat 0's Deathdealer (level 1, 3/2)",
        "seat 0's Deathdealer (level 1, 3/2), defence +2, now 3/4",
    ]


def test_whatever_is_reconstructed_says_so() -> None:
    """E49: the only discounted cost in a rule book is Greater Quartz Golem's. Three cards of Qeelzebub have no
    published cost and Glory."""
    cards = read_sets([DATA / f"{name}.toml" for name in ("base", "light_vs_dark", "qladiator")]).cards
    discounts = [card.name for card in cards.values() if card.discounted != card.cost]
    assert len(discounts) == 30
    assert [name for name in discounts if "discounted_cost" not in cards[name].reconstructed] == [
        "Greater Quartz Golem"
    ]
    for part in ("cost", "glory"):
        found = {card.name for card in cards.values() if part in card.reconstructed}
        assert found == {"Greater Qeelzebub", "Strong Qeelzebub", "Mighty Qeelzebub"}
    case = {"edition": "light_vs_dark", "cards": "Assistant of Economics; Greater Qeelzebub; Greater Quartz Golem"}
    case |= {"dice": {"Greater Qeelzebub": 2, "Greater Quartz Golem": 2}, "phase": 4, "quiddity": {"light": 9}}
    dear = next(text for text in options(case) if "Greater Qeelzebub" in text)
    golem = next(text for text in options(case) if "discount Greater Quartz" in text)
    assert "reconstructed: faces, cost, discounted cost, Glory and effects)" in dear
    assert "reconstructed: faces and effects)" in golem
    table_of_wilds = shown(begin(case), "wilds")
    assert "Greater Qeelzebub† 9†/8† 4† 2 " in table_of_wilds
    assert "Greater Quartz Golem† 6/5 " in table_of_wilds
    locked = {"qladiator": True, "cards": "Frost Howler; Deathdealer", "phase": 5, "quiddity": 9}
    words = options({**locked, "dice": {"Frost Howler": 1, "Deathdealer": 1}})
    assert [("reconstructed" in text) for text in words if "Frost" in text or "Deathd" in text] == [False, True]


@pytest.mark.parametrize(
    ("name", "edition", "says"),
    [
        ("Victory Spell", "base", "cast: after your attack, 1 Glory for each rival that lost a creature to it"),  # A70
        ("Warrior of the Quay", "base", "attacking: attack +3 against a rival with exactly one creature"),  # A31
        ("Boogieman", "light_vs_dark", "attacking: attack +2 against a rival with exactly one creature"),
        ("Mighty Witching Hag", "base", "each creature that attacks you counts at most 3"),  # A30
        ("Frost Howler", "qladiator", "while locked: each creature that attacks you counts at most 4"),
        ("Strong Quake Dragon", "base", "creatures of level 2 or less cannot attack you"),  # A131
        ("Death Spell", "base", "*/** cast: destroy one creature of defence 6 or less of each rival"),  # A9
        ("Death Incantation", "base", "; ** cast: destroy one creature, anyone's"),  # B90
        ("Life Incantation", "base", "reaction: attack 0 for one creature this turn"),  # K12
        ("Strong Quake Dragon Mystic", "qladiator", "while locked: +1 Glory at the beginning of each of your turns"),
        (
            "Primordial Ooze",
            "base",
            "attack and defence the number of your Basic Quiddity dice in pool and Used Pile; ",
        ),
        ("Strong Devotee of the Holy Query", "base", "may take a spell die of cost 4 or less into the bag for nothing"),
    ],
)
def test_a_card_says_whom_it_is_about(name: str, edition: str, says: str) -> None:
    assert says in card_text(read_sets([DATA / f"{edition}.toml"]).cards[name])


@pytest.mark.parametrize(
    ("parameters", "there", "absent"),
    [
        ({}, "burst level spell cull summon capture score reaction attached copy", "lock large discounted"),
        ({"qladiator": True}, "burst lock unlock", "large"),
        ({"edition": "light_vs_dark"}, "burst Anchored Spent discounted large cull", "lock"),
    ],
)
def test_the_words_of_an_edition_are_explained(parameters: dict[str, Any], there: str, absent: str) -> None:
    names = " ".join(SPEC.terms(SPEC.make_rules(parameters)))
    for word in there.split():
        assert word in names, word
    for word in absent.split():
        assert f"{word} " not in names + " ", word


def test_how_dice_are_culled_depends_on_the_edition() -> None:
    """B28, D19."""
    base, light_dark = (SPEC.make_rules(given) for given in ({}, {"edition": "light_vs_dark"}))
    assert "one for each creature that has scored" in SPEC.terms(base)["cull"]
    assert "only cards allow it" in SPEC.terms(light_dark)["cull"]


def test_how_the_game_is_won_tells_of_what_the_edition_has() -> None:
    """B28; D7, D19, D23, D26; LK4, LK18."""
    words = {"culls": {}, "Lock": {"qladiator": True}, "Anchored Spell": {"edition": "light_vs_dark"}}
    told = {word: SPEC.aim(SPEC.make_rules(parameters)) for word, parameters in words.items()}
    for word, text in told.items():
        assert word in text
    assert "Lock" not in told["culls"]
    assert "Anchored" not in told["Lock"]
    assert "discount" in told["Anchored Spell"]
    assert "Only cards cull" in told["Anchored Spell"]
