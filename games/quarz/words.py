"""What Qu'arz says to people: the question of each frame, its options, the story, and what to look up.

A `_Table` is a position as a seat sees it, with names for its pieces. What it says comes from the
seat's scene and from the frame that asks, never from what the seat does not see.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, cast

from engine_ext.position import Position
from games.quarz.board import DIRECTION_NAMES
from games.quarz.cards import (
    Card,
    Monster,
    Pattern,
    describe_bonus,
    describe_card,
    describe_effect,
    describe_effects,
    describe_munch,
    describe_play,
    describe_time,
)
from games.quarz.rules import QuarzRules
from games.words import NOBODY, Line, Step, Words, count, join, who, whose

_TOKENS = ("stun", "poison", "shield", "frost", "boost")
_CARDS, _CELLS = 13, 48


class _Table:
    """A position as a seat sees it.

    Args:
        position: the position.
        seat: who listens.
    """

    def __init__(self, position: Position, seat: int) -> None:
        self.rules = cast(QuarzRules, position.rules)
        self.content, self.board, self.seat = self.rules.content, self.rules.board, seat
        self.position = position
        self.scene = self.rules.scene(position, seat)
        self.monsters = {m.name: m for m in self.content.monsters}

    @property
    def frame(self) -> list[int]:
        """The frame that asks: kind, step, a, b, c, d, e, f, g, prog (state.pxd)."""
        frames = self.position.to_dict()["pending"]["frames"]
        return list(frames[-1]) if frames else [0] * 10

    def below(self) -> list[int]:
        """The frame that the top one interrupts."""
        frames = self.position.to_dict()["pending"]["frames"]
        return list(frames[-2]) if len(frames) > 1 else [0] * 10

    # ---- names ---------------------------------------------------------------------------------

    def monster(self, m: int) -> dict[str, Any]:
        """The scene's entry of monster m."""
        return cast(dict[str, Any], self.scene["mobs"][m // 3]["monsters"][m % 3])

    def tableau(self, m: int) -> Monster:
        """What is printed on monster m."""
        return self.monsters[self.monster(m)["name"]]

    def name(self, m: int) -> str:
        """Monster m, with its seat where it is not the listener's."""
        name = self.monster(m)["name"]
        return name if m // 3 == self.seat else f"{name} ({who(m // 3, self.seat)})"

    def own(self, k: int) -> str:
        """The k-th monster of the seat to move."""
        return str(self.monster(3 * self.seat + k)["name"])

    def field(self, cell: int) -> str:
        """A field by name, and what is on it."""
        name = self.board.field_names[cell]
        place = self.board.cells[cell]
        notes = []
        if place == self.board.altar:
            notes.append("altar")
        for k, shrine in enumerate(self.board.shrines):
            if place == shrine:
                notes.append(self.scene["shrine_cards"][k] or "a shrine")
        for k, camp in enumerate(self.board.camps):
            owners = [seat for seat, mob in enumerate(self.scene["mobs"]) if mob["camp"] == k]
            if place == camp:
                notes.append(f"{whose(owners[0], self.seat)} camp" if owners else "a camp")
        if tuple(self.scene["idol"]) == place:
            notes.append("the idol")
        if f"{place[0]},{place[1]}" in self.scene["traps"]:
            notes.append(f"{whose(self.scene['traps'][f'{place[0]},{place[1]}'], self.seat)} trap")
        if place in self.board.impassable:
            notes.append("ice" if list(place) in self.scene["melted"] else "impassable")
        here = [
            monster["name"]
            for mob in self.scene["mobs"]
            for monster in mob["monsters"]
            if tuple(monster["at"]) == place
        ]
        notes += here
        return f"{name} ({', '.join(notes)})" if notes else name

    def card(self, m: int, card: int) -> Card:
        """Card number `card` of monster m."""
        return self.tableau(m).cards[card]

    def tile_at(self, cell: int) -> str:
        """The tile on a field, with its edges."""
        q, r = self.board.cells[cell]
        name, turned = self.scene["tiles"].get(f"{q},{r}", ("", 0))
        pattern = next((p for p in self.content.patterns if p.name == name), None)
        return f"{name}, {sides(pattern, turned)}" if pattern else "no tile"

    def pattern_at(self, cell: int) -> Pattern:
        """The pattern of the tile on a field."""
        q, r = self.board.cells[cell]
        name = self.scene["tiles"][f"{q},{r}"][0]
        return next(p for p in self.content.patterns if p.name == name)

    def source(self, prog: int) -> str:
        """What an instruction belongs to: a card, a munched card, a favor card, a shrine."""
        kind, *where = self.rules.instructions[prog][1]
        if kind == "swap":
            return "Swap"
        if kind == "favor":
            return f"Favor card {where[0]}"
        if kind == "shrine":
            return self.content.shrines[where[0]].name
        label = self.content.monsters[where[0]].cards[where[1]].label
        return label if kind == "card" else f"{label}, munched"

    def damage(self, m: int) -> int:
        """What an attack of monster m does."""
        monster = self.monster(m)
        tile = next((t for t in self.content.time_tiles if t.name == self.scene["time"]["tile"]), None)
        extra = tile.while_visible.get("damage", 0) if tile else 0
        return int(monster["figures"]["damage"]) + int(monster["boost"]) + int(extra)


def sides(pattern: Pattern, turned: int) -> str:
    """The edges of a tile in words: `water on E and SE`."""
    if not pattern.edges:
        return "no edges"
    names = [DIRECTION_NAMES[side] for side in sorted((side + turned) % 6 for side in pattern.edges)]
    return f"{pattern.kind} on {join(names)}"


# ---- the question --------------------------------------------------------------------------------


def ask(position: Position) -> str:
    """The question of the frame that waits for the seat to move."""
    table = _Table(position, position.current_player())
    doing = table.scene["doing"]
    asked = _ASK.get(doing)
    return asked(table) if asked else f"What do you do about the {doing}?"


def _ask_action(t: _Table) -> str:
    return f"Your turn, {count(t.scene['actions'], 'action')} left: what do your monsters do?"


def _ask_favor(_: _Table) -> str:
    return (
        "Choose a favor card in secret: the highest plays first this round, and each gives one of its effects at the "
        "start of the own turn."
    )


def _ask_favor_action(t: _Table) -> str:
    return f"Your turn begins with your favor card {t.scene['mobs'][t.seat]['favor']}: which of its effects?"


def _ask_window(t: _Table) -> str:
    trigger, context, subject = t.frame[2:5]
    if trigger == 1:
        return f"{t.name(context)} attacks {t.name(subject)} for {t.damage(context)}: do you answer with an instant?"
    if trigger == 2:
        return f"{t.name(context)} has hurt {t.name(subject)}: do you answer with an instant?"
    return f"{t.name(context)} has come beside one of yours: do you answer with an instant?"


def _ask_block(t: _Table) -> str:
    target, more = t.frame[2], t.frame[3]
    attack = t.below()
    left = max(0, t.damage(attack[2]) - attack[4] - attack[6])
    return (
        f"{t.name(attack[2])} hits {t.name(target)} for {left}: discard a card to block 1 of it "
        f"(up to {count(more, 'card')})?"
    )


def _ask_bonus(t: _Table) -> str:
    return f"{t.name(t.frame[2])} has taken the idol and may move 1 field at once: where to?"


def _ask_ko(t: _Table) -> str:
    if t.frame[4]:
        return f"{t.name(t.frame[3])} is pushed: to which field?"
    return f"{t.name(t.frame[3])} is out of energy: move it 1 field, or leave it where it is?"


def _ask_strip(t: _Table) -> str:
    return f"{t.name(t.frame[3])} loses the idol and is driven off: to which field?"


def _ask_throw(t: _Table) -> str:
    return f"The shot knocks the idol out of the hands of {t.name(t.frame[3])}: to which field does it fly?"


def _ask_hit(t: _Table) -> str:
    return f"{t.name(t.frame[3])} is about to lose {t.frame[4]} energy: does a Living Shield take it instead?"


def _ask_march(t: _Table) -> str:
    return f"Mob March: who moves next, and where to? ({count(t.frame[4], 'field')} left for those still to move)"


def _ask_hand(t: _Table) -> str:
    held = sum(monster["held"] for monster in t.scene["mobs"][t.seat]["monsters"])
    return (
        f"Your monsters hold {held} cards, more than the hand limit allows: which one goes? "
        "(One after another in the order listed.)"
    )


def _ask_slot(t: _Table) -> str:
    monster, card = t.frame[2], t.frame[4]
    return f"All slots of {t.name(monster)} are filled: which card makes way for {t.card(monster, card).label}?"


def _ask_tile(t: _Table) -> str:
    pattern = t.content.patterns[t.frame[4]]
    if t.frame[1] == 2:
        return f"Place the {pattern.name} tile on {t.board.field_names[t.frame[5]]}: how is it turned?"
    if not pattern.edges:
        return "Place an empty tile: on which field?"
    edges = count(len(pattern.edges), "edge")
    return f"Place the {pattern.name} tile ({edges} of {pattern.kind}): on which field?"


def _ask_effect(t: _Table) -> str:
    _, step, m, _, _, roll, _, f, g, prog = t.frame
    effect = t.rules.instructions[prog][0]
    do, source = effect["do"], t.source(prog)
    text = describe_effect(effect)
    if effect.get("amount") == "die":
        text += f" (it shows {roll})"
    subject = f"{t.name(m)}: " if m >= 0 else ""
    if do == "choose_own":
        return f"{source}: for which of your monsters?"
    if do == "regenerate":
        return f"{source}, {t.name(m)} regenerates: shuffle its discard into its draw pile, too?"
    if do == "rotate":
        done = ", a second one" if g & 64 else ""
        if step == 1:
            return f"{source}: how does the tile on {t.board.field_names[f]} ({t.tile_at(f)}) lie?"
        return f"{source}, turn a free tile{done}: which one?"
    if do == "trade":
        if step == 1:
            return f"{source}: which tile takes the place of the one on {t.board.field_names[f]} ({t.tile_at(f)})?"
        return f"{source}, exchange two free tiles: which is the first?"
    if do == "swap_friends":
        if step == 1:
            return f"{source}: with whom does {t.name(f)} change places?"
        return f"{source}, exchange two of your monsters: which is the first?"
    if do == "move_any":
        if step == 1:
            return f"{source}: where does {t.name(f)} move?"
        return f"{source}, move any monster up to {effect['amount']}, across everything: which one?"
    if do == "push" and step:
        if step == 2:
            return f"{source}: to which field does {t.name(m)} throw the idol?"
        return f"{source}: to which field is {t.name(f)} pushed?"
    if do == "move" and effect["who"] == "self":
        return f"{source}: where does {t.name(m)} move, up to {effect['amount']}?"
    if do in ("move", "march"):
        return f"{source}: who moves up to {effect['amount']}, and where to?"
    if do in ("trap", "jump"):
        return f"{source}, {subject}{text}: to which field?"
    if do == "recover":
        return f"{source}: which card of its discard does {t.name(m)} take back?"
    return f"{source}, {subject}{text}: which one?"


_ASK: Mapping[str, Callable[[_Table], str]] = {
    "mob": lambda _: "Choose your mob.",
    "camp": lambda _: "Choose your camp: carry the idol there and you win.",
    "leave": lambda _: "Three monsters of your mob fight: which one stays at home?",
    "tile": _ask_tile,
    "favor": _ask_favor,
    "favor action": _ask_favor_action,
    "action": _ask_action,
    "hand limit": _ask_hand,
    "march": _ask_march,
    "effect": _ask_effect,
    "block": _ask_block,
    "hit": _ask_hit,
    "displace": _ask_strip,
    "throw the idol": _ask_throw,
    "knocked out": _ask_ko,
    "bonus movement": _ask_bonus,
    "instant": _ask_window,
    "slot": _ask_slot,
}


# ---- the options ---------------------------------------------------------------------------------


def options(position: Position) -> Mapping[int, str]:
    """Every legal action in words; what ends or declines comes last."""
    table = _Table(position, position.current_player())
    made = {action: _option(table, position.action_to_string(action)) for action in position.legal_actions()}
    if 0 in made:  # pass
        made[0] = made.pop(0)
    return made


def _cell(t: _Table, text: str) -> int:
    q, r = map(int, text.strip("()").split(","))
    return t.board.number[(q, r)]


def _monster(text: str) -> int:
    """`P2.1` as a monster number."""
    seat, k = text[1:].split(".")
    return 3 * (int(seat) - 1) + int(k) - 1


def _option(t: _Table, name: str) -> str:
    verb, *rest = name.split(" ")
    return _OPTION[verb](t, rest)


def _pass(t: _Table, _: list[str]) -> str:
    doing = t.scene["doing"]
    if doing == "hit":
        return f"no, {t.name(t.frame[3])} takes it"
    if doing == "effect":
        return "nothing, or nothing more"
    return {
        "action": "end your actions",
        "instant": "no answer",
        "block": "no block, or no more",
        "knocked out": "leave it where it is",
        "bonus movement": "stay",
    }.get(doing, "pass")


def _favor(t: _Table, rest: list[str]) -> str:
    card = next(each for each in t.content.favors if each.value == int(rest[0]))
    effects = "; or ".join(describe_favor(option.effects) for option in card.options)
    back = "all favor cards come back to the hand; " if card.take_back else ""
    return f"favor card {card.value}: {back}{effects}"


def describe_favor(effects: Sequence[Mapping[str, Any]]) -> str:
    """The effects of a favor action; the choice of a monster goes without saying."""
    text = describe_effects([effect for effect in effects if effect["do"] != "choose_own"])
    if effects[0]["do"] == "choose_own":
        return f"one of the mob {text.removeprefix('it ')}"
    return text.replace("of its mob", "of the mob")


def _move(t: _Table, rest: list[str]) -> str:
    return f"{t.own(int(rest[0]) - 1)} moves to {t.field(_cell(t, rest[1]))}"


def _attack(t: _Table, rest: list[str]) -> str:
    m, target = 3 * t.seat + int(rest[0]) - 1, _monster(rest[1])
    verb = "shoots" if t.tableau(m).attack == "shoot" else "strikes"
    energy = t.monster(target)["energy"]
    return (
        f"{t.own(m % 3)} {verb} {t.name(target)} for {t.damage(m)} of its {energy} energy "
        f"(costs {t.tableau(m).damage} energy)"
    )


def _march(t: _Table, rest: list[str]) -> str:
    price = t.content.costs["march"] + sum(m["stun"] for m in t.scene["mobs"][t.seat]["monsters"])
    steps = t.content.limits["march_steps"]
    return f"Mob March: all your monsters move, {steps} fields in all; {t.own(int(rest[0]) - 1)} pays {price} energy"


def _draw(t: _Table, rest: list[str]) -> str:
    k, n = int(rest[0]) - 1, int(rest[1])
    return f"{t.own(k)} draws {count(n, 'card')} for {t.content.costs['draw'][n - 1]} energy" + (
        f", and {t.monster(3 * t.seat + k)['figures']['draw']} more by its bonus"
        if t.monster(3 * t.seat + k)["figures"]["draw"]
        else ""
    )


def _play(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    return f"{t.own(m % 3)} plays {card.label} ({card.cost} energy): {describe_play(card)}"


def _react(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    price = f"{card.cost} energy" + (f", {count(card.reactions, 'reaction')}" if card.reactions else "")
    return f"{t.own(m % 3)} plays {card.label} at once ({price}): {describe_effects(card.effects)}"


def _swap(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    cost = t.content.costs["swap"]
    return (
        f"{t.own(m % 3)} plays {t.card(m, int(rest[1])).label} as Swap ({cost} energy): changes places with a neighbour"
    )


def _munch(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    card = t.card(m, int(rest[1]))
    return f"{t.own(m % 3)} munches {card.label} ({card.munch.cost} energy): {describe_munch(card)}"


def _shrine(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    place = tuple(t.monster(m)["at"])
    number = t.board.shrines.index(cast(Any, place))
    name = t.scene["shrine_cards"][number]
    shrine = next(each for each in t.content.shrines if each.name == name)
    points = t.content.limits["shrine_points"]
    return (
        f"{t.own(m % 3)} uses the {name} ({t.content.costs['shrine']} energy, scores {points:g}): "
        f"{describe_effects(shrine.effects).replace('of its mob', 'of your mob')}"
    )


def _regenerate(t: _Table, rest: list[str]) -> str:
    spent = t.monster(3 * t.seat + int(rest[0]) - 1)["spent"]
    shuffle = ", its discard goes back into the draw pile" if rest[-1] == "shuffle" else ""
    return f"{t.own(int(rest[0]) - 1)} regenerates: gets {spent} energy back{shuffle}, and rests for this turn"


def _melt(t: _Table, rest: list[str]) -> str:
    cell = t.board.number[t.board.impassable[int(rest[1])]]
    return (
        f"{t.own(int(rest[0]) - 1)} gives up its second use of shrines to melt the impassable field "
        f"{t.board.field_names[cell]}"
    )


def _target(t: _Table, rest: list[str]) -> str:
    m = _monster(rest[0])
    monster = t.monster(m)
    tokens = "".join(f", {name} {monster[name]}" for name in _TOKENS if monster[name])
    return f"{t.name(m)}, energy {monster['energy']}{tokens}, on {_place(t, m)}"


def _place(t: _Table, m: int) -> str:
    q, r = t.monster(m)["at"]
    return t.board.field_names[t.board.number[(q, r)]]


def _cell_option(t: _Table, rest: list[str]) -> str:
    cell = _cell(t, rest[0])
    with_tile = t.scene["doing"] == "effect" and t.rules.instructions[t.frame[9]][0]["do"] in ("rotate", "trade")
    return f"{t.field(cell)}: {t.tile_at(cell)}" if with_tile else t.field(cell)


def _turn(t: _Table, rest: list[str]) -> str:
    if t.scene["doing"] == "tile":
        return sides(t.content.patterns[t.frame[4]], int(rest[0]))
    return sides(t.pattern_at(t.frame[7]), int(rest[0]))


def _card(t: _Table, rest: list[str]) -> str:
    return describe_card(t.card(t.frame[2], int(rest[0])))


def _slot(t: _Table, rest: list[str]) -> str:
    label = t.monster(t.frame[2])["slots"][int(rest[0])]
    card = next(each for each in t.tableau(t.frame[2]).cards if each.label == label)
    return f"slot {int(rest[0]) + 1}, {label}: {describe_bonus(card.munch.keep)}"


def _choice(t: _Table, rest: list[str]) -> str:
    number = int(rest[0])
    if t.scene["doing"] == "favor action":
        value = t.scene["mobs"][t.seat]["favor"]
        card = next(each for each in t.content.favors if each.value == value)
        return describe_favor(card.options[number].effects)
    if t.rules.instructions[t.frame[9]][0]["do"] == "push":
        return "throw the idol instead"
    return ("no, the discard stays", "yes, shuffle it in")[number]


def _discard(t: _Table, rest: list[str]) -> str:
    m = 3 * t.seat + int(rest[0]) - 1
    return f"{t.own(m % 3)} discards {describe_card(t.card(m, int(rest[1])))}"


def _mob(t: _Table, rest: list[str]) -> str:
    number = int(rest[0])
    names = [m.name for m in t.content.monsters[4 * number : 4 * number + 4]]
    return f"{t.content.mobs[number]}: {', '.join(names)}"


def _camp(t: _Table, rest: list[str]) -> str:
    return f"the camp on {t.board.field_names[t.board.number[t.board.camps[int(rest[0])]]]}"


def _leave(t: _Table, rest: list[str]) -> str:
    mob = t.content.mobs.index(t.scene["mobs"][t.seat]["mob"])
    monster = t.content.monsters[4 * mob + int(rest[0])]
    return describe_monster(monster)


def describe_monster(monster: Monster) -> str:
    """A monster's figures in words."""
    die = f", die {' '.join(map(str, monster.die))}" if monster.die else ""
    verb = "shoots" if monster.attack == "shoot" else "strikes"
    return f"{monster.name}: energy {monster.energy}, {verb} for {monster.damage}, moves {monster.move}{die}"


_OPTION: Mapping[str, Callable[[_Table, list[str]], str]] = {
    "pass": _pass,
    "favor": _favor,
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
    "choice": _choice,
    "discard": _discard,
    "mob": _mob,
    "camp": _camp,
    "leave": _leave,
}


# ---- the story -----------------------------------------------------------------------------------


def tell(steps: Sequence[Step], seat: int) -> list[Line]:
    """The steps as a seat saw them: decisions and what came of them, draws of one monster together."""
    lines: list[Line] = []
    drawn: tuple[int, list[str]] | None = None
    for step in steps:
        before = _Table(step.before, seat)
        if step.seat == NOBODY and before.scene["doing"] == "draw":
            m = before.scene["frame"][0]
            card = before.card(m, step.action).label if m // 3 == seat else ""
            if drawn is None or drawn[0] != m:
                lines += _drawn(before, drawn)
                drawn = (m, [])
            drawn[1].append(card)
        else:
            lines += _drawn(before, drawn)
            drawn = None
            lines += _happened(step, before)
        after = _Table(step.after, seat)
        changes = _changes(before, after)
        if changes and drawn is not None:
            lines += _drawn(before, drawn)
            drawn = None
        lines += changes
    if steps:
        lines += _drawn(_Table(steps[-1].after, seat), drawn)
    return lines


def _drawn(t: _Table, drawn: tuple[int, list[str]] | None) -> list[Line]:
    if drawn is None:
        return []
    m, cards = drawn
    name = t.monster(m)["name"]
    what = join(cards) if m // 3 == t.seat else count(len(cards), "card")
    return [Line(m // 3, f"{name} drew {what}")]


def _happened(step: Step, before: _Table) -> list[Line]:
    """The decision or the outcome itself."""
    doing = before.scene["doing"]
    if step.seat == NOBODY:
        return _outcome(step, before, doing)
    if step.seat != before.seat and _Table(step.before, step.seat).scene["doing"] == "instant" and step.action == 0:
        return []  # that somebody could have answered is not known
    if step.name is None:
        return [Line(step.seat, "chose a favor card in secret")]
    if doing == "favor":
        return [Line(step.seat, f"chose favor card {step.name.split()[1]} in secret")]
    mover = _Table(step.before, step.seat)
    if step.seat == before.seat:
        mover = before
    text = _told(mover, step.name, step.seat != before.seat)
    return [Line(step.seat, text)] if text else []


def _told(t: _Table, name: str, foreign: bool) -> str:
    """A decision in the past tense. Every decision that is told is seen by all, card included."""
    verb, *rest = name.split(" ")
    doing = t.scene["doing"]
    if verb == "pass":
        return {"action": "ended the actions", "instant": "did not answer", "block": "did not block"}.get(doing, "")
    if verb in ("cell", "target", "turn", "choice", "card", "slot"):
        return _told_part(t, verb, rest, doing)
    m = 3 * t.seat + int(rest[0]) - 1 if verb not in ("mob", "camp", "leave", "favor") else 0
    if verb == "move":
        return f"{t.own(m % 3)} moved from {_place(t, m)} to {t.board.field_names[_cell(t, rest[1])]}"
    if verb == "attack":
        verb = "shot at" if t.tableau(m).attack == "shoot" else "struck at"
        target = t.monster(_monster(rest[1]))["name"]
        return f"{t.own(m % 3)} {verb} {target} for {t.damage(m)}"
    if verb == "march":
        return f"began a Mob March, paid by {t.own(m % 3)}"
    if verb == "draw":
        return ""  # the draw itself is told
    if verb in ("play", "react"):
        card = t.card(m, int(rest[1]))
        return f"{t.own(m % 3)} played {card.label}: {describe_effects(card.effects)}"
    if verb == "swap":
        return f"{t.own(m % 3)} played {t.card(m, int(rest[1])).label} as Swap"
    if verb == "munch":
        card = t.card(m, int(rest[1]))
        return f"{t.own(m % 3)} munched {card.label}: {describe_munch(card)}"
    if verb == "shrine":
        number = t.board.shrines.index(cast(Any, tuple(t.monster(m)["at"])))
        return f"{t.own(m % 3)} used the {t.scene['shrine_cards'][number]}"
    if verb == "regenerate":
        return f"{t.own(m % 3)} regenerated" + (" and shuffled its discard in" if rest[-1] == "shuffle" else "")
    if verb == "melt":
        cell = t.board.number[t.board.impassable[int(rest[1])]]
        return f"{t.own(m % 3)} melted the impassable field {t.board.field_names[cell]}"
    if verb == "discard":
        return f"{t.own(m % 3)} discarded {t.card(m, int(rest[1])).label} (hand limit)"
    number = int(rest[0])
    if verb == "mob":
        return f"took the {t.content.mobs[number]}"
    if verb == "camp":
        return f"took the camp on {t.board.field_names[t.board.number[t.board.camps[number]]]}"
    if verb == "leave":
        mob = t.content.mobs.index(t.scene["mobs"][t.seat]["mob"])
        return f"left {t.content.monsters[4 * mob + number].name} at home"
    return f"chose favor card {number}" if not foreign else ""


def _told_part(t: _Table, verb: str, rest: list[str], doing: str) -> str:
    """A choice within something that goes on."""
    if verb == "target":
        name = t.monster(_monster(rest[0]))["name"]
        if doing == "effect":
            return f"{t.source(t.frame[9])}: {name}"
        return f"{name} took the damage" if doing == "hit" else f"chose {name}"
    if verb == "cell":
        field = t.board.field_names[_cell(t, rest[0])]
        if doing in ("knocked out", "displace"):
            return f"drove {t.monster(t.frame[3])['name']} to {field}"
        if doing == "bonus movement":
            return f"{t.monster(t.frame[2])['name']} moved on to {field}"
        if doing == "throw the idol":
            return f"the idol flew to {field}"
        if doing == "tile":
            return "" if t.content.patterns[t.frame[4]].edges else f"put an empty tile on {field}"
        return f"{t.source(t.frame[9])}: {field}" if doing == "effect" else f"chose {field}"
    if verb == "turn":
        if doing == "tile":
            pattern = t.content.patterns[t.frame[4]]
            field = t.board.field_names[t.frame[5]]
            return f"put the {pattern.name} tile on {field}: {sides(pattern, int(rest[0]))}"
        field = t.board.field_names[t.frame[7]]
        return f"turned the tile on {field}: {sides(t.pattern_at(t.frame[7]), int(rest[0]))}"
    if verb == "card":
        label = t.card(t.frame[2], int(rest[0])).label
        return f"{t.monster(t.frame[2])['name']} blocked with {label}" if doing == "block" else f"took back {label}"
    if verb == "slot":
        return f"{t.monster(t.frame[2])['name']} gave up {t.monster(t.frame[2])['slots'][int(rest[0])]}"
    if doing == "favor action":
        return f"used favor card {t.scene['mobs'][t.seat]['favor']}: {_choice(t, rest)}"
    return ""


def _outcome(step: Step, t: _Table, doing: str) -> list[Line]:
    """What dice and piles brought."""
    frame = t.frame
    number = int(str(t.rules.outcome_name(step.action)).rsplit(" ", 1)[1])
    if doing == "lose cards":
        name = t.monster(frame[2])["name"]
        return [Line(frame[2] // 3, f"{name} lost {t.card(frame[2], number).label} by chance")]
    if doing == "roll":
        return [Line(frame[2] // 3, f"{t.monster(frame[2])['name']} rolled {t.tableau(frame[2]).die[number]}")]
    if doing == "tile":
        if frame[1] == 2:
            pattern = t.content.patterns[frame[4]]
            return [Line(NOBODY, f"{pattern.name} tile on {t.board.field_names[frame[5]]}: {sides(pattern, number)}")]
        placed = t.rules.parameters["tiles"] == "placed"
        return [Line(frame[3], f"drew the {t.content.patterns[number].name} tile")] if placed else []
    if doing == "time tile":
        tile = t.content.time_tiles[number]
        return [Line(NOBODY, f"time tile {tile.name}: {describe_time(tile)}")]
    if doing == "shrine card":
        cell = t.board.number[t.board.shrines[frame[2]]]
        shrine = t.content.shrines[number]
        return [Line(NOBODY, f"{shrine.name} lies on {t.board.field_names[cell]}: {describe_effects(shrine.effects)}")]
    if doing == "mob":
        return [Line(frame[3], f"got the {t.content.mobs[number]}")]
    if doing == "leave":
        mob = t.content.mobs.index(t.scene["mobs"][frame[3]]["mob"])
        return [Line(frame[3], f"left {t.content.monsters[4 * mob + number].name} at home")]
    return []


def _changes(before: _Table, after: _Table) -> list[Line]:
    """What a step brought about, as far as the seat sees it: energy, tokens, the idol, points, turns."""
    turns, monsters = _turns(before, after), _monsters(before.scene, after.scene)
    # A round begins with the favor cards; elsewhere what happened belongs to the turn that ends.
    lines = turns + monsters if turns and turns[0].text.startswith("favor cards") else monsters + turns
    if after.scene["doing"] == "over":
        lines.append(Line(NOBODY, _end(after)))
    return lines


def _monsters(old: Mapping[str, Any], new: Mapping[str, Any]) -> list[Line]:
    """Energy, tokens, who has the idol, points."""
    lines = []
    for seat, (mob, now) in enumerate(zip(old["mobs"], new["mobs"], strict=True)):
        for was, is_ in zip(mob["monsters"], now["monsters"], strict=False):
            parts = []
            if was["energy"] + was["spent"] and was["energy"] != is_["energy"]:
                parts.append(f"energy {was['energy']} to {is_['energy']}")
            parts += [f"{name} {was[name]} to {is_[name]}" for name in _TOKENS if was[name] != is_[name]]
            if parts:
                lines.append(Line(seat, f"{is_['name']}: {', '.join(parts)}"))
    if new["carrier"] != old["carrier"]:
        if new["carrier"] is not None:
            seat, k = new["carrier"]
            lines.append(Line(seat, f"{new['mobs'][seat]['monsters'][k]['name']} has the idol"))
        else:
            lines.append(Line(NOBODY, "nobody has the idol"))
    elif new["points"] != old["points"]:
        scored = [seat for seat, points in enumerate(new["points"]) if points != old["points"][seat]]
        lines += [Line(seat, f"{new['points'][seat]:g} points now") for seat in scored]
    return lines


def _turns(before: _Table, after: _Table) -> list[Line]:
    """Favor cards that are shown, and whose turn begins."""
    lines = []
    old, new = before.scene, after.scene
    shown = [mob["favor"] for mob in new["mobs"]]
    if None not in shown and None in [mob["favor"] for mob in old["mobs"]]:
        cards = join([f"{who(seat, after.seat)} {favor}" for seat, favor in enumerate(shown)])
        lines.append(Line(NOBODY, f"favor cards: {cards}"))
    if new["turn"] is not None and (new["turn"], new["time"]["turns"]) != (old["turn"], old["time"]["turns"]):
        seat = new["order"][new["turn"]]
        begins = "your turn" if seat == after.seat else f"the turn of seat {seat}"
        lines.append(Line(NOBODY, f"turn {new['time']['turns'] + 1}: {begins}"))
    return lines


def _end(t: _Table) -> str:
    """Why the game is over."""
    scene = t.scene
    if scene["carrier"] is not None:
        seat, k = scene["carrier"]
        mob = scene["mobs"][seat]
        if tuple(scene["idol"]) == t.board.camps[mob["camp"]]:
            return f"{mob['monsters'][k]['name']} brought the idol home"
    lying = [seat for seat, mob in enumerate(scene["mobs"]) if t.board.camps[mob["camp"]] == tuple(scene["idol"])]
    if lying:
        return f"the idol came to lie in {whose(lying[0], t.seat)} camp"
    points = join([f"{who(seat, t.seat)} {value:g}" for seat, value in enumerate(scene["points"])])
    munched = join([f"{who(seat, t.seat)} {mob['munched']}" for seat, mob in enumerate(scene["mobs"])])
    return f"the time is up; points: {points}; cards munched: {munched}"


# ---- what can be looked up -----------------------------------------------------------------------


def look_up(position: Position, seat: int) -> Mapping[str, str]:
    """Monsters, their cards, shrines, the time tile, and every field of the board."""
    t = _Table(position, seat)
    known: dict[str, str] = {}
    for mob in t.scene["mobs"]:
        for entry in mob["monsters"]:
            monster = t.monsters[entry["name"]]
            known[monster.name] = (
                f"{describe_monster(monster).split(': ', 1)[1]}; with two slots filled "
                f"{describe_bonus(monster.slot2)}, with three {describe_bonus(monster.slot3)}; {monster.provenance}. "
                f"Cards: {', '.join(dict.fromkeys(card.ability for card in monster.cards))}"
            )
            for card in monster.cards:
                key = card.label if card.label not in known else f"{card.label} of {monster.name}"
                known[key] = f"card of {monster.name}: " + describe_card(card).removeprefix(card.label + " ")
    for favor in t.content.favors:
        known[f"favor card {favor.value}"] = _favor(t, [str(favor.value)]).split(": ", 1)[1]
    for shrine in t.content.shrines:
        known[shrine.name] = describe_effects(shrine.effects)
    for tile in t.content.time_tiles:
        if tile.name == t.scene["time"]["tile"]:
            known[f"time tile {tile.name}"] = describe_time(tile)
    for cell, (q, r) in enumerate(t.board.cells):
        tile_text = f"; {t.tile_at(cell)}" if (q, r) in t.board.modifiable else ""
        known[t.board.field_names[cell]] = f"cell ({q},{r}): {t.field(cell)}{tile_text}"
    return known


WORDS = Words(ask=ask, options=options, tell=tell, look_up=look_up)
