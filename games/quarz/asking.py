"""The question of each frame that asks a seat."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from engine_ext.position import Position
from games.quarz.table import Table
from games.quarz.texts import describe_effect
from games.words import count


def ask(position: Position) -> str:
    """The question of the frame that waits for the seat to move."""
    table = Table(position, position.current_player())
    doing = table.scene["doing"]
    asked = _ASK.get(doing)
    return asked(table) if asked else f"What do you do about the {doing}?"


def _ask_action(t: Table) -> str:
    if t.scene["actions"] <= 0:  # Q91
        return "No action left; before your turn ends, your monsters may still do what needs none: what do they do?"
    turn = "Your turn, the last of the game" if t.last_turn else "Your turn"
    return f"{turn}, {count(t.scene['actions'], 'action')} left: what do your monsters do?"


def _ask_favor(_: Table) -> str:
    return (
        "Choose a favor card in secret: the highest plays first this round, and each gives one of its effects at the "
        "start of your turn."
    )


def _ask_favor_action(t: Table) -> str:
    return f"Your turn begins with your favor card {t.scene['mobs'][t.seat]['favor']}: which of its effects?"


def _ask_window(t: Table) -> str:
    trigger, context, subject = t.frame[2:5]
    if trigger == 1:
        damage = max(0, t.damage(context) - t.below()[4])  # instants before this one may have reduced it
        return f"{t.name(context)} attacks {t.name(subject)} for {damage}: do you answer with an instant?"
    if trigger == 2:
        return f"{t.name(context)} has hurt {t.name(subject)}: do you answer with an instant?"
    return f"{t.name(context)} has come beside one of yours: do you answer with an instant?"


def _ask_block(t: Table) -> str:
    target, more = t.frame[2], t.frame[3]
    attack = t.below()
    left = max(0, t.damage(attack[2]) - attack[4] - attack[6])
    topmost = "" if more < 2 else ", any that you like, the topmost of them first: those above it stay"
    return (
        f"{t.name(attack[2])} hits {t.name(target)} for {left}: discard a card to block 1 of it "
        f"(up to {count(more, 'card')}{topmost})?"
    )


def _ask_bonus(t: Table) -> str:
    return f"{t.name(t.frame[2])} has taken the idol and may move 1 field at once: where to?"


def _ask_ko(t: Table) -> str:
    if t.frame[4]:
        return f"{t.name(t.frame[3])} is pushed: to which field?"
    return f"{t.name(t.frame[3])} is out of energy: move it 1 field, or leave it where it is?"


def _ask_strip(t: Table) -> str:
    return f"{t.name(t.frame[3])} loses the idol and is driven off: to which field?"


def _ask_throw(t: Table) -> str:
    return f"The shot knocks the idol out of the hands of {t.name(t.frame[3])}: to which field does it fly?"


def _ask_hit(t: Table) -> str:
    return f"{t.name(t.frame[3])} is about to take {t.frame[4]} damage: does a Living Shield take it instead?"


def _ask_march(t: Table) -> str:
    return f"Mob March: who moves next, and where to? ({count(t.frame[4], 'field')} left for those still to move)"


def _ask_hand(t: Table) -> str:
    held = sum(monster["held"] for monster in t.scene["mobs"][t.seat]["monsters"])
    limit = t.hand_limit
    over = held - limit
    if over < 2:
        return f"Your monsters hold {count(held, 'card')}, and {limit} may be kept: which one goes?"
    others = "the other one comes" if over == 2 else f"the other {over - 1} come"
    return (
        f"Your monsters hold {count(held, 'card')}, and {limit} may be kept, so {over} go, any that you like, the "
        f"topmost of them first: which is it? (Those above it stay; {others} from below it.)"
    )


def _ask_slot(t: Table) -> str:
    monster, card = t.frame[2], t.frame[4]
    return f"All slots of {t.name(monster)} are filled: which card makes way for {t.card(monster, card).label}?"


def _ask_tile(t: Table) -> str:
    pattern = t.content.patterns[t.frame[4]]
    if t.frame[1] == 2:
        return f"Place the {pattern.name} tile on {t.board.field_names[t.frame[5]]}: how is it turned?"
    if not pattern.edges:
        return "Place an empty tile: on which field?"
    edges = count(len(pattern.edges), "edge")
    return f"Place the {pattern.name} tile ({edges} of {pattern.kind}): on which field?"


def _ask_effect(t: Table) -> str:
    _, step, m, _, _, roll, _, f, g, prog = t.frame
    effect = t.rules.instructions[prog][0]
    do, source = effect["do"], t.source(prog)
    text = describe_effect(effect)
    if effect.get("amount") == "die":
        text += f" (it shows {roll})"
    subject = f"{t.name(m)}: " if m >= 0 else ""
    if do == "choose_own":
        return f"{source}, one of your monsters {t.of_chosen(prog)}: which one?"
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
        return f"{source}, {text.replace('moves', 'move', 1)}: which one?"
    if do == "push" and step:
        if step == 2:
            return f"{source}: to which field does {t.name(m)} throw the idol?"
        return f"{source}: to which field is {t.name(f)} pushed?"
    if do == "move" and effect["who"] == "self":
        return f"{source}, {subject}{text}: where to?"
    if do in ("move", "march"):
        return f"{source}, {text}: who moves, and where to?"
    if do in ("trap", "jump"):
        return f"{source}, {subject}{text}: to which field?"
    if do == "recover":
        return f"{source}: which card of its discard does {t.name(m)} take back?"
    return f"{source}, {subject}{text}: which one?"


_ASK: Mapping[str, Callable[[Table], str]] = {
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
