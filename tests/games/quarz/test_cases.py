"""Every rule as given/when/then cases, kept as data in cases/*.toml.

A case has `rule` (numbers of the rules table, or words such as "effect damage"), `name`, and
    parameters  game parameters besides draft=fixed, tiles=none
    given       a position; "P1.2" = {...} stands for the second monster of the first mob, "P1" for the mob
    when        steps: texts of actions or, at chance nodes, of outcomes
    legal, illegal   texts that must, must not, be among the choices afterwards
    only        the choices afterwards, all of them
    then        facts afterwards: "P1.2.energy", "idol", "carrier", "to_move", "winner", "points", ...
    error       part of the message with which the position is refused
A table `given` at the head of a file holds for all its cases, unless they say otherwise.
Expected values come from the rule text, the readings, the data files, or the geometry of the board.
"""

from __future__ import annotations

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import games
from engine_ext.errors import PositionError
from engine_ext.position import Position, Rules
from games.quarz.cards import PUSH_SWAP
from games.quarz.vocabulary import PASSIVES, VOCABULARY
from tests.games.quarz import elsewhere


def cases_of(path: Path) -> list[dict[str, Any]]:
    """The cases of a file, each with what the file gives to all of them."""
    content = tomllib.loads(path.read_text(encoding="utf-8"))
    assert set(content) <= {"given", "case"}
    return [{**case, "given": content.get("given", {}) | case.get("given", {})} for case in content["case"]]


CASES = [
    pytest.param(case, id=f"{path.stem}: {case['name']}")
    for path in sorted((Path(__file__).parent / "cases").glob("*.toml"))
    for case in cases_of(path)
]
_RULES: dict[tuple[tuple[str, Any], ...], Rules] = {}


def rules_for(**parameters: Any) -> Rules:
    """Rules with fixed mobs and no tiles, unless the parameters say otherwise."""
    chosen = {"draft": "fixed", "tiles": "none", **parameters}
    key = tuple(sorted(chosen.items()))
    if key not in _RULES:
        _RULES[key] = games.spec("quarz").make_rules(chosen)
    return _RULES[key]


def position_of(rules: Rules, given: dict[str, Any]) -> Position:
    """The position a case describes."""
    mobs: list[dict[str, Any]] = [{} for _ in range(rules.num_players())]
    names = {mob: [m.name for m in rules.content.monsters if m.mob == mob] for mob in rules.content.mobs}
    squad = int(rules.parameters["squad"])
    rest = {}
    for key, value in given.items():
        if re.fullmatch(r"P\d", key):
            mobs[int(key[1]) - 1] |= value
        elif not re.fullmatch(r"P\d\.\d", key):
            rest[key] = value
    for seat, mob in enumerate(mobs):
        own = names[mob.get("mob", rules.content.mobs[seat])]
        monsters = [dict(given.get(f"P{seat + 1}.{k + 1}", {})) for k in range(squad)]
        unnamed = [name for name in own if name not in [monster.get("name") for monster in monsters]]
        for monster in monsters:
            if "name" not in monster:
                monster["name"] = unnamed.pop(0)
        mob["monsters"] = monsters
    return rules.from_dict({"mobs": mobs, **rest})


def take(position: Position, step: str) -> None:
    """Apply the choice or outcome with this text."""
    seat = position.current_player()
    names = {position.action_to_string(seat, action): action for action in position.legal_actions()}
    assert step in names, f"{step!r} is not among {sorted(names)}"
    position.apply_action(names[step])
    assert position.check() == 0


def choices(position: Position) -> set[str]:
    seat = position.current_player()
    return {position.action_to_string(seat, action) for action in position.legal_actions()}


def fact(position: Position, path: str) -> Any:
    """What holds in the position now."""
    if path == "to_move":
        return position.current_player()
    if path == "winner":
        returns = position.returns()
        return returns.index(max(returns)) if max(returns) > 0 else None
    if path == "over":
        return position.is_terminal()
    value: Any = position.rules.scene(position, -1)
    parts = path.split(".")
    if re.fullmatch(r"P\d", parts[0]):
        value = value["mobs"][int(parts[0][1]) - 1]
        parts = parts[1:]
        if parts and parts[0].isdigit():
            value = value["monsters"][int(parts[0]) - 1]
            parts = parts[1:]
    for part in parts:
        value = value[int(part)] if isinstance(value, list) else value[part]
    return value


@pytest.mark.parametrize("case", CASES)
def test_case(case: dict[str, Any]) -> None:
    unknown = set(case) - {
        "rule", "name", "parameters", "given", "when", "legal", "illegal", "only", "then", "error",
    }  # fmt: skip
    assert not unknown, f"unknown keys {unknown}"
    rules = rules_for(**case.get("parameters", {}))
    if "error" in case:
        with pytest.raises(PositionError, match=re.escape(case["error"])):
            position_of(rules, case["given"])
        return
    position = position_of(rules, case.get("given", {}))
    for step in case.get("when", []):
        take(position, step)
    now = choices(position)
    for text in case.get("legal", []):
        assert text in now, f"{text!r} should be among {sorted(now)}"
    for text in case.get("illegal", []):
        assert text not in now, f"{text!r} should not be among {sorted(now)}"
    if "only" in case:
        assert now == set(case["only"])
    for path, value in case.get("then", {}).items():
        if value == "none":
            value = None
        assert fact(position, path) == value, f"{path} is {fact(position, path)!r}, expected {value!r}"
    assert "legal" in case or "illegal" in case or "only" in case or "then" in case, "the case expects nothing"


def test_every_rule_has_a_case() -> None:
    told = {number for param in CASES for number in param.values[0]["rule"] if isinstance(number, int)}
    told |= elsewhere.RULES.keys()
    assert set(range(1, 151)) - told == set()
    assert told <= set(range(1, 151))


def test_what_stands_elsewhere_is_there() -> None:
    for number, where in elsewhere.RULES.items():
        named = re.findall(r"(test_\w+)\.(test_\w+)", where)
        assert named, number
        for module, function in named:
            text = (Path(__file__).parent / f"{module}.py").read_text(encoding="utf-8")
            assert f"def {function}(" in text, (number, where)


def test_every_effect_power_and_tile_has_a_case() -> None:
    content = rules_for().content
    words = {word for param in CASES for word in param.values[0]["rule"] if isinstance(word, str)}
    wanted = {f"effect {name}" for name in VOCABULARY} | {f"power {name}" for name in PASSIVES}
    wanted |= {f"shrine {shrine.name}" for shrine in content.shrines}
    wanted |= {f"time {tile.name}" for tile in content.time_tiles}
    wanted |= {f"favor {favor.value} {option.name}" for favor in content.favors for option in favor.options}
    wanted |= {f"token {name}" for name in ("stun", "poison", "frost", "shield", "trap", "reaction", "mob")}
    assert wanted - words == set()


def test_every_card_has_its_cases() -> None:
    """Each ability, the munch effect of each physical card, the powers above each slot, each new form. A card
    of which the data tell and no case does fails here; so does a case for a card that is not in the data."""
    content = rules_for().content
    words = {word for param in CASES for word in param.values[0]["rule"] if isinstance(word, str)}
    wanted = {"ability Push/Swap"}
    for monster in content.monsters:
        wanted |= {f"slot {n} {monster.name}" for n, bonus in ((2, monster.slot2), (3, monster.slot3)) if bonus}
        for card in monster.cards:
            if card.ability == PUSH_SWAP:
                wanted.add(f"munch {card.label}")
                continue
            wanted.add(f"ability {monster.name}: {card.ability}")
            wanted.add(f"munch {monster.name}: {card.label}")
            if card.munch.form:
                wanted.add(f"form {card.munch.form}")
    assert len([word for word in wanted if word.startswith("ability")]) == 16 * 4 + 1
    assert len([word for word in wanted if word.startswith("munch")]) == 16 * 10 + 3
    told = {word for word in words if re.match(r"ability |munch |slot |form ", word)}
    assert wanted - told == set()
    assert told - wanted == set()
