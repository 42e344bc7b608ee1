"""The engine, stepped side by side with the plain model of the whole game after the set-up."""

from __future__ import annotations

import random
from collections import Counter
from typing import Any

import pytest

import games
from engine_ext.position import Position, Rules
from engine_ext.rng import Stream
from games.quarz.vocabulary import TRIGGERS, VOCABULARY
from tests.reference.quarz import Ask, Chance, Game

KEYS = ("mobs", "tiles", "melted", "traps", "idol", "carrier", "shrine_cards", "time", "order", "turn", "actions")
SETS = ("hand", "draw", "discard", "removed", "playing")


def summary(table: dict[str, Any]) -> dict[str, Any]:
    """The documented keys that are compared; lists without an order are sorted."""
    kept: dict[str, Any] = {key: table[key] for key in KEYS}
    kept["melted"] = sorted(kept["melted"])
    kept["time"] = {**kept["time"], "used": sorted(kept["time"]["used"])}
    kept["mobs"] = [
        {
            **mob,
            "favor_hand": sorted(mob["favor_hand"]),
            "monsters": [
                {key: sorted(value) if key in SETS else value for key, value in monster.items()}
                for monster in mob["monsters"]
            ],
        }
        for mob in table["mobs"]
    ]
    return kept


def differences(engine: Any, model: Any, path: str = "") -> list[str]:
    """Where two summaries differ, as text."""
    if isinstance(engine, dict) and isinstance(model, dict):
        keys = sorted(engine.keys() | model.keys())
        return [line for key in keys for line in differences(engine.get(key), model.get(key), f"{path}/{key}")]
    if isinstance(engine, list) and isinstance(model, list) and len(engine) == len(model) and "mob" in path[-9:]:
        return [
            line for i, pair in enumerate(zip(engine, model, strict=True)) for line in differences(*pair, f"{path}/{i}")
        ]
    return [] if engine == model else [f"{path}: engine {engine}, model {model}"]


def scattered(rules: Rules, rng: random.Random) -> Position:
    """A position amid the game: monsters off their camps, tired, stunned, fed; floes, traps, any tile of time."""
    content, board = rules.content, rules.board
    field = [list(cell) for cell in (board.altar, *board.shrines, *board.modifiable)]
    floes = [list(cell) for cell in board.impassable if rng.random() < 0.3]
    places = rng.sample(field + floes, len(field + floes))
    mobs = []
    for seat, name in enumerate(rng.sample(content.mobs, rules.num_players())):
        monsters = []
        for printed in rng.sample([one for one in content.monsters if one.mob == name], 3):
            labels = [one.label for one in printed.cards]
            eaten = [one.label for one in printed.cards[1:] if one.munch.keep and not one.munch.lock]
            slots = rng.sample(eaten, rng.choice([0, 0, 1, 2, 3, 3]))
            loose = [label for label in labels[1:] if label not in slots]
            held = rng.sample(loose, rng.randint(0, 4))
            monster = {"name": printed.name, "slots": slots, "hand": held}
            monster["discard"] = rng.sample([x for x in loose if x not in held], rng.choice([0, 0, 2]))
            if rng.random() < 0.85:
                monster["at"] = places.pop()
            for token in ("stun", "poison", "shield", "frost"):
                monster[token] = rng.choice([0] * 9 + [1, 2])
            monsters.append((monster, printed.energy))
        mobs.append({"mob": name, "camp": seat, "shrines": [rng.choice([0, 0, 1]) for _ in board.shrines]})
        mobs[-1]["reactions"] = rng.randint(0, 2)
        mobs[-1]["monsters"] = [{**m, "energy": rng.choice([0, 1, 2, *range(3, e)])} for m, e in monsters]
    patterns = [(one.name, one.kind) for one in content.patterns]
    tiles = {}
    for kind, count in content.used[rules.num_players()].items():
        names = [name for name, of in patterns if of == kind]
        tiles |= {len(tiles) + i: rng.choice(names) for i in range(count)}
    cells = rng.sample(board.modifiable, len(board.modifiable))
    layout = {f"{q},{r}": [tiles[i], rng.randrange(6) if tiles[i] != "empty" else 0] for i, (q, r) in enumerate(cells)}
    loose = [(q, r) for q, r in places if (q, r) in board.modifiable]
    traps = {f"{q},{r}": rng.randrange(rules.num_players()) for q, r in loose[:1] if rng.random() < 0.3}
    order = rng.sample(range(rules.num_players()), rules.num_players())
    idol = rng.choice([m["at"] for mob in mobs for m in mob["monsters"] if "at" in m] * 2 + places)
    given = {"mobs": mobs, "tiles": layout, "melted": floes, "traps": traps, "idol": idol, "order": order}
    given |= {"time": {"tile": rng.choice(content.time_tiles).name}, "actions": rng.choice([1, 2, 2])}
    return rules.from_dict(given)


LIKED = {
    "attack": 8, "march": 8, "play": 8, "swap": 8, "melt": 6, "react": 4, "shrine": 30, "munch": 3, "regenerate": 0.5,
}  # fmt: skip


def choose(names: list[str], rng: random.Random) -> str:
    """A name at random; attacks, marches and swaps more often than the many movements."""
    return rng.choices(names, [LIKED.get(name.split(" ")[0], 1) for name in names])[0]


def follow(position: Position, rng: random.Random, count: Counter[str], until: int) -> None:
    """Play at random beside the model, to the end or until so many decisions have been compared."""
    stream, model, story = Stream(rng.randrange(2**31)), None, []
    rules = position.rules
    length = rules.parameters["length"] or ("medium" if rules.num_players() == 4 else "short")
    game: dict[str, Any] = {"board": rules.board.name, "length": length}
    game |= {key: rules.parameters[key] for key in ("sight", "impassable_sight")}
    while not position.is_terminal() and count["decisions"] < until:
        if position.is_chance_node():
            told = position.sample(stream)
            name = rules.outcome_name(told)
            if model is not None:
                odds = {rules.outcome_name(outcome): odds for outcome, odds in position.chance_outcomes()}
                assert isinstance(model.stop, Chance), (story[-12:], odds, position.to_dict())
                assert odds == pytest.approx(model.stop.outcomes), story[-12:]
                count["chance"] += 1
            position.apply_action(told)
            story.append(name)
            if model is not None:
                model.answer(name)
            continue
        table, seat = position.to_dict(), position.current_player()
        doing = rules.scene(position, -1)["doing"]
        if model is None and (
            (doing == "action" and table["turn"] is not None and seat == table["order"][table["turn"]])
            or (doing == "favor" and seat == table["order"][0] and table["turn"] is None)
        ):
            model = Game(table, doing, **game)
        offered = {position.action_to_string(seat, action): action for action in position.legal_actions()}
        if model is not None:
            ask = model.stop
            story.append(f"{seat} {doing}")
            assert isinstance(ask, Ask), (story[-12:], table)
            wrong = set(offered) ^ ask.options
            where = (story[-12:], sorted(wrong & set(offered)), sorted(wrong - set(offered)), table)
            assert seat == ask.seat, (ask.seat, *where)
            assert not wrong, where
            differing = differences(summary(table), summary(model.table))
            assert not differing, (story[-12:], differing, table)
            count["decisions"] += 1
            count["after the last action" if doing == "action" and not table["actions"] else doing] += 1
        name = choose(sorted(offered), rng)
        story.append(name)
        position.apply_action(offered[name])
        if model is not None:
            model.answer(name)
    if model is not None:
        count.update(model.ran)
    if position.is_terminal() and model is not None:
        assert model.stop is None, story[-12:]
        returns = position.returns()
        assert [seat for seat, value in enumerate(returns) if value > 0] == model.winners, (story[-12:], returns)
        count["ended"] += 1


def compare(seed: int, decisions: int, **parameters: Any) -> Counter[str]:
    """Whole games and scattered positions in turn, until so many decisions have been compared."""
    rules = games.spec("quarz").make_rules({"draft": "random", "tiles": "random", **parameters})
    rng, count = random.Random(seed), Counter[str]()
    while count["decisions"] < decisions:
        follow(rules.initial_position(), rng, count, min(decisions, count["decisions"] + 150))
        for _ in range(12):
            follow(scattered(rules, rng), rng, count, min(decisions, count["decisions"] + 30))
    return count


# What the table of the engine calls the decisions after the set-up.
DECISIONS = (
    "action", "favor", "favor action", "effect", "block", "march", "instant", "hand limit", "bonus movement",
    "displace", "knocked out", "throw the idol", "hit", "slot", "after the last action",
)  # fmt: skip


@pytest.mark.parametrize("players", [2, 3, 4])
def test_engine_and_model_agree(players: int) -> None:
    assert compare(players, 500, players=players)["decisions"] >= 500


@pytest.mark.parametrize(
    "parameters",
    [
        {"sight": "strict"},
        {"impassable_sight": False},
        {"players": 3, "board": "3p_alt_hexagon", "length": "medium"},
        {"players": 4, "board": "4p_alt_hexagon", "length": "long"},
    ],
    ids=lambda parameters: " ".join(f"{key}={value}" for key, value in parameters.items()),
)
def test_engine_and_model_agree_on_variants(parameters: dict[str, Any]) -> None:
    assert compare(9, 150, **parameters)["decisions"] >= 150


@pytest.mark.soak
@pytest.mark.parametrize(("players", "decisions"), [(2, 20_000), (3, 15_000), (4, 15_000)])
def test_engine_and_model_agree_for_long(players: int, decisions: int) -> None:
    count = compare(100 + players, decisions, players=players)
    print(f"{players} players: {dict(count.most_common())}")
    assert count["decisions"] >= decisions
    assert not [doing for doing in DECISIONS if not count[doing]]
    assert not [do for do in VOCABULARY if not count[f"effect {do}"]]
    assert not [trigger for trigger in TRIGGERS if trigger and not count[f"instant {trigger}"]]
    assert count["ended"] > 0
