"""Cards, faces and effects in a few words, made from their data."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from games.quarriors.cards import Card, Die, Face

_ON = {
    "face": "right after the roll",
    "cast": "cast",
    "react": "reaction",
    "attached": "attached",
    "hostscore": "when its host scores",
    "score": "when it scores",
    "summon": "when summoned",
    "enter": "on entering",
    "perturn": "once in every player's turn",
    "static": "",
    "attack": "attacking",
    "predefence": "before each defence",
    "firstkill": "at a defender's first loss",
    "kill": "when you destroy a creature",
    "destroyed": "when destroyed",
    "asidekill": "set aside, when you destroy a creature",
    "state": "always",
    "locked": "while locked",
    "onlock": "when locked",
    "drew": "while locked, each time you draw",
}


_TARGETS = {  # with the condition that its victims meet in the middle
    "one creature": "one creature{when}, anyone's",
    "one per foe": "one creature{when} of each rival",
    "foe creature": "a rival's creature{when}",
    "foe creatures": "the defender's creatures{when}",
    "foes of class": "all rivals' creatures of one class{when}",
    "light creature": "one light creature{when}, anyone's",
    "dark creature": "one dark creature{when}, anyone's",
    "own creature": "one of your creatures{when}",
    "own creatures": "your creatures{when}",
    "self": "it{when}",
}
_AMOUNTS = {
    "scored": "for each creature of yours that has scored this turn",
    "other_scored": "for each other creature of yours that scores with it",
    "foes_hit": "for each rival that lost a creature to it",  # "after your attack" stands before it
    "others": "1 for each of your other creatures",
    "bq": "the number of your Basic Quiddity dice in pool and Used Pile",
    "all_creatures": "the number of creatures in all Ready Areas",
    "face": "as many as shown",
    "own_attack": "its attack",
}
_FOR = {
    "": "",
    "self": "",
    "host": " for its host",
    "own creatures": " for your creatures",
    "other own creatures": " for your other creatures",
}
_CONDITIONS = {
    "alone": "if it stands alone",
    "foe_creatures=1": "against a rival with exactly one creature",
    "no_bq": "if you have no Basic Quiddity in pool and Used Pile",
    "no_copy": "if there is nothing to copy",
    "scored>=2": "if two or more have",
}


def _amount_words(n: object) -> str:
    """A number, or what an effect counts, in words."""
    return _AMOUNTS.get(str(n), str(n))


def _condition(when: str) -> str:
    """A condition in words."""
    key, sign, most = when.partition("<=")
    if sign:
        return {"defense": "of defence", "level": "of level", "cost": "of cost"}[key] + f" {most} or less"
    return _CONDITIONS.get(when, f"if {when.replace('_', ' ')}")


def _whom(target: str, when: str) -> str:
    """Whom an effect is for, with the condition that they meet."""
    return _TARGETS.get(target, target + "{when}").format(when=when)


def _rotated(target: str, to: str) -> str:
    """Which creature turns where."""
    whom, comma, whose = _whom(target, "").partition(", ")
    return f"turn {whom} a level {to}{comma}{whose}"


def _stats(effect: Mapping[str, Any]) -> str:
    """Attack and defence that an effect sets."""
    attack, defence = _amount_words(effect.get("attack")), _amount_words(effect.get("defense"))
    return f"attack and defence {attack}" if attack == defence else f"attack {attack}, defence {defence}"


def _done(effect: Mapping[str, Any], die: str) -> str:
    """What an effect of a card of this class of dice does, in a few words."""
    more = "die" if effect.get("n", 1) == 1 else "dice"
    do, n, target = effect["do"], effect.get("n", 1), str(effect.get("target", "")).replace("_", " ")
    flavour = effect.get("flavour", "normal")
    count = _amount_words(n)
    turn = " this turn" if effect.get("until") == "turn" else ""
    when = f" {_condition(effect['when'])}" if effect.get("when") and effect["when"] != "after_attack" else ""
    each_turn = " at the beginning of each of your turns" if effect["on"] == "locked" else ""
    said = {
        "quiddity": f"+{count} {'' if flavour == 'normal' else flavour + ' '}Quiddity",
        "glory": f"1 Glory {count}" if isinstance(n, str) else f"+{count} Glory{each_turn}",
        "drawroll": f"draw and roll {count}",
        "drawpool": f"draw {count} to the pool",
        "reroll": "roll again "
        + " and ".join(["this die"] * bool(effect.get("itself")) + [f"up to {count} other {more}"] * (n != 0)),
        "captures": f"{count} more capture",
        "discount": f"captures cost {count} less",
        "freecapture": f"take a spell die{when} into the bag for nothing",
        "cullcapture": f"cull a used die, take one from the Wilds that costs at most {count} more",
        "cullspells": f"cull any of your spell dice in Ready Area and pool for {count} Glory each",
        "cull": f"cull {count if n == 1 else f'up to {count}'} {'spent' if target == 'spent pile' else 'used'} {more}",
        "summon": f"summon {count} at once for nothing",
        "attack": f"attack +{count}{_FOR.get(target, ' ' + target)}{turn}",
        "defense": f"defence +{count}{_FOR.get(target, ' ' + target)}{turn}",
        "setattack": f"attack {count} for {target}{turn}",
        "stats": _stats(effect),
        "capattack": f"each creature that attacks you counts at most {count}",
        "barlevel": f"creatures of level {count} or less cannot attack you",
        "surcharge": f"rivals' summons cost {count} more",
        "summonlimit": f"only {count} {die} a turn",  # A51
        "addtotal": "adds its attack again",
        "destroy": f"destroy {_whom(target, when).replace('one class', f'class {die}')}",
        "destroyspell": "discard a readied or attached spell",
        "redirect": ("it goes " if target in ("", "self") else "your destroyed creatures go ")
        + {"pool": "to the pool", "aside": "aside"}.get(str(effect.get("to")), str(effect.get("to")))
        + turn,
        "return": "one of your destroyed creatures returns",
        "cullreturn": f"cull a used {target}, it returns",
        "rotate": _rotated(target, str(effect.get("to", "up"))),
        "swap": "swap it for a used die of a rival",
        "fetch": "take another used creature die into the pool",
        "copy": "copy a rival's creature",
        "ignoreattached": "attached spells do not help defenders",
        "notarget": "rivals' spells cannot target it",
        "draws": f"draw {count} more each turn",
        "fewer": f"draw {count} fewer each turn",
        "dearer": f"its holder's summons cost {count} more",
        "lockrival": "may be locked with a rival, and is his then",
        "nopayoff": "cannot be paid off",
        "scoreself": "it scores",
        "rollself": "roll it, it returns on a creature face",
    }[do]
    if effect.get("when") == "after_attack":
        return f"after your attack, {said}"
    within = effect["do"] in ("destroy", "freecapture")
    return f"{'may ' if effect.get('optional') else ''}{said}{'' if within else when}"


def _head(effect: Mapping[str, Any]) -> str:
    """The bursts that an effect needs and when it happens."""
    burst, on = effect.get("burst", ""), _ON[effect["on"]]
    if burst == "-":
        return f"without a burst{', ' + on if on else ''}: "
    return f"{burst + ' ' if burst else ''}{on + ': ' if on else ''}"


def _effect_texts(effects: Sequence[Mapping[str, Any]], die: str, headed: bool) -> list[str]:
    """Effects in a few words, each with its head if wanted; a step that hangs on the one before it follows it."""
    texts: list[str] = []
    for k, effect in enumerate(effects):
        if effect.get("then"):
            before = effects[k - 1]
            # A140: of a cull all its dice
            rest = f"if all {before['n']} are culled, " if before["do"] == "cull" and before.get("n", 1) != 1 else ""
            texts[-1] += f", and then {rest}{_done(effect, die)}"
        else:
            texts.append((_head(effect) if headed else "") + _done(effect, die))
    return texts


def card_text(card: Card) -> str:
    """A card's effects in a few words, made from its data."""
    texts = _effect_texts(card.effects, card.die, headed=True)
    if card.anchored is not None:
        steps = "; ".join(_effect_texts(card.anchored["effects"], card.die, headed=False))
        texts.append(f"anchored, {card.anchored['cost']} {card.anchored['flavour']} Quiddity: {steps}")
    return "; ".join(texts)


def face_text(face: Face) -> str:
    """A face in short: `2Q`, `L1 2/3 *`, `spell **`, `draw 2`, `1Q+draw 1`, `3Q|re-roll`."""
    parts = []
    if face.quiddity:
        parts.append(f"{face.quiddity}Q" + ("" if face.flavour == "normal" else f" {face.flavour}"))
    if face.draw:
        parts.append(f"draw {face.draw}")
    if face.reroll:
        parts.append("re-roll")
    if face.creature:
        parts.append(f"L{face.level} {face.numbers}")
    parts += [word for word, there in (("spell", face.spell), ("lock", face.lock), ("effect", face.effect)) if there]
    return ("|" if face.one_of else "+").join(parts) + (" " + "*" * face.bursts if face.bursts else "")


_PARTS = {"cost": "cost", "discounted_cost": "discounted cost", "glory": "Glory", "effects": "effects"}
_PARTS |= {"anchored": "Anchored Spell"}


def invented(card: Card | None, die: Die) -> list[str]:
    """What is reconstructed of a die and its card, in words; empty where both are from published sources."""
    faces = ["faces"] if die.provenance == "reconstructed" else []
    return faces + [words for part, words in _PARTS.items() if card is not None and part in card.reconstructed]
