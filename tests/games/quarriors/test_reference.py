"""The engine, stepped side by side with the plain model written from the numbered rules.

The engine's positions and steps are put into the model's words here: lists without an order are
sorted, and a creature the engine numbers (`#k`) is named by what tells it apart.
"""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import games
from tests.reference.quarriors import DATA_FILE, Game, label

# Wilds in which reactions, copies, returns and triggers meet; chance deals the rest.
THEMES = [
    ["Strong Primordial Ooze", "Life Charm", "Mighty Ghostly Spirit", "Shaping Cantrip", "Strong Deathdealer"],
    ["Primordial Ooze", "Deathdealer", "Ghostly Spirit", "Mighty Scavenging Goblin", "Death Incantation", "Life Spell"],
    ["Strong Primordial Ooze", "Mighty Defender of the Pale", "Life Incantation", "Strong Ghostly Spirit"],
    ["Mighty Deathdealer", "Quake Dragon", "Mighty Devotee of the Holy Query", "Life Cantrip", "Shaping Spell"],
    ["Strong Questing Wizard", "Strong Witching Hag", "Strong Devotee of the Holy Query", "Shaping Incantation"],
    ["Mighty Primordial Ooze", "Mighty Witching Hag", "Warrior of the Quay", "Shaping Charm", "Death Charm"],
    ["Mighty Warrior of the Quay", "Strong Primordial Ooze", "Death Spell", "Life Spell", "Shaping Cantrip"],
    ["Strong Warrior of the Quay", "Strong Quake Dragon", "Strong Scavenging Goblin", "Death Cantrip", "Victory Spell"],
    ["Strong Deathdealer", "Victory Cantrip", "Shaping Incantation", "Mighty Questing Wizard", "Growth Cantrip"],
    ["Questing Wizard", "Mighty Quake Dragon", "Growth Incantation", "Victory Charm", "Witching Hag"],
]


def label_of(die: dict[str, Any]) -> str:
    """The model's label of a creature of `to_dict`."""
    attached = [(spell["die"], spell["face"]) for spell in die.get("attached", [])]
    copy = (die["copy"]["die"], die["copy"]["face"]) if "copy" in die else None
    return label(attached, copy, die.get("attack", 0), die.get("defense", 0))


def is_creature(die: dict[str, Any]) -> bool:
    """Whether a readied die is a creature."""
    return "level" in DATA_FILE.dice[die["die"]]["faces"][die["face"]]


def summary(table: dict[str, Any]) -> dict[str, Any]:
    """The documented keys of `to_dict` in the model's form."""
    if table["phase"] == 0:
        return {"phase": 0, "wilds": sorted(entry["card"] for entry in table["wilds"])}
    return {
        "phase": table["phase"],
        "active": table["active"],
        "turn": table["turn"],
        "quiddity": sum(table["quiddity"].values()),
        "captures": table["captures"],
        "wilds": {entry["card"]: entry["dice"] for entry in table["wilds"]},
        "players": [
            {
                "glory": player["glory"],
                "turns": player["turns"],
                "bag": player["bag"],
                "used": player["used"],
                "active": sorted(f"{die['die']} {die['face']}" for die in player["active"]),
                "ready": sorted(
                    f"{die['die']} {die['face']}" + (f" {label_of(die)}" if is_creature(die) else "")
                    for die in player["ready"]
                ),
                "aside": sorted(player["aside"]),
            }
            for player in table["players"]
        ],
        "winners": sorted(table["pending"].get("winners", [])),
    }


def reword(name: str, player: int, table: dict[str, Any]) -> str:
    """An action of the engine in the model's words."""
    if "#" not in name:
        return name
    text, _, number = name.partition(" #")
    words = text.split(" ")
    seat = int(words[1]) if words[0] == "creature" else player
    die = " ".join(words[2:] if words[0] == "creature" else words[1:])
    apart: list[dict[str, Any]] = []
    for other in table["players"][seat]["ready"]:
        if f"{other['die']} {other['face']}" == die and other not in apart:
            apart.append(other)
    return f"{text} {label_of(apart[int(number)])}"


def differences(engine: Any, model: Any, path: str = "") -> list[str]:
    """Where two summaries differ, as text."""
    if isinstance(engine, dict) and isinstance(model, dict):
        keys = sorted(engine.keys() | model.keys())
        return [line for key in keys for line in differences(engine.get(key), model.get(key), f"{path}/{key}")]
    if isinstance(engine, list) and isinstance(model, list) and len(engine) == len(model) and "players" in path[-8:]:
        return [
            line for i, pair in enumerate(zip(engine, model, strict=True)) for line in differences(*pair, f"{path}/{i}")
        ]
    return [] if engine == model else [f"{path}: engine {engine}, model {model}"]


def choose(names: list[str], rng: random.Random) -> str:
    """A step at random; passing is rarer, and so is killing time, so that cards come into play."""
    weights = {"done": 0.3, "summon": 4, "cast": 2, "recopy": 0.7, "use": 2, "return": 2, "discard": 0.3}
    return rng.choices(names, [weights.get(name.split(" ")[0], 1) for name in names])[0]


def settled(position: Any) -> dict[str, Any]:
    """`to_dict` after answering questions in which all answers are one in the model's words.

    The engine numbers the attackers of phase 4, so that it may ask which of two equal ones is meant.
    """
    while True:
        table = position.to_dict()
        if not position.is_player_node():
            return table
        player, actions = position.current_player(), position.legal_actions()
        if len({reword(position.action_to_string(player, action), player, table) for action in actions}) > 1:
            return table
        position.apply_action(actions[0])


def compare(rng: random.Random, decisions: int, players: int, theme: list[str], rich: bool = False) -> Counter[str]:
    """Step both through games until so many decisions agree; how many decisions and ended games.

    In rich games every player begins with dice of all ten cards, so that dear ones come into play too.
    """
    count: Counter[str] = Counter()
    while count["decisions"] < decisions:
        wilds = fill(theme, rng) if rich else theme
        each = 2 if players == 2 else 1
        bag = {"Basic Quiddity": 5, "Assistant": 1} | {DATA_FILE.cards[name]["class"]: each for name in wilds}
        play(*begin(players, wilds, bag if rich else None), rng, count)
    return count


def begin(players: int, wilds: list[str], bag: dict[str, int] | None) -> tuple[Any, Game]:
    """Engine and model at the start, with the bag of the rules or with another one for everybody."""
    rules = games.spec("quarriors").make_rules({"players": players, "wilds": ";".join(wilds)})
    model = Game(players, wilds, bag=bag)
    if bag is None:
        return rules.initial_position(), model
    dice = [{"card": card["name"], "dice": model.wilds[name]} for name, card in model.card.items()]
    return rules.from_dict({"phase": 1, "wilds": dice, "players": [{"bag": bag} for _ in range(players)]}), model


def fill(theme: list[str], rng: random.Random) -> list[str]:
    """A theme filled up to seven creature cards and three spell cards of different classes."""
    chosen = {DATA_FILE.cards[name]["class"]: name for name in theme}
    for kind, wanted in (("creature", 7), ("spell", 3)):
        names = [name for name in DATA_FILE.order if DATA_FILE.dice[name]["kind"] == kind]
        left = [name for name in names if name not in chosen]
        for name in rng.sample(left, wanted - len(names) + len(left)):
            chosen[name] = rng.choice([card["name"] for card in DATA_FILE.cards.values() if card["class"] == name])
    return list(chosen.values())


def play(position: Any, model: Game, rng: random.Random, count: Counter[str]) -> None:
    """One game, step by step, to its end."""
    story: list[str] = []
    while True:
        table = settled(position)
        differing = differences(summary(table), model.summary())
        assert not differing, (story[-12:], differing)
        assert position.is_terminal() == (model.node is None), story[-12:]
        if model.node is None:
            share = [1 / len(model.winners) if seat in model.winners else 0 for seat in range(len(model.players))]
            rest = [sum(share) - own for own in share]
            spread = [own - other / (len(share) - 1) for own, other in zip(share, rest, strict=True)]
            assert position.returns() == pytest.approx(spread, abs=1e-12)
            count["over"] += 1
            return
        player = position.current_player()
        assert player == model.node.seat, (story[-12:], list(model.node.options), table)
        # equal words for several of the engine's actions: creatures that differ in nothing that counts
        offered: dict[str, int] = {}
        for action in position.legal_actions():
            offered.setdefault(reword(position.action_to_string(player, action), player, table), action)
        assert not set(offered) ^ set(model.node.options), (story[-12:], sorted(offered), list(model.node.options))
        if player < 0:
            found = {position.action_to_string(-1, id): chance for id, chance in position.chance_outcomes()}
            chances = {name: float(chance) for name, chance in model.node.chances.items()}
            assert found == pytest.approx(chances, abs=1e-12)
            step = rng.choices(list(chances), list(chances.values()))[0]
        else:
            step = choose(sorted(offered), rng)
            count["decisions"] += 1
        story.append(f"{player}: {step}")
        model.apply(step)
        position.apply_action(offered[step])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_and_model_agree(players) -> None:
    count = compare(random.Random(players), 700, players, [])
    assert count["over"] > 0


@pytest.mark.parametrize("wilds", THEMES, ids=[" ".join(theme[:2]) for theme in THEMES])
def test_engine_and_model_agree_where_cards_meet(wilds) -> None:
    assert compare(random.Random(wilds[0]), 150, 3, wilds, rich=True)["decisions"] >= 150


def test_engine_and_model_agree_on_lone_portals() -> None:
    """K2, A87: with nothing but Portals in bag and pile a Portal turns to its Quiddity face."""
    rng, count = random.Random(87), Counter[str]()
    for _ in range(3):
        play(*begin(2, fill([], rng), {"Portal": 2}), rng, count)
    assert count["decisions"] > 200


@pytest.mark.soak
@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_and_model_agree_for_long(players) -> None:
    count = compare(random.Random(f"{players} dealt"), 20_000, players, [])
    for wilds in THEMES:
        count += compare(random.Random(f"{players} {wilds}"), 2_000, players, wilds, rich=True)
    print(f"{players} players: {dict(count)}")
    assert count["over"] > 30
