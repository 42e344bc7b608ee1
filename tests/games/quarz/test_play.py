"""Random play: invariants after every step, whole games, every card."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable
from copy import deepcopy
from typing import Any

import pytest

import games
from engine_ext.errors import PositionError
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from tests.games.quarz.invariants import Watch, watched_steps
from tests.games.quarz.test_cases import choices, position_of, rules_for, take


def random_game(rules: Rules, stream: Stream, steps: int = 10**9) -> Position:
    """Random play with the native invariants checked after every step."""
    position = rules.initial_position()
    while not position.is_terminal() and steps > 0:
        actions = position.legal_actions()
        assert len(actions) >= 2
        position.apply_action(
            position.sample(stream) if position.is_chance_node() else actions[stream.below(len(actions))]
        )
        assert position.check() == 0
        steps -= 1
    return position


@pytest.mark.parametrize("players", [2, 3, 4])
def test_invariants_hold(players: int) -> None:
    """Rules 131-142."""
    rules = games.spec("quarz").make_rules({"players": players})
    for seed in range(15):
        position = random_game(rules, Stream(seed))
        scene = rules.scene(position, -1)
        assert scene["time"]["turns"] <= 42
        for seat, mob in enumerate(scene["mobs"]):  # rules 128, 136
            idol = 2.5 if scene["carrier"] is not None and scene["carrier"][0] == seat else 0.0
            assert scene["points"][seat] == sum(mob["shrines"]) + idol


WATCHED = ("142", "143", "144", "145", "145 with a bonus", "146", "147", "148", "149", "150")


@pytest.mark.parametrize("players", [2, 3, 4])
def test_invariants_hold_step_by_step(players: int) -> None:
    """Rules 131-150 (invariants.py) over some thousand random steps."""
    rules = games.spec("quarz").make_rules({"players": players, "draft": "random", "tiles": "random"})
    seen = watched_steps(rules, Stream(40 + players), 4_000)
    assert not [name for name in WATCHED if not seen[name]]


def test_the_watch_sees_what_is_wrong() -> None:
    """Each invariant that is watched from outside fails on a scene made wrong by hand."""
    rules = rules_for()
    given = {"idol": [3, -1], "P1.1": {"at": [0, 0]}, "P1.2": {"at": [-1, 1]}, "P2.1": {"at": [1, 0]}}
    position = position_of(rules, given)
    watch = Watch(rules, position, Counter())
    good, actions = watch.now, position.legal_actions()
    watch.standing(good)
    watch.offer(good, 0, actions)

    def wrong(change: Callable[[dict[str, Any]], Any]) -> dict[str, Any]:
        scene = deepcopy(good)
        change(scene)
        return scene

    def monster(scene: dict[str, Any], k: int = 0) -> dict[str, Any]:
        found: dict[str, Any] = scene["mobs"][0]["monsters"][k]
        return found

    with pytest.raises(AssertionError, match="136"):
        watch.standing(wrong(lambda scene: scene["points"].__setitem__(0, 1.0)))
    with pytest.raises(AssertionError, match="141"):
        watch.standing(wrong(lambda scene: scene["shrine_cards"].pop()))
    with pytest.raises(AssertionError, match="142"):
        watch.offer(wrong(lambda scene: monster(scene).update(energy=0)), 0, actions)
    with pytest.raises(AssertionError, match="143"):
        watch.judge_attack(good, 0, 3, wrong(lambda scene: scene.update(idol=[2, 0])))
    with pytest.raises(AssertionError, match="143"):
        watch.judge_attack(good, 0, 3, wrong(lambda scene: monster(scene, 1).update(at=[-1, 2])))
    with pytest.raises(AssertionError, match="144"):
        watch.tokens(wrong(lambda scene: scene["mobs"][0].update(reactions=1)), good, 0, "pass")
    with pytest.raises(AssertionError, match="145"):
        watch.costs(good, wrong(lambda scene: monster(scene).update(energy=7)), 0, "attack 1 P2.1")
    with pytest.raises(AssertionError, match="146, 147"):
        watch.offer(good, 0, [a for a in actions if rules.action_name(a) != "attack 1 P1.2"])
    with pytest.raises(AssertionError, match="148"):
        watch.judge_march(good, 0, wrong(lambda scene: monster(scene).update(at=[1, 1])))
    with pytest.raises(AssertionError, match="149"):
        watch.offer(wrong(lambda scene: scene.update(carrier=[0, 0], idol=[0, 0])), 0, actions)
    with pytest.raises(AssertionError):
        watch.opening(good)


@pytest.mark.soak
@pytest.mark.parametrize("players", [2, 3, 4])
def test_invariants_hold_for_a_million_steps(players: int) -> None:
    rules = games.spec("quarz").make_rules({"players": players})
    seen = watched_steps(rules, Stream(99), 1_000_000)
    print(f"{players} players: {dict(seen)}")
    assert not [name for name in WATCHED if not seen[name]]


def test_reaction_tokens_come_back_on_the_own_turn() -> None:
    """Rules 88, 144: never more than two used between own turns."""
    rules = games.spec("quarz").make_rules({"draft": "random", "tiles": "random"})
    stream = Stream(8)
    for _ in range(10):
        position = rules.initial_position()
        before: dict[str, Any] | None = None
        while not position.is_terminal():
            scene = rules.scene(position, -1)
            for seat, mob in enumerate(scene["mobs"]):
                assert 0 <= mob["reactions"] <= 2
                if before is not None and mob["reactions"] > before["mobs"][seat]["reactions"]:
                    assert scene["turn"] is None or scene["order"][scene["turn"]] == seat
            before = scene
            actions = position.legal_actions()
            position.apply_action(actions[stream.below(len(actions))])


def test_attack_choices_are_symmetric_and_reciprocal() -> None:
    """Rules 146, 147 in random positions: checked on the engine's own choices."""
    rules = rules_for(tiles="random")
    stream = Stream(31)
    checked = 0
    for _ in range(12):
        position = random_game(rules, stream, steps=40 + stream.below(200))
        if position.is_terminal():
            continue
        given = position.to_dict()
        base = {key: given[key] for key in ("tiles", "melted", "idol", "shrine_cards")}
        cells = {tuple(m["at"]) for mob in given["mobs"] for m in mob["monsters"]}
        if tuple(given["idol"]) in cells:
            base["idol"] = given["idol"]
        places = {
            f"P{s + 1}.{k + 1}": {"at": m["at"]}
            for s, mob in enumerate(given["mobs"])
            for k, m in enumerate(mob["monsters"])
        }
        views = [choices(position_of(rules, {**base, **places, "order": order})) for order in ([0, 1], [1, 0])]
        shooters, strikers = {0: (1, 2), 1: ()}, {0: (3,), 1: (1, 2, 3)}
        for mine in strikers[0]:
            for theirs in strikers[1]:
                assert (f"attack {mine} P2.{theirs}" in views[0]) == (f"attack {theirs} P1.{mine}" in views[1])
                checked += 1
        for a in shooters[0]:
            for b in shooters[0]:
                if a != b:
                    assert (f"attack {a} P1.{b}" in views[0]) == (f"attack {b} P1.{a}" in views[0])
                    checked += 1
    assert checked > 20


@pytest.mark.parametrize("monster", range(16))
def test_every_card_is_playable_and_edible(monster: int) -> None:
    """Each card of each monster: playing costs its price and discards it, munching costs its price and either
    removes it or fills a slot with the bonus its file states."""
    rules = rules_for()
    printed = rules.content.monsters[monster]
    for number, card in enumerate(printed.cards):
        given = _rich_position(rules, printed, card)
        if not card.trigger:
            position = position_of(rules, given)
            assert f"play 1 {number}" in choices(position), (card.label, choices(position))
            before = rules.scene(position, -1)["mobs"][0]["monsters"][0]
            take(position, f"play 1 {number}")
            after = rules.scene(position, -1)["mobs"][0]["monsters"][0]
            paid = before["energy"] - after["energy"]
            healed = sum(9 if e["amount"] == "die" else e["amount"] for e in card.effects if e["do"] == "heal")
            assert card.cost - healed <= paid <= card.cost
            assert card.label not in after["hand"]
            _finish(position)
            after = rules.scene(position, -1)["mobs"][0]["monsters"][0]
            assert card.label in after["discard"]
        position = position_of(rules, given)
        assert f"munch 1 {number}" in choices(position), (card.label, choices(position))
        eaten = rules.scene(position, -1)["mobs"][0]["munched"]
        before = rules.scene(position, -1)["mobs"][0]["monsters"][0]
        take(position, f"munch 1 {number}")
        after = rules.scene(position, -1)["mobs"][0]["monsters"][0]
        assert rules.scene(position, -1)["mobs"][0]["munched"] == eaten + 1
        if card.munch.once:
            assert card.label in after["removed"]
            continue
        assert card.label in after["slots"]
        third = printed.slot3 if len(after["slots"]) == 3 else {}
        second = printed.slot2 if len(before["slots"]) == 1 else {}
        for key in ("damage", "move", "draw"):
            gained = card.munch.keep.get(key, 0) + third.get(key, 0) + second.get(key, 0)
            assert after["figures"][key] - before["figures"][key] == gained
        gained = card.munch.keep.get("energy", 0) + third.get("energy", 0) + second.get("energy", 0)
        assert after["energy"] == before["energy"] - card.munch.cost + gained
        assert after["spent"] == before["spent"] + card.munch.cost
        powers = {name for name, value in {**card.munch.keep, **third, **second}.items() if value is True}
        assert powers <= set(after["figures"]["powers"])


def _rich_position(rules: Rules, printed: Any, card: Any) -> dict[str, Any]:
    """The monster in the middle with the card in hand, friends and enemies around, something to do for
    every effect."""
    mine = printed.mob
    theirs = next(mob for mob in rules.content.mobs if mob != mine)
    keeps = [c.label for c in printed.cards[1:] if c.munch.keep and c is not card and not c.munch.lock]
    rest = [c.label for c in printed.cards[1:] if c is not card and c.label not in keeps[:2]]
    one: dict[str, Any] = {"name": printed.name, "at": [0, 0], "spent": 3, "hand": [card.label], "discard": rest[:1]}
    if card.ultimate:
        one["slots"] = keeps[:2]
    enemy = next(m for m in rules.content.monsters if m.mob == theirs)
    return {
        "idol": [3, -1],
        "P1": {"mob": mine},
        "P2": {"mob": theirs},
        "P1.1": one,
        "P1.2": {"at": [-1, 0], "spent": 2, "poison": 1},
        "P2.1": {"name": enemy.name, "at": [1, 0], "hand": [enemy.cards[10].label]},
        "tiles": {"2,-2": ["brook", 0]},
    }


def _finish(position: Position) -> None:
    """Choose the last choice until the turn's seat is back at its actions."""
    stream = Stream(1)
    while not position.is_terminal() and position.rules.scene(position, -1)["doing"] != "action":
        position.apply_action(position.sample(stream) if position.is_chance_node() else position.legal_actions()[-1])


def test_the_greedy_policy_plays_legal_games_to_the_end() -> None:
    """The greedy policy answers every decision of its own games with a legal choice, to the end."""
    rules = games.spec("quarz").make_rules({"players": 3})
    stream = Stream(2)
    for _ in range(3):
        position = rules.initial_position()
        while not position.is_terminal():
            if position.is_chance_node():
                position.apply_action(position.sample(stream))
                continue
            action = position.suggest(stream)
            assert action in position.legal_actions()
            position.apply_action(action)


@pytest.mark.parametrize("players", [2, 3, 4])
def test_positions_come_back_exactly(players: int) -> None:
    """to_dict and from_dict at every node of a random game, and through JSON."""
    rules = games.spec("quarz").make_rules({"players": players})
    stream = Stream(6)
    position = rules.initial_position()
    while not position.is_terminal():
        assert rules.from_dict(json.loads(json.dumps(position.to_dict()))) == position
        actions = position.legal_actions()
        position.apply_action(actions[stream.below(len(actions))])
    assert rules.from_dict(position.to_dict()) == position


def test_a_pending_part_fits_its_position_only() -> None:
    rules = rules_for()
    position = position_of(rules, {"P1.1": {"at": [1, 0]}, "P2.1": {"at": [0, 0], "hand": ["Hot Kick/1"]}})
    take(position, "attack 1 P2.1")
    saved = position.to_dict()
    assert rules.from_dict(saved) == position
    saved["actions"] = 0
    with pytest.raises(PositionError, match="leave pending"):
        rules.from_dict(saved)


@pytest.mark.parametrize(
    ("given", "told"),
    [
        ({"mob": []}, "unknown field 'mob'"),
        ({"mobs": [{}]}, "mobs"),
        ({"mobs": [{"mbo": 1}, {}]}, "mbo"),
        ({"mobs": [{"mob": "Nobody"}, {}]}, "mob"),
        ({"mobs": [{"camp": 1}, {"camp": 1}]}, "seat 0"),
        ({"mobs": [{"camp": None}, {}]}, "mobs.0.*camp"),
        ({"mobs": [{"monsters": []}, {}]}, "monsters"),
        ({"mobs": [{"reactions": 3}, {}]}, "reactions"),
        ({"mobs": [{"shrines": [3, 0]}, {}]}, "shrines"),
        ({"idol": [9, 9]}, "idol"),
        ({"tiles": {"0,0": ["brook", 0]}}, "modifiable"),
        ({"tiles": {"1,0": ["river", 0]}}, "brook"),
        ({"tiles": {"1,0": ["brook", 6]}}, "0 to 5"),
        ({"melted": [[0, 0]]}, "impassable"),
        ({"shrine_cards": ["Shrine of Change"]}, "shrine_cards"),
        ({"shrine_cards": ["Shrine of Change", "Shrine of Change"]}, "different"),
        ({"time": {"tile": "Nowhere"}}, "time"),
        ({"time": {"turns": -1}}, "turns"),
        ({"order": [0, 0]}, "order"),
        ({"turn": 2}, "turn"),
        ({"moment": "lunch"}, "moment"),
        ({"pending": 3}, "pending"),
        ({"mobs": None}, "mobs is None"),
        ({"mobs": [{"favor": 5}, {}]}, "favor is 5"),
        ({"mobs": [{"favor_hand": [1, 1]}, {}]}, "different values"),
        ({"mobs": [{"favor": 3, "favor_hand": [3]}, {}]}, "favor 3 is in favor_hand"),
        ({"mobs": [{"munched": 9999}, {}]}, "munched is 9999"),
        ({"tiles": {"1, 0": ["brook", 0]}}, "1, 0"),
        ({"tiles": {"1,0": ["brook", 10**30]}}, "0 to 5"),
        ({"melted": [[0, 1], [0, 1]]}, "twice"),
        ({"traps": {"9,9": 0}}, "traps.9,9"),
        ({"traps": {"1,0": 2}}, "traps.1,0"),
        ({"traps": {"0,1": 0}}, "modifiable"),
        ({"traps": {"2,1": 0}}, "modifiable"),
        ({"traps": {"1,0": 0, "2,0": 0, "-1,0": 0, "-1,1": 0}}, "a fourth one of seat 0"),
        ({"idol": [0, 1]}, "impassable"),
        ({"idol": [-1, 3]}, "off camps"),
        ({"carrier": [0, 3]}, "carrier.1. is 3"),
        ({"time": {"used": ["Picnic", "Picnic"]}}, "time.used"),
        ({"time": {"used": ["Fury", "Restless Idol", "Light Idol", "Traffic Jam"]}}, "1 tiles of level 3"),
        ({"time": {"left": 1}}, "rule 137"),
        ({"moment": "favor", "turn": 1}, "null or left out"),
        ({"actions": 10**30}, "actions"),
        ({"actions": float("nan")}, "actions is nan"),
        ({"recall": ["0", "0"]}, "recall goes with pending"),
        ({"order": [False, True]}, "order"),
    ],
)
def test_bad_positions_are_named(given: dict[str, Any], told: str) -> None:
    with pytest.raises(PositionError, match=told):
        rules_for().from_dict(given)


@pytest.mark.parametrize(
    ("monster", "told"),
    [
        ({"energy": -1}, "energy is -1"),
        ({"energy": 5.0}, "energy is 5.0"),
        ({"energy": True}, "energy is True"),
        ({"energy": 3, "spent": 3}, "rule 131"),
        ({"at": [0, 0, 0]}, r"at is \[0, 0, 0\]"),
        ({"at": None}, "at is None"),
        ({"at": [10**30, 0]}, "a cell"),
        ({"hand": ["Nothing/1"]}, "Nothing/1"),
        ({"hand": "Wrapped Up/1"}, "of type list"),
        ({"hand": ["Wrapped Up/1"], "draw": ["Wrapped Up/1"]}, "rule 132"),
        ({"draw": ["Wrapped Up/1"]}, "nowhere"),
        ({"removed": "all"}, "removed is 'all'"),
        ({"removed": ["Final Draft"]}, "rule 97"),
        ({"slots": ["Wrapped Up/1"]}, "no lasting munch effect"),
        ({"slots": ["Wrapped Up/2", "Wrapped Up/3", "Toilet Paper/2", "Toilet Paper/3"]}, "at most three"),
        ({"playing": ["Wrapped Up/1"]}, "playing"),
        ({"stun": 4}, "stun is 4"),
        ({"boost": 61}, "boost is 61"),
        ({"resting": 1}, "resting is 1"),
        ({"melted": True}, "rule 118"),
    ],
)
def test_bad_monsters_are_named(monster: dict[str, Any], told: str) -> None:
    with pytest.raises(PositionError, match=told):
        position_of(rules_for(), {"P1.1": monster})


def test_a_trap_under_a_rival_has_sprung() -> None:
    with pytest.raises(PositionError, match="it has sprung"):
        position_of(rules_for(), {"P1.1": {"at": [1, 0]}, "traps": {"1,0": 1}})
    with pytest.raises(PositionError, match=r"munched is 1, must be at least 2"):
        position_of(rules_for(), {"P1": {"munched": 1}, "P1.1": {"slots": ["Wrapped Up/2", "Wrapped Up/3"]}})


def test_null_shrine_cards_and_empty_favor_hands_are_named() -> None:
    rules = rules_for()
    for given, told in (
        ({"shrine_cards": [None, None]}, "shrine_cards"),
        ({"moment": "favor", "P1": {"favor_hand": []}}, "favor_hand"),
        ({"time": {"turns": 42}}, "time.turns"),
        ({"recall": ["0"]}, "recall"),
        ({"epochs": [[0, [], [], []]]}, "epochs"),
    ):
        with pytest.raises(PositionError, match=told):
            position_of(rules, given)
