"""Compiling cards for the engine: every face of a die under its card becomes one flat record.

`rules.pyx` copies the records into C structs of the same field names. The bursts of a face are known,
so an effect is either in its record or not, and the engine never looks at a burst.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from engine_ext.errors import DataError
from games.quarriors.cards import FACES, FLAVOURS, Card, CardSet, Die, Face
from games.quarriors.effects import BURSTS, LOCKED, text_of, whole

# Bits of a compiled face's `kind`.
CREATURE, SPELL, LOCK, IMMEDIATE = 1, 2, 4, 8
# Values of an effect that the engine counts itself.
VALUES = {"bq": 1, "all_creatures": 2}
# Codes of the steps of a cast, summon, lock or Anchored Spell; `rules.pyx` has the same list.
OPS = (
    "none",
    "attack",
    "defense",
    "quiddity",
    "glory",
    "glory_scored",
    "glory_foes_hit",
    "destroy_one",
    "destroy_per_foe",
    "destroy_class",
    "destroyspell",
    "rotate_all",
    "rotate_own",
    "rotate_any",
    "drawroll",
    "cull",
    "captures",
    "destroy_foe",
    "cull_spent",
    "summon",
)
MAX_OPS = 4

# `besides`: whether it does something where nothing can be drawn (A86).
_USE = {
    "spend": 0,
    "quid": 0,
    "flavour": 0,
    "draw": 0,
    "itself": 0,
    "others": 0,
    "captures": 0,
    "lone": -1,
    "besides": 0,
}
_OP = {"code": 0, "n": 0, "level": 0, "defense": 0, "flavour": 0, "energy": 0, "then": 0, "spell": 0}
NO_CAP = 127


def empty_face() -> dict[str, Any]:
    """A compiled face without icon, symbol or effect: every field of the C struct `FaceTable`."""
    return {
        "kind": 0,
        "level": 0,
        "attack": 0,
        "defense": 0,
        "bursts": 0,
        "quid": 0,
        "flavour": 0,
        "n_uses": 0,
        "uses": [dict(_USE) for _ in range(3)],
        "stat_atk": 0,
        "stat_def": 0,
        "def_self": 0,
        "def_others": 0,
        "def_alone": 0,
        "aura_atk": 0,
        "aura_def": 0,
        "surcharge": 0,
        "barlevel": 0,
        "capatk": NO_CAP,
        "notarget": 0,
        "summonlimit": 0,
        "copy_enter": 0,
        "copy_turn": 0,
        "no_bq": 0,
        "lone_atk": 0,
        "ignore_attached": 0,
        "quake": 0,
        "firstkill": 0,
        "kill_quid": 0,
        "kill_score": 0,
        "dead_pool": 0,
        "dead_aside": 0,
        "dead_cull": 0,
        "dead_draw": 0,
        "aside_roll": 0,
        "score_glory": 0,
        "score_others": 0,
        "score_draw": 0,
        "score_discount": 0,
        "score_captures": 0,
        "score_swap": 0,
        "score_fetch": 0,
        "score_free": 0,
        "score_cullspells": 0,
        "score_cull": 0,
        "attach": 0,
        "host_atk": 0,
        "host_def": 0,
        "host_glory": 0,
        "host_cullcapture": 0,
        "react_pool": 0,
        "react_zero": 0,
        "react_def": 0,
        "react_return": 0,
        "locked_draws": 0,
        "locked_fewer": 0,
        "locked_dearer": 0,
        "locked_glory": 0,
        "lock_rival": 0,
        "no_payoff": 0,
        "drew_glory": 0,
        "drew_quid": 0,
        "n_ops": 0,
        "ops": [dict(_OP) for _ in range(MAX_OPS)],
    }


def _amount(where: str, effect: Mapping[str, Any], names: Mapping[str, int] | None = None) -> int:
    """The number n of an effect; with names, a negative code for a count the engine makes."""
    n = effect.get("n", 1)
    if isinstance(n, str):
        if names is None or n not in names:
            raise DataError(f"{where}: n is {n!r}, allowed here: a number{''.join(f', {x!r}' for x in names or ())}")
        return -names[n]
    return whole(where, "n", n, 0, 20)


def _when(where: str, effect: Mapping[str, Any], *keys: str) -> dict[str, int]:
    """The condition `key<=k` or `key>=k` of an effect as {key: k}; {} without one."""
    text = effect.get("when", "")
    if text == "":
        return {}
    match = re.fullmatch(r"(\w+)(<=|>=|=)(\d+)", text)
    if match is None or match[1] not in keys:
        raise DataError(f"{where}: when is {text!r}; allowed here: {', '.join(keys) or 'nothing'} with a number")
    return {match[1]: int(match[3])}


def _target(where: str, effect: Mapping[str, Any], *allowed: str) -> str:
    return text_of(where, "target", effect.get("target", allowed[0]), allowed)


def _step(where: str, effect: Mapping[str, Any]) -> dict[str, Any]:
    """One step of a cast, summon or Anchored Spell as an operation of the engine."""
    do = effect["do"]
    op = dict(_OP)
    op["then"] = int(bool(effect.get("then", False)))
    op["spell"] = int(effect["on"] == "cast")
    op["flavour"] = FLAVOURS.index(text_of(where, "flavour", effect.get("flavour", "normal"), FLAVOURS))
    code = do
    if do == "glory":
        n = effect.get("n", 1)
        conditions = {"scored": "scored>=2", "foes_hit": "after_attack"}
        if isinstance(n, str):
            if n not in conditions or effect.get("when") != conditions[n]:
                raise DataError(f"{where}: glory by {n!r} needs when = {conditions.get(n)!r}")
            code = f"glory_{n}"
        else:
            op["n"] = _amount(where, effect)
    elif do == "destroy":
        target = _target(
            where,
            effect,
            *("one_creature", "foe_creature", "one_per_foe", "foes_of_class", "light_creature", "dark_creature"),
        )
        codes = {"foe_creature": "destroy_foe", "one_per_foe": "destroy_per_foe", "foes_of_class": "destroy_class"}
        code = codes.get(target, "destroy_one")
        limits = _when(where, effect, "level", "defense")
        op["level"], op["defense"] = limits.get("level", NO_CAP), limits.get("defense", NO_CAP)
        op["energy"] = {"light_creature": 1, "dark_creature": 2}.get(target, 0)
    elif do == "rotate":
        target = _target(where, effect, "own_creatures", "own_creature", "one_creature")
        code = {"own_creatures": "rotate_all", "own_creature": "rotate_own", "one_creature": "rotate_any"}[target]
        op["n"] = {"up": 1, "down": 0}[text_of(where, "to", effect.get("to", "up"), ("up", "down"))]
        if code == "rotate_all" and not op["n"]:
            raise DataError(f"{where}: all creatures together rotate up only")
    elif do == "cull":
        code = {"used_pile": "cull", "spent_pile": "cull_spent"}[_target(where, effect, "used_pile", "spent_pile")]
        op["n"] = _amount(where, effect)
    elif do == "destroyspell":
        _target(where, effect, "one_spell")
    elif do in ("attack", "defense"):
        _target(where, effect, "own_creatures")
        op["n"] = _amount(where, effect)
    else:
        op["n"] = _amount(where, effect)
    op["code"] = OPS.index(code)
    return op


def compile_steps(where: str, effects: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Operations of a list of effects, padded to MAX_OPS.

    Raises:
        DataError: too many, or one that the engine does not have.
    """
    steps = [_step(f"{where}, effect {i}", effect) for i, effect in enumerate(effects)]
    if len(steps) > MAX_OPS:
        raise DataError(f"{where}: {len(steps)} steps, allowed are {MAX_OPS}")
    return steps + [dict(_OP) for _ in range(MAX_OPS - len(steps))]


def _uses(where: str, face: Face, die: Die, effects: list[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """The ways to use an immediate face: what the card says of it, else its symbols (B44 to B47)."""
    if effects:
        use = dict(_USE)
        for effect in effects:
            if effect["do"] == "quiddity":
                use["quid"] += _amount(where, effect)
                use["flavour"] = FLAVOURS.index(effect.get("flavour", "normal"))
            elif effect["do"] == "captures":
                use["captures"] += _amount(where, effect)
            elif effect["do"] == "drawroll":
                use["draw"] += face.draw if effect.get("n") == "face" else _amount(where, effect)
                use["lone"] = whole(where, "lone_face", effect.get("lone_face", -1), -1, FACES - 1)
            else:
                use["others"] += _amount(where, effect)
                use["itself"] |= int(bool(effect.get("itself", False)))
        use["spend"] = 1 - use["itself"]
        use["besides"] = int(any(effect["do"] != "drawroll" for effect in effects))
        return [use]
    base = dict(_USE)
    if face.one_of:  # a dividing line: the Quiddity is what the die shows, the other symbol is immediate
        made = []
        if face.reroll:
            made.append({**base, "itself": 1})
        if face.draw:
            made.append({**base, "spend": 1, "draw": face.draw})
        return made
    if face.draw and face.reroll:
        return [
            {**base, "itself": 1, "draw": face.draw},
            {**base, "itself": 1},
            {**base, "spend": 1, "draw": face.draw},
        ]
    if face.draw:
        quid = {"quid": face.quiddity, "flavour": FLAVOURS.index(face.flavour)}
        return [{**base, **quid, "spend": 1, "draw": face.draw}]
    if face.reroll:
        return [{**base, "itself": 1}]
    return []


def _hangs_on(effect: Mapping[str, Any], face: Face, where: str) -> bool:
    """Whether a `face` effect belongs to this face."""
    kind = text_of(where, "face", effect.get("face"), ("draw", "reroll", "effect", "quiddity", "spell"))
    return {
        "draw": face.draw > 0,
        "reroll": face.reroll,
        "effect": face.effect,
        "quiddity": face.quiddity > 0 and not face.draw,
        "spell": face.spell,
    }[kind]


def carries(effect: Mapping[str, Any], face: Face, where: str) -> bool:
    """Whether an effect of a card can happen through this face: it has the icon and the bursts.

    Raises:
        DataError: the key `face` of a `face` effect is none.
    """
    on = effect["on"]
    if face.bursts not in BURSTS[effect.get("burst", "")]:
        if on == "face":
            _hangs_on(effect, face, where)
        return False
    if on == "face":
        return _hangs_on(effect, face, where)
    if on in ("cast", "react", "attached", "hostscore"):
        return face.spell
    if on in ("locked", "onlock", "drew"):
        return face.lock
    return face.creature


def check_faces(card: Card, die: Die) -> None:
    """Refuse what can never happen with this die.

    Raises:
        DataError: names the effect.
    """
    for i, effect in enumerate(card.effects):
        where = f"card {card.name!r}, effect {i}"
        if not any(carries(effect, face, where) for face in die.faces):
            on, burst = effect["on"], effect.get("burst", "")
            icon = _ICONS.get(on, "a creature icon")
            icon = f"the symbol {effect['face']!r}" if on == "face" else icon
            bursts = f" with burst {burst!r}" if burst else ""
            raise DataError(f"{where}: {on!r} needs a face with {icon}{bursts}; dice of class {die.name!r} have none")
    if card.anchored is not None and die.kind != "creature":
        raise DataError(f"card {card.name!r}: an Anchored Spell stands on creature cards only (D26)")
    if die.kind == "large":
        raise DataError(f"card {card.name!r}: {die.name!r} is a class of large dice, which have no card")


_ICONS = {
    **dict.fromkeys(("cast", "react", "attached", "hostscore"), "a spell icon"),
    **dict.fromkeys(("locked", "onlock", "drew"), "a Lock symbol"),
}


def compile_face(card: Card, die: Die, number: int, sets: CardSet) -> dict[str, Any]:
    """The compiled record of one face under one card: a dict with the fields of `FaceTable`.

    Raises:
        DataError: an effect with a target, count or condition that its operation does not take.
    """
    face = die.faces[number]
    out = empty_face()
    # A locked die has level, attack and defence 0, and only its Lock line works (LK11).
    out.update(level=face.level, attack=face.attack, defense=face.defense, bursts=face.bursts)
    out["quid"], out["flavour"] = face.quiddity, FLAVOURS.index(face.flavour)
    on_face: list[Mapping[str, Any]] = []
    steps: list[Mapping[str, Any]] = []
    for i, effect in enumerate(card.effects):
        where = f"card {card.name!r}, effect {i}"
        on, do = effect["on"], effect["do"]
        if not carries(effect, face, where):
            continue
        if on == "face":
            on_face.append(effect)
            continue
        if on in ("cast", "summon", "onlock"):
            steps.append(effect)
        elif on == "react":
            if do == "redirect":
                text_of(where, "to", effect.get("to"), ("pool",))
                out["react_pool"] = 1
            elif do == "setattack":
                whole(where, "n", effect.get("n"), 0, 0)
                out["react_zero"] = 1
            elif do == "defense":
                out["react_def"] += _amount(where, effect)
            else:
                out["react_return"] = 1
        elif on == "attached":
            out["attach"] = 1
            out["host_atk" if do == "attack" else "host_def"] += _amount(where, effect)
        elif on == "hostscore":
            out["attach"] = 1
            if do == "glory":
                out["host_glory"] += _amount(where, effect)
            else:
                out["host_cullcapture"] = _amount(where, effect) + 1
        elif on == "score":
            _compile_score(where, effect, out)
        elif on == "static":
            _compile_static(where, effect, out)
        elif on == "locked":
            if do in LOCKED:
                _compile_static(where, effect, out)
            elif do in ("lockrival", "nopayoff"):
                out[{"lockrival": "lock_rival", "nopayoff": "no_payoff"}[do]] = 1
            else:
                out[f"locked_{do}"] += _amount(where, effect)
        elif on == "drew":
            out["drew_glory" if do == "glory" else "drew_quid"] += _amount(where, effect)
        elif on in ("enter", "perturn"):
            out["copy_enter" if on == "enter" else "copy_turn"] = 1
        elif on == "attack":
            if do == "ignoreattached":
                out["ignore_attached"] = 1
            elif effect.get("when") == "foe_creatures=1":
                out["lone_atk"] += _amount(where, effect)
            else:
                raise DataError(f"{where}: an attack bonus while attacking needs when = 'foe_creatures=1'")
        elif on == "predefence":
            out["quake"] = _when(where, effect, "level").get("level", NO_CAP)
        elif on == "firstkill":
            if effect.get("n") != "own_attack":
                raise DataError(f"{where}: addtotal adds n = 'own_attack'")
            out["firstkill"] = 1
        elif on == "kill":
            if do == "quiddity":
                out["kill_quid"] += _amount(where, effect)
            else:
                out["kill_score"] = 1
        elif on == "destroyed":
            if do == "redirect":
                out["dead_" + text_of(where, "to", effect.get("to"), ("pool", "aside"))] = 1
            elif do == "drawpool":
                out["dead_draw"] += _amount(where, effect)
            else:
                cull = str(effect.get("target"))
                if cull not in sets.dice:
                    raise DataError(f"{where}: target is {cull!r}, must be a class of dice")
                out["dead_cull"] = list(sets.dice).index(cull) + 1
        elif on == "asidekill":
            out["aside_roll"] = 1
        elif on == "state":
            if effect.get("when") != "no_bq":
                raise DataError(f"{where}: a state check needs when = 'no_bq'")
            out["no_bq"] = 1
    if out["dead_aside"] != out["aside_roll"]:
        raise DataError(f"card {card.name!r}: redirect to aside and asidekill rollself go together")
    out["ops"] = compile_steps(f"card {card.name!r}", steps)
    out["n_ops"] = len(steps)
    uses = _uses(f"card {card.name!r}", face, die, on_face)
    out["uses"][: len(uses)] = uses
    out["n_uses"] = len(uses)
    out["kind"] = (
        CREATURE * face.creature + LOCK * face.lock + SPELL * (face.spell and not uses) + IMMEDIATE * bool(uses)
    )
    return out


def compile_anchored(card: Card) -> dict[str, Any]:
    """The compiled record of a card's Anchored Spell: a face with its steps; no steps without one."""
    out = empty_face()
    if card.anchored is not None:
        out["ops"] = compile_steps(f"card {card.name!r}, anchored", card.anchored["effects"])
        out["n_ops"] = len(card.anchored["effects"])
        out["quid"], out["flavour"] = card.anchored["cost"], FLAVOURS.index(card.anchored["flavour"])
    return out


def _compile_score(where: str, effect: Mapping[str, Any], out: dict[str, Any]) -> None:
    do = effect["do"]
    if do == "glory":
        n = _amount(where, effect, {"other_scored": 1})
        out["score_others" if n < 0 else "score_glory"] += abs(n)
    elif do == "drawpool":
        out["score_draw"] += _amount(where, effect)
    elif do == "freecapture":
        _target(where, effect, "spell_class")
        text_of(where, "to", effect.get("to"), ("bag",))
        out["score_free"] = _when(where, effect, "cost").get("cost", 20) + 1
    elif do == "fetch":
        _target(where, effect, "creature_die")
        out["score_fetch"] = 1
    elif do == "swap":
        out["score_swap"] = 1
    else:
        out[f"score_{do}"] += _amount(where, effect)


def _compile_static(where: str, effect: Mapping[str, Any], out: dict[str, Any]) -> None:
    do = effect["do"]
    if do == "stats":
        for key, field in (("attack", "stat_atk"), ("defense", "stat_def")):
            value = effect.get(key)
            if isinstance(value, str):
                if value not in VALUES:
                    raise DataError(f"{where}: {key} is {value!r}, must be a number or one of {', '.join(VALUES)}")
                out[field] = VALUES[value]
            else:
                out[key] = whole(where, key, value, 0, 40)
    elif do in ("attack", "defense"):
        target = _target(where, effect, "self", "other_own_creatures")
        alone = effect.get("when") == "alone"
        n = _amount(where, effect, {"others": 1})
        if target == "other_own_creatures":
            out["aura_atk" if do == "attack" else "aura_def"] += n
        elif do == "attack":
            raise DataError(f"{where}: a creature's own attack is printed on its faces")
        elif n < 0:
            out["def_others"] += 1
        else:
            out["def_alone" if alone else "def_self"] += n
    elif do == "capattack":
        out["capatk"] = min(out["capatk"], _amount(where, effect))
    elif do == "notarget":
        out["notarget"] = 1
    else:
        out[do] += _amount(where, effect)


# ---- values for the greedy player ----------------------------------------------------------------

QUIDDITY_WORTH = 0.3  # Glory that one Quiddity is good for in mid-game
SPELL_WORTH = 0.8  # Glory that a readied spell without Glory of its own is good for


def worth(card: Card, die: Die, sets: CardSet) -> tuple[float, float]:
    """What one roll of a die is good for, in Glory, and the attack it brings on average.

    Quiddity counts at a flat rate. A creature face counts the card's Glory times a chance to live that
    grows with its defence, less the Quiddity of its level. A spell face counts its Glory, or a flat rate.
    """
    total = attack = 0.0
    for number in range(FACES):
        face = compile_face(card, die, number, sets)
        if face["kind"] & CREATURE:
            defense = face["defense"] + face["def_self"] + (4 if face["copy_enter"] or face["stat_def"] else 0)
            lives = 1 / (1 + 2.718281828 ** (0.55 * (3.5 - defense)))
            glory = card.glory + face["score_glory"] + face["score_others"]
            glory += 0.3 * sum(face[f"score_{key}"] > 0 for key in ("draw", "swap", "fetch", "free", "captures"))
            total += glory * lives + 0.06 * face["attack"] - QUIDDITY_WORTH * 0.6 * face["level"]
            attack += 4 if face["stat_atk"] or face["copy_enter"] else face["attack"]
        elif face["kind"] & SPELL:
            glory = sum(op["n"] for op in face["ops"] if OPS[op["code"]] == "glory")
            total += max(SPELL_WORTH, glory + face["host_glory"] * 0.6)
        elif face["kind"] & LOCK:
            total += 0.4
        elif face["kind"] & IMMEDIATE:
            use = face["uses"][0]
            gain = QUIDDITY_WORTH * use["quid"] + 0.5 * use["draw"] + 0.3 * use["captures"] + 0.3 * use["itself"]
            total += max(gain, QUIDDITY_WORTH * face["quid"])
        else:
            total += QUIDDITY_WORTH * face["quid"]
    return total / FACES, attack / FACES
