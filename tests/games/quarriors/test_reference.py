"""The engine, stepped side by side with the plain model written from the numbered rules.

The engine's positions and steps are put into the model's words here: lists without an order are
sorted, and a creature the engine numbers (`#k`) is named by what tells it apart.
"""

from __future__ import annotations

import random
import tomllib
from collections import Counter
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import games
from tests.games.quarriors.made_up import made_up_set
from tests.games.quarriors.skirmishes import Skirmish, fights, meetings
from tests.reference.quarriors import Data, Game, label
from tests.reference.quarriors_light_dark import LARGE, LARGE_DICE, LightDarkGame


@dataclass(frozen=True)
class Setting:
    """Which rules are played."""

    edition: str = "base"
    qladiator: bool = False
    mixed: bool = False
    quantity_capture: bool = False
    max_turns: int = 100
    data: str = ""

    def model(self, players: int, wilds: list[str], bag: dict[str, int] | None) -> Game:
        """The plain model of these rules."""
        if self.edition == "base":
            return Game(players, wilds, self.max_turns, bag, self.qladiator, self.data)
        extras = self.qladiator, self.mixed, self.quantity_capture, self.data
        return LightDarkGame(players, wilds, self.max_turns, bag, *extras)

    def rules(self, players: int, wilds: list[str]) -> Any:
        """The engine's rules."""
        parameters = {key: value for key, value in vars(self).items() if value}
        return games.spec("quarriors").make_rules({**parameters, "players": players, "wilds": ";".join(wilds)})


BASE = Setting()
LOCK = Setting(qladiator=True)
LIGHT_DARK = Setting("light_vs_dark")
MIXED = Setting("light_vs_dark", mixed=True)
LIGHT_DARK_LOCK = Setting("light_vs_dark", qladiator=True)
QUANTITY = Setting("light_vs_dark", quantity_capture=True)
EVERYTHING = Setting("light_vs_dark", qladiator=True, mixed=True, quantity_capture=True)

# How the themes of themes.toml are played.
SETTINGS = {
    "base": BASE,
    "lock": LOCK,
    "light_dark": LIGHT_DARK,
    "mixed": MIXED,
    "light_dark_lock": LIGHT_DARK_LOCK,
}


def read_themes() -> list[tuple[str, list[str]]]:
    """The themes with the names of their settings."""
    table = tomllib.loads((Path(__file__).parent / "themes.toml").read_text(encoding="utf-8"))
    return [(name, " ".join(theme.split()).split("; ")) for name in SETTINGS for theme in table[name]]


THEMES = read_themes()


def label_of(die: dict[str, Any]) -> str:
    """The model's label of a creature of `to_dict`."""
    attached = [(spell["die"], spell["face"]) for spell in die.get("attached", [])]
    copy = (die["copy"]["die"], die["copy"]["face"]) if "copy" in die else None
    done = "recopied" in die.get("marks", ())
    return label(attached, copy, die.get("attack", 0), die.get("defense", 0), done)


def is_creature(die: dict[str, Any], data: Data) -> bool:
    """Whether a readied die is a creature."""
    return "level" in data.dice[die["die"]]["faces"][die["face"]]


def named(die: dict[str, Any]) -> str:
    """The model's name of a creature or locked die of `to_dict`; nothing for none."""
    return f"{die['die']} {die['face']} {label_of(die)}" if die else ""


def summary(table: dict[str, Any], data: Data) -> dict[str, Any]:
    """The documented keys of `to_dict` in the model's form."""
    if table["phase"] == 0:
        return {"phase": 0, "wilds": sorted(entry["card"] for entry in table["wilds"])}
    return {
        "phase": table["phase"],
        "active": table["active"],
        "turn": table["turn"],
        "quiddity": table["quiddity"],
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
                    named(die) if is_creature(die, data) else f"{die['die']} {die['face']}" for die in player["ready"]
                ),
                "locked": named(player.get("locked", {})),
                "spent": player["spent"],
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
    zones = table["players"][seat]
    apart: list[dict[str, Any]] = []
    for each in zones["ready"] + ([zones["locked"]] if "locked" in zones else []):
        other = {**each, "record": "record" in each}  # which record it is tells nobody apart, whether it attacks does
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


def moods(rng: random.Random) -> dict[str, float]:
    """How often each kind of step is taken in one game; passing is rarer, so that cards come into play."""
    usual = {"done": 0.3, "summon": 4, "ready": 3, "cast": 2, "recopy": 0.7, "use": 2, "return": 2, "discard": 0.3}
    usual |= {"anchored": 1, "lock": 1, "unlock": 0.5, "capture": 1}
    return {verb: weight * rng.choice((0.1, 1, 1, 1, 3)) for verb, weight in usual.items()}


def choose(names: list[str], mood: dict[str, float], rng: random.Random) -> str:
    """A step at random."""
    return rng.choices(names, [mood.get(name.split(" ")[0], 1) for name in names])[0]


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


def compare(
    rng: random.Random, decisions: int, players: int, theme: list[str], rich: bool = False, setting: Setting = BASE
) -> Counter[str]:
    """Step both through games until so many decisions agree; how many decisions and ended games.

    In rich games every player begins with dice of all ten cards, so that dear ones come into play too.
    """
    count: Counter[str] = Counter()
    while count["decisions"] < decisions:
        play(*begin(players, theme, rng, rich, setting), rng, count)
    return count


def begin(players: int, theme: list[str], rng: random.Random, rich: bool, setting: Setting) -> tuple[Any, Game]:
    """Engine and model at the start, with the bag of the rules or with one that has every class in it."""
    if not rich:
        return setting.rules(players, theme).initial_position(), setting.model(players, theme, None)
    data = setting.model(players, [], None).data
    wilds = fill(theme, rng, data, setting)
    each = 2 if players == 2 else 1
    bag = {data.cards[name]["class"]: each for name in wilds} | {"Assistant": 1}
    if setting.edition == "base":
        bag["Basic Quiddity"] = 5
    return begin_with(players, wilds, bag, setting)


def begin_with(players: int, wilds: list[str], bag: dict[str, int], setting: Setting) -> tuple[Any, Game]:
    """Engine and model with this bag for everybody."""
    model = setting.model(players, wilds, bag)
    dice = [{"card": card["name"], "dice": model.wilds[name]} for name, card in model.card.items()]
    seat = {"bag": bag} | ({} if setting.edition == "base" else {"aside": [LARGE] * LARGE_DICE})
    table = {"edition": setting.edition, "phase": 1, "wilds": dice, "players": [seat] * players}
    return setting.rules(players, wilds).from_dict(table), model


def fill(theme: list[str], rng: random.Random, data: Data, setting: Setting) -> list[str]:
    """A theme filled up to the cards of the Wilds, each of another class."""
    chosen = {data.cards[name]["class"]: name for name in theme}
    several = setting.edition == "base" or setting.mixed or setting.qladiator
    wanted = {"creature": 7 if several else 6, "spell": 3 if several else 2}
    if setting.edition != "base":
        wanted["assistant"] = 1
    for kind, count in wanted.items():
        names = [name for name in data.order if data.dice[name]["kind"] == kind]
        left = [name for name in names if name not in chosen]
        for name in rng.sample(left, count - len(names) + len(left)):
            chosen[name] = rng.choice([card["name"] for card in data.cards.values() if card["class"] == name])
    return list(chosen.values())


def skirmish(theme: list[str], rng: random.Random, setting: Setting, count: Counter[str], players: int = 2) -> None:
    """A turn from just before its attack, with all dice of the Wilds lying about."""
    data = setting.model(players, [], None).data
    wilds = fill(theme, rng, data, setting)
    model = setting.model(players, wilds, {})
    table = Skirmish(model, theme, setting.edition, rng).table
    model.begin_at(table)
    play(setting.rules(players, wilds).from_dict(table), model, rng, count, turns=1)


def play(position: Any, model: Game, rng: random.Random, count: Counter[str], turns: int | None = None) -> None:
    """One game, step by step, to its end or until so many turns are over."""
    story: list[str] = []
    mood = moods(rng)
    while True:
        table = settled(position)
        differing = differences(summary(table, model.data), model.summary())
        assert not differing, (story[-12:], differing)
        assert position.is_terminal() == (model.node is None), story[-12:]
        if model.node is None:
            share = [1 / len(model.winners) if seat in model.winners else 0 for seat in range(len(model.players))]
            rest = [sum(share) - own for own in share]
            spread = [own - other / (len(share) - 1) for own, other in zip(share, rest, strict=True)]
            assert position.returns() == pytest.approx(spread, abs=1e-12)
            count["over"] += 1
            return
        if turns is not None and table["turn"] >= turns:
            count["stopped"] += 1
            return
        player = position.current_player()
        if table["pending"]["stack"][-1][0] == "defend":
            assert table["pending"]["rem"] == model.remainder, story[-12:]
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
            step = choose(sorted(offered), mood, rng)
            count["decisions"] += 1
        story.append(f"{player}: {step}")
        model.apply(step)
        position.apply_action(offered[step])


@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_and_model_agree(players) -> None:
    count = compare(random.Random(players), 700, players, [])
    assert count["over"] > 0


@pytest.mark.parametrize("setting", [LOCK, LIGHT_DARK, MIXED, LIGHT_DARK_LOCK, QUANTITY, EVERYTHING], ids=str)
def test_other_rules_agree(setting) -> None:
    count = compare(random.Random(str(setting)), 300, 2, [], setting=setting)
    assert count["over"] > 0


@pytest.mark.parametrize(
    ("name", "wilds"), THEMES, ids=[f"{name}: {wilds[0]}, {wilds[1]}, {wilds[2]}" for name, wilds in THEMES]
)
def test_engine_and_model_agree_where_cards_meet(name, wilds) -> None:
    rng = random.Random(f"{name} {wilds[0]}")
    count = compare(rng, 100, 3, wilds, rich=True, setting=SETTINGS[name])
    for players in (2, 2, 3):
        skirmish(wilds, rng, SETTINGS[name], count, players)
    assert count["decisions"] >= 105


@pytest.mark.parametrize("name", SETTINGS)
def test_games_cut_short_agree(name) -> None:
    """A103, A100: the end after some rounds, by Glory and then by dice in the Ready Area."""
    rng, count = random.Random(name), Counter[str]()
    while count["over"] < 6:
        setting = replace(SETTINGS[name], max_turns=rng.randint(2, 5))
        play(*begin(rng.randint(2, 4), [], rng, rng.random() < 0.7, setting), rng, count)


def compare_skirmishes(name: str, together: int, turns: int) -> Counter[str]:
    """So many turns, in each of which other cards meet of those that have a part in an attack; if that are more than
    there are meetings, each meets the same number of times."""
    data = SETTINGS[name].model(2, [], None).data
    rooms = {"creature": 6, "spell": 2} if name == "light_dark" else {"creature": 7, "spell": 3}
    cards = [card for card in data.cards.values() if data.dice[card["class"]]["kind"] in rooms and fights(card)]
    found = meetings(cards, together, rooms, data)
    chosen = random.Random(f"{name} {together}").sample(found, min(turns, len(found)))
    count = Counter[str]()
    for k in range(max(1, turns // len(found))):
        for theme in chosen:
            rng = random.Random(f"{theme} {k}")
            skirmish(list(theme), rng, SETTINGS[name], count, rng.choice((2, 2, 3)))
    return count


@pytest.mark.parametrize("name", SETTINGS)
def test_engine_and_model_agree_where_cards_fight(name) -> None:
    assert compare_skirmishes(name, 3, 40)["decisions"] > 100


@pytest.mark.soak
@pytest.mark.parametrize("name", SETTINGS)
def test_engine_and_model_agree_where_cards_fight_for_long(name) -> None:
    """Any two cards that have a part in an attack, and of any three two thousand."""
    count = compare_skirmishes(name, 2, 1_000) + compare_skirmishes(name, 3, 2_000)
    print(f"{name}, skirmishes: {dict(count)}")
    assert count["stopped"] + count["over"] >= 2_000


def test_themes_have_every_card() -> None:
    """The reconstructed sets are in the themes, card by card."""
    named = {card for _, wilds in THEMES for card in wilds}
    for table in ("light_vs_dark", "qladiator"):
        assert not set(Data.read(table).cards) - named


def compare_made_up(name: str, seed: int, path: Path) -> Counter[str]:
    """Games with a made-up card of every class in the Wilds, for 120 decisions."""
    rng = random.Random(f"{name} {seed}")
    data = SETTINGS[name].model(2, [], None).data
    path.write_text(made_up_set(rng, data), encoding="utf-8")
    setting = replace(SETTINGS[name], data=str(path))
    theme = [
        f"Odd {data.cards[card]['class']}" for card in fill([], rng, data, setting) if card not in assistants(data)
    ]
    return compare(rng, 120, rng.randint(2, 4), theme, rich=True, setting=setting)


def assistants(data: Data) -> list[str]:
    """The Assistant cards."""
    return [name for name, card in data.cards.items() if card["class"] == "Assistant"]


@pytest.mark.parametrize("name", SETTINGS)
def test_made_up_cards_agree(name, tmp_path) -> None:
    for seed in range(3):
        compare_made_up(name, seed, tmp_path / "set.toml")


def test_engine_and_model_agree_on_lone_portals() -> None:
    """K2, A87: with nothing but Portals in bag and pile a Portal turns to its Quiddity face."""
    rng, count = random.Random(87), Counter[str]()
    for _ in range(3):
        play(*begin_with(2, fill([], rng, Data.read("base"), BASE), {"Portal": 2}, BASE), rng, count)
    assert count["decisions"] > 200


@pytest.mark.soak
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("name", SETTINGS)
def test_engine_and_model_agree_for_long(name, players) -> None:
    dealt, each = (20_000, 2_000) if name == "base" else (5_000, 1_000)
    count = compare(random.Random(f"{players} dealt"), dealt, players, [], setting=SETTINGS[name])
    for setting, wilds in THEMES:
        if setting == name:
            count += compare(
                random.Random(f"{players} {wilds}"), each, players, wilds, rich=True, setting=SETTINGS[name]
            )
    print(f"{name}, {players} players: {dict(count)}")
    assert count["over"] > 30


@pytest.mark.soak
@pytest.mark.parametrize("players", [2, 3, 4])
@pytest.mark.parametrize("setting", [QUANTITY, EVERYTHING], ids=str)
def test_further_rules_agree_for_long(setting, players) -> None:
    count = compare(random.Random(f"{players} rich"), 2_000, players, [], rich=True, setting=setting)
    count += compare(random.Random(f"{players} dealt"), 2_000, players, [], setting=setting)
    print(f"{setting}, {players} players: {dict(count)}")
    assert count["over"] > 20


@pytest.mark.soak
@pytest.mark.parametrize("name", SETTINGS)
def test_made_up_cards_agree_for_long(name, tmp_path) -> None:
    count = Counter[str]()
    for seed in range(3, 60):
        count += compare_made_up(name, seed, tmp_path / "set.toml")
    print(f"{name}, made-up cards: {dict(count)}")
    assert count["decisions"] > 6_000
