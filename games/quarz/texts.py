"""Cards, effects, bonuses and time tiles in a few words, made from their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.quarz.cards import Card, TimeTile
from games.quarz.vocabulary import Effect
from games.words import join

_TOKEN_EFFECTS = {"stun", "poison", "frost"}
_POWERS = {
    "swim": "moves across water",
    "climb": "moves across crystal",
    "sharp_eyes": "shoots past crystal",
    # rule 105, Q1, Q2: these two help others, never the monster itself
    "wall_step": "lets a friend cross one crystal wall a movement, to or from a field next to this monster",
    "wall_shot": "lets a friend next to it shoot past crystal",
    "living_shield": "may take the damage of a friend beside it",
    "crystal_throw": "may throw the idol that it carries 1 field by a Push card",
    "second_shrine": "may use shrines a second time (or give that up for good to melt an impassable field into a floe)",
}
_FIGURES = {
    "damage": "damage",
    "move": "movement",
    "draw": "card a draw action",  # Q98
    "energy": "energy",
    "carry": "field a movement with the idol",
}
_GLOBALS = {
    "move": "movement {:+d} (at least 1)",
    "damage": "attacks do {} more, and as many more cards may block",
    "draw": "cards a draw action {:+d}",
    "carry": "fields a movement with the idol {:+d}",
    "start_heal": "at the start of a turn all monsters of its mob recover {}",
    "idol_drain": "at the start of its mob's turn the idol's carrier loses {}",
    "shrine_discount": "shrines cost {} less",
    "hand_limit": "hand limit {:+d}",
    "frozen_water": "water is no obstacle",
    "clear_sight": "crystal does not stop shots",
    "no_march": "no Mob March",
}
_WHEN = {  # trigger and scope to the condition of an instant
    ("attacked", "self"): "when attacked: ",
    ("attacked", "mob"): "when it or another of its mob is attacked: ",
    ("hurt", "self"): "when hurt by another monster: ",
    ("hurt", "mob"): "when it or another of its mob is hurt by another monster: ",
    ("arrived", "self"): "when an enemy has moved beside it: ",
    ("arrived", "mob"): "when an enemy has moved beside it: ",
    ("free", "self"): "in its mob's turn, between actions or after the last: ",
    ("free", "mob"): "in its mob's turn, between actions or after the last: ",
}


def _reach(effect: Effect) -> str:
    """Whom an effect may be aimed at: `an enemy in sight`."""
    if effect["kind"] == "context":
        return "the monster that set it off"
    whom = "an enemy" if effect.get("target") == "enemy" else "a monster"
    return f"{whom} beside it" if effect["kind"] == "strike" else f"{whom} in sight"


def _whom(effect: Effect) -> str:
    """Which monsters of its own mob it does good to."""
    return {"self": "itself", "friend": "one of its mob", "all": "each of its mob"}[effect["who"]]


def describe_effect(effect: Effect) -> str:
    """One effect in words: what the monster of the card does."""
    do = effect["do"]
    amount = "what the die shows" if effect.get("amount") == "die" else effect.get("amount")
    if do == "damage":
        verb = {"strike": "strikes", "shoot": "shoots", "plain": "drains", "context": "hits"}[effect["kind"]]
        return f"{verb} {_reach(effect)} for {amount}"
    if do == "splash":
        verb = "strikes" if effect["kind"] == "strike" else "drains"
        return f"{verb} every {'enemy' if effect['target'] == 'enemy' else 'other monster'} beside it for {amount}"
    if do == "heal":
        return f"recovers {amount}" if effect["who"] == "self" else f"lets {_whom(effect)} recover {amount}"
    if do in _TOKEN_EFFECTS:
        return f"puts {amount} {do} on {_reach(effect)}"
    if do == "shield":
        return f"puts {amount} shield on {_whom(effect)}"
    if do == "cleanse":
        return f"takes stun, poison and frost off {_whom(effect)}"
    if do == "push":
        return f"pushes {_reach(effect)} by 1"
    if do == "swap":
        return f"changes places with {_reach(effect)}"
    if do == "draw":
        return f"draws {amount}"
    if do == "move":
        across = join([kind for key, kind in (("swim", "water"), ("climb", "crystal")) if effect.get(key)])
        idol = f" (with the idol {min(effect['amount'], effect.get('carry', 1))})" if effect["amount"] > 1 else ""
        mover = "moves" if effect["who"] == "self" else "moves one of its mob"
        return f"{mover} up to {amount}{idol}{f', across {across}' if across else ''}"
    if do == "sap":
        return f"makes {_reach(effect)} lose {amount} hand card{'s' if amount != 1 else ''} by chance"
    if do == "rotate":
        return f"turns up to {effect['count']} free tiles" if effect["count"] > 1 else "turns a free tile"
    return {
        "trap": f"lays a trap on a free tile up to {amount} away",
        "jump": f"jumps to a free field up to {amount} away (with the idol 1), whatever lies between",
        "trade": "exchanges two free tiles",
        "swap_friends": "exchanges two of its mob, and the idol stays in its place",
        "move_any": f"moves any monster up to {amount} (with the idol 1), across water and crystal",
        "recover": "takes a card back from its discard",
        "boost": f"adds {amount} to its attacks of this turn",
        "attack": "attacks without cost",
        "extra": "gives one more action this turn",
        "roll": "rolls its die",
        "negate": "makes the attack fail",
        "reduce": f"makes the attack do {amount} less",
        "march": f"lets each of its mob move up to {amount}" + (" (with the idol 1)" if amount != 1 else ""),
        "choose_own": "chooses one of its mob",
        "regenerate": "regenerates, and does no action in this turn",
    }[do]


def describe_effects(effects: Sequence[Effect]) -> str:
    """A list of effects in words."""
    return ", then ".join(describe_effect(effect) for effect in effects)


def describe_bonus(bonus: Mapping[str, Any]) -> str:
    """A lasting bonus in words."""
    parts = [_POWERS[key] if value is True else f"{value:+d} {_FIGURES[key]}" for key, value in bonus.items() if value]
    return ", ".join(parts) or "none"


def describe_time(tile: TimeTile) -> str:
    """What a time tile does while it lies open."""
    return ", ".join(_GLOBALS[key].format(value) for key, value in tile.while_visible.items()) or "nothing"


def describe_play(card: Card) -> str:
    """What playing a card does, with its condition."""
    when = _WHEN[card.trigger, card.scope] if card.trigger else ""
    dodges = card.trigger == "attacked" and any(effect["do"] in ("move", "jump") for effect in card.effects)
    return when + describe_effects(card.effects) + (", and out of reach the attack fails" if dodges else "")


def describe_munch(card: Card) -> str:
    """What munching a card does."""
    if card.munch.once:
        return f"at once {describe_effects(card.munch.once)}"
    form = f" as {card.munch.form}" if card.munch.form else ""
    lock = ", never replaced" if card.munch.lock else ""
    return f"for good{form} {describe_bonus(card.munch.keep)}{lock}"


def describe_card(card: Card) -> str:
    """A card in one line: cost, effects, munch."""
    reactions = f" and {card.reactions} reaction" if card.reactions else ""
    munch = f"munched ({card.munch.cost} energy) {describe_munch(card)}"
    swap = "" if card.swap_cost is None else f", or ({card.swap_cost} energy) changes places with a monster beside it"
    return f"{card.label} ({card.cost} energy{reactions}) {describe_play(card)}{swap}; {munch}"
