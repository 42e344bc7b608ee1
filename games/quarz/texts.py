"""Cards, effects, bonuses and time tiles in a few words, made from their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.quarz.cards import Card, TimeTile
from games.quarz.vocabulary import Effect

_TOKEN_EFFECTS = {"stun", "poison", "frost"}
_POWERS = {
    "swim": "crosses water",
    "climb": "crosses crystal",
    "sharp_eyes": "shoots past crystal",
    "wall_step": "crosses one crystal wall beside a friend",
    "wall_shot": "shoots past crystal beside a friend",
    "living_shield": "takes damage for a friend beside it",
    "crystal_throw": "may throw the idol instead of pushing",
    "second_shrine": "may use a shrine a second time, or give that up to melt ice",
}
_FIGURES = {"damage": "damage", "move": "movement", "draw": "card a draw", "energy": "energy", "carry": "hex with idol"}
_GLOBALS = {
    "move": "movement {:+d}",
    "damage": "damage {:+d}",
    "draw": "cards a draw {:+d}",
    "carry": "steps with the idol {:+d}",
    "start_heal": "at the start of a turn its monsters recover {}",
    "idol_drain": "at the start of a turn the idol's carrier loses {}",
    "shrine_discount": "shrines cost {} less",
    "hand_limit": "hand limit {:+d}",
    "frozen_water": "water is frozen",
    "clear_sight": "crystal does not stop shots",
    "no_march": "no Mob March",
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
    """One effect in words, the monster of the card being `it`."""
    do = effect["do"]
    amount = "as much as the die shows" if effect.get("amount") == "die" else effect.get("amount")
    if do == "damage":
        verb = {"strike": "strikes", "shoot": "shoots", "plain": "drains", "context": "hits"}[effect["kind"]]
        return f"{verb} {_reach(effect)} for {amount}"
    if do == "splash":
        return f"every {'enemy' if effect['target'] == 'enemy' else 'monster'} beside it loses {amount}"
    if do == "heal":
        return f"{'it' if effect['who'] == 'self' else _whom(effect)} recovers {amount}"
    if do in _TOKEN_EFFECTS:
        return f"puts {amount} {do} on {_reach(effect)}"
    if do == "shield":
        return f"puts {amount} shield on {_whom(effect)}"
    if do == "cleanse":
        return f"takes stun, poison and frost off {_whom(effect)}"
    if do in ("push", "swap"):
        return f"{'pushes' if do == 'push' else 'changes places with'} {_reach(effect)}"
    if do == "draw":
        return f"draws {amount}"
    if do == "move":
        across = "".join(
            f", across {kind}" for key, kind in (("swim", "water"), ("climb", "crystal")) if effect.get(key)
        )
        idol = f" (with the idol {effect['carry']})" if effect.get("carry") else ""
        return f"{'moves' if effect['who'] == 'self' else 'moves one of its mob'} up to {amount}{idol}{across}"
    if do == "sap":
        return f"{_reach(effect)} loses {amount} hand card{'s' if amount != 1 else ''} by chance"
    if do == "rotate":
        return f"turns up to {effect['count']} free tiles" if effect["count"] > 1 else "turns a free tile"
    return {
        "trap": f"lays a trap up to {amount} away",
        "jump": f"jumps to a free field up to {amount} away",
        "trade": "exchanges two free tiles",
        "swap_friends": "exchanges two of its mob",
        "move_any": f"moves any monster up to {amount}, across everything",
        "recover": "takes a card back from its discard",
        "boost": f"its attacks do {amount} more this turn",
        "attack": "attacks without cost",
        "extra": "one more action this turn",
        "roll": "rolls its die",
        "negate": "the attack fails",
        "reduce": f"the attack does {amount} less",
        "march": f"each of the mob moves up to {amount}",
        "choose_own": "choose a monster",
        "regenerate": "it regenerates",
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
    when = {
        "": "",
        "attacked": "when attacked: ",
        "hurt": "when hurt: ",
        "arrived": "when an enemy comes beside it: ",
        "free": "at any time in its turn: ",
    }[card.trigger]
    return when + describe_effects(card.effects)


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
