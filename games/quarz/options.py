"""The options of each question, in words."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from engine_ext.position import Position
from games.quarz.cards import Monster
from games.quarz.table import TOKENS, Table, monster_number, sides
from games.quarz.texts import describe_bonus, describe_card, describe_effects, describe_munch, describe_play
from games.words import count, who


def options(position: Position) -> Mapping[int, str]:
    """Every legal action in words; what ends or declines comes last."""
    table = Table(position, position.current_player())
    made = {action: _option(table, action, position.action_to_string(action)) for action in position.legal_actions()}
    if 0 in made:  # pass
        made[0] = made.pop(0)
    return made


def _option(t: Table, action: int, name: str) -> str:
    verb, *rest = name.split(" ")
    return _OPTION[verb](t, rest) + (_delivery(t, action) if verb in ("move", "cell", "target", "swap") else "")


def _delivery(t: Table, action: int) -> str:
    """Rules 56, 127: who wins when this brings the idol into a camp. Nothing of an attack that might: hidden cards
    decide there."""
    if t.scene["doing"] == "effect" and t.rules.instructions[t.frame[9]][0]["do"] == "attack":
        return ""
    after = t.position.child(action)
    if not after.is_terminal():
        return ""
    idol = tuple(t.rules.scene(after, t.seat)["idol"])
    homes = [t.board.camps[mob["camp"]] for mob in t.scene["mobs"]]
    if idol not in homes:
        return ""
    winner = homes.index(idol)
    return ", and wins the game" if winner == t.seat else f", and wins the game for {who(winner, t.seat)}"


def _pass(t: Table, _: list[str]) -> str:
    doing = t.scene["doing"]
    if doing == "hit":
        return f"no, {t.name(t.frame[3])} takes it"
    if doing == "effect":
        return "nothing, or nothing more"
    if doing == "action" and t.scene["actions"] <= 0:
        return "nothing more: end your turn"
    return {
        "action": f"end your turn, {count(t.scene['actions'], 'action')} unused",
        "instant": "no answer",
        "block": "no block, or no more",
        "knocked out": "leave it where it is",
        "bonus movement": "stay",
    }.get(doing, "pass")


def favor_card(t: Table, rest: list[str]) -> str:
    card = next(each for each in t.content.favors if each.value == int(rest[0]))
    effects = "; or ".join(describe_favor(option.effects) for option in card.options)
    back = "all favor cards come back to the hand; " if card.take_back else ""
    return f"favor card {card.value}: {back}{effects}"


def describe_favor(effects: Sequence[Mapping[str, Any]]) -> str:
    """The effects of a favor action; the choice of a monster goes without saying."""
    text = describe_effects([effect for effect in effects if effect["do"] != "choose_own"])
    if effects[0]["do"] == "choose_own":
        return f"one of the mob {text}"
    return text.replace("of its mob", "of the mob")


def _move(t: Table, rest: list[str]) -> str:
    k = int(rest[0]) - 1
    m, cell = 3 * t.seat + k, t.cell(rest[1])
    text = f"{t.own(k)} moves to {t.field(cell)}"
    if t.scene["doing"] == "action":  # of a march, a card or a favor card it is paid already
        stun = t.monster(m)["stun"]
        text += f" for {t.movement_cost(m)} energy" + (f", {stun} of it for stun" if stun else "")
    return text


def _attack(t: Table, rest: list[str]) -> str:
    m, target = 3 * t.seat + int(rest[0]) - 1, monster_number(rest[1])
    verb = "shoots" if t.tableau(m).attack == "shoot" else "strikes"
    energy = t.monster(target)["energy"]
    return (
        f"{t.own(m % 3)} {verb} {t.name(target)} for {t.damage(m)} of its {energy} energy "
        f"(costs {t.tableau(m).damage} energy)"
    )


def _march(t: Table, rest: list[str]) -> str:
    stun = sum(m["stun"] for m in t.scene["mobs"][t.seat]["monsters"])
    price = t.content.costs["march"] + stun
    steps = t.content.limits["march_steps"]
    return (
        f"Mob March: all your monsters move, each at least 1 field and up to {steps} in all; "
        f"{t.own(int(rest[0]) - 1)} pays {price} energy" + (f", {stun} of it for stun" if stun else "")
    )


def _draw(t: Table, rest: list[str]) -> str:
    k, n = int(rest[0]) - 1, int(rest[1])
    monster = t.monster(3 * t.seat + k)
    more = monster["figures"]["draw"] + t.while_visible("draw")  # rule 82
    there = len(monster["draw"])  # Q66
    return (
        f"{t.own(k)} draws {count(n, 'card')} for {t.content.costs['draw'][n - 1]} energy"
        + (f", and {more} more as a bonus" if more else "")
        + (f" (its pile has only {there})" if there < n + more else "")
    )


def _play(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    return f"{t.own(m % 3)} plays {card.label} ({card.cost} energy): {describe_play(card)}"


def _react(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    price = f"{card.cost} energy" + (f", {count(card.reactions, 'reaction')}" if card.reactions else "")
    return f"{t.own(m % 3)} plays {card.label} at once ({price}): {describe_effects(card.effects)}"


def _swap(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    cost = t.content.costs["swap"]
    return (
        f"{t.own(m % 3)} plays {t.card(m, int(rest[1])).label} as Swap ({cost} energy): changes places with a neighbour"
    )


def _munch(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    return f"{t.own(m % 3)} munches {card.label} ({card.munch.cost} energy): {describe_munch(card)}"


def _shrine(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    place = tuple(t.monster(m)["at"])
    number = t.board.shrines.index(cast(Any, place))
    name = t.scene["shrine_cards"][number]
    shrine = next(each for each in t.content.shrines if each.name == name)
    points = t.content.limits["shrine_points"]
    return (
        f"{t.own(m % 3)} uses the {name} ({t.shrine_cost} energy, scores {count(points, 'point')}): "
        f"{describe_effects(shrine.effects).replace('of its mob', 'of your mob')}"
    )


def _regenerate(t: Table, rest: list[str]) -> str:
    spent = t.monster(3 * t.seat + int(rest[0]) - 1)["spent"]
    shuffle = ", its discard goes back into the draw pile" if rest[-1] == "shuffle" else ""
    return f"{t.own(int(rest[0]) - 1)} regenerates: gets {spent} energy back{shuffle}, and does no action in this turn"


def _melt(t: Table, rest: list[str]) -> str:
    cell = t.board.number[t.board.impassable[int(rest[1])]]
    return (
        f"{t.own(int(rest[0]) - 1)} gives up its second use of shrines for good to melt the impassable field "
        f"{t.board.field_names[cell]}"
    )


def _target(t: Table, rest: list[str]) -> str:
    m = monster_number(rest[0])
    monster = t.monster(m)
    tokens = "".join(f", {name} {monster[name]}" for name in TOKENS if monster[name])
    return f"{t.name(m)}, energy {monster['energy']}{tokens}, on {t.place(m)}"


def _cell_option(t: Table, rest: list[str]) -> str:
    cell = t.cell(rest[0])
    with_tile = t.scene["doing"] == "effect" and t.rules.instructions[t.frame[9]][0]["do"] in ("rotate", "trade")
    return f"{t.field(cell)}: {t.tile_at(cell)}" if with_tile else t.field(cell)


def _turn(t: Table, rest: list[str]) -> str:
    if t.scene["doing"] == "tile":
        return sides(t.content.patterns[t.frame[4]], int(rest[0]))
    return sides(t.pattern_at(t.frame[7]), int(rest[0]))


def _card(t: Table, rest: list[str]) -> str:
    return describe_card(t.card(t.frame[2], int(rest[0])))


def _slot(t: Table, rest: list[str]) -> str:
    label = t.monster(t.frame[2])["slots"][int(rest[0])]
    card = next(each for each in t.tableau(t.frame[2]).cards if each.label == label)
    return f"slot {int(rest[0]) + 1}, {label}: {describe_bonus(card.munch.keep)}"


def favor_choice(t: Table, rest: list[str]) -> str:
    number = int(rest[0])
    if t.scene["doing"] == "favor action":
        value = t.scene["mobs"][t.seat]["favor"]
        card = next(each for each in t.content.favors if each.value == value)
        return describe_favor(card.options[number].effects)
    if t.rules.instructions[t.frame[9]][0]["do"] == "push":
        return "throw the idol instead"
    return ("no, the discard stays", "yes, shuffle it in")[number]


def _discard(t: Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    return f"{t.own(m % 3)} discards {describe_card(t.card(m, int(rest[1])))}"


def _mob(t: Table, rest: list[str]) -> str:
    number = int(rest[0])
    names = [m.name for m in t.content.monsters[4 * number : 4 * number + 4]]
    return f"{t.content.mobs[number]}: {', '.join(names)}"


def _camp(t: Table, rest: list[str]) -> str:
    return f"the camp on {t.board.field_names[t.board.number[t.board.camps[int(rest[0])]]]}"


def _leave(t: Table, rest: list[str]) -> str:
    mob = t.content.mobs.index(t.scene["mobs"][t.seat]["mob"])
    monster = t.content.monsters[4 * mob + int(rest[0])]
    return describe_monster(monster)


def describe_monster(monster: Monster) -> str:
    """A monster's figures in words."""
    die = f", die {' '.join(map(str, monster.die))}" if monster.die else ""
    verb = "shoots" if monster.attack == "shoot" else "strikes"
    return f"{monster.name}: energy {monster.energy}, {verb} for {monster.damage}, moves {monster.move}{die}"


_OPTION: Mapping[str, Callable[[Table, list[str]], str]] = {
    "pass": _pass,
    "favor": favor_card,
    "move": _move,
    "attack": _attack,
    "march": _march,
    "draw": _draw,
    "play": _play,
    "swap": _swap,
    "munch": _munch,
    "shrine": _shrine,
    "regenerate": _regenerate,
    "melt": _melt,
    "react": _react,
    "target": _target,
    "cell": _cell_option,
    "turn": _turn,
    "card": _card,
    "slot": _slot,
    "choice": favor_choice,
    "discard": _discard,
    "mob": _mob,
    "camp": _camp,
    "leave": _leave,
}
