"""Sets of made-up cards: for every class one card with random effects of the vocabulary in games/quarriors/README.md.

Sourced and reconstructed cards use the effects one way each; here they stand on other classes, with other
numbers, bursts and conditions, so that engine and plain model can be compared on whatever a player's own set may say.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

from tests.reference.quarriors import Data

Effect = dict[str, Any]
BURSTS = (None, None, "*", "**", "*/**", "-")
FITTING = {None: {0, 1, 2}, "-": {0}, "*": {1}, "**": {2}, "*/**": {1, 2}}
LIMITS = ("level<=1", "level<=2", "defense<=3", "defense<=5", None)


def made_up_set(rng: random.Random, data: Data) -> str:
    """The text of a set with one card for every creature and spell class."""
    lines = ['set = "made_up"']
    for name in data.order:
        die = data.dice[name]
        if die["kind"] in ("creature", "spell"):
            lines += _card(rng, name, die, data)
    return "\n".join(lines) + "\n"


def _card(rng: random.Random, name: str, die: dict[str, Any], data: Data) -> list[str]:
    cost = rng.randint(1, 7)
    lines = [
        "",
        "[[card]]",
        f'name = "Odd {name}"',
        f'class = "{name}"',
        f"cost = {cost}",
        'provenance = "reconstructed"',
    ]
    if die["kind"] == "creature":
        lines.append(f"glory = {rng.randint(1, 4)}")
        effects = _creature(rng, name, die, data)
        if "energy" in die:
            lines.append(f"discounted_cost = {cost - 1}")
            if rng.random() < 0.5:
                steps = _steps(rng, "anchored")
                flavour = rng.choice(("light", "dark"))
                lines.append(
                    f'anchored = {{ cost = {rng.randint(1, 2)}, flavour = "{flavour}", effects = {_list(steps)} }}'
                )
    else:
        effects = _spell(rng)
    return [*lines, f"effects = {_list(effects)}"]


def _list(effects: list[Effect]) -> str:
    return "[" + ", ".join(_table(effect) for effect in effects) + "]"


def _table(effect: Effect) -> str:
    def value(item: Any) -> str:
        return str(item).lower() if isinstance(item, bool) else str(item) if isinstance(item, int) else f'"{item}"'

    return "{ " + ", ".join(f"{key} = {value(item)}" for key, item in effect.items() if item is not None) + " }"


def _creature(rng: random.Random, name: str, die: dict[str, Any], data: Data) -> list[Effect]:
    """One to three abilities, each with its own occasion."""
    makers: dict[str, Callable[[], list[Effect]]] = {
        "score": lambda: [_score(rng)],
        "summon": lambda: [_step(rng, "summon", ("quiddity", "destroy", "drawroll", "cull"))],
        "static": lambda: [_static(rng)],
        "attack": lambda: [_attack(rng)],
        "predefence": lambda: [
            {
                "on": "predefence",
                "when": rng.choice(("level<=1", "level<=2")),
                "do": "destroy",
                "target": "foe_creatures",
            }
        ],
        "firstkill": lambda: [{"on": "firstkill", "do": "addtotal", "n": "own_attack"}],
        "kill": lambda: [
            {"on": "kill", **rng.choice(({"do": "quiddity", "n": rng.randint(1, 2)}, {"do": "scoreself"}))}
        ],
        "destroyed": lambda: _destroyed(rng, data),
    }
    if any(face.get("lock") for face in die["faces"]):
        makers |= {
            "locked": lambda: [_locked(rng, "onlock" in occasions)],
            "onlock": lambda: _steps(rng, "onlock"),
        }
    there = {face.get("bursts", 0) for face in die["faces"] if "level" in face}
    bursts = [burst for burst in BURSTS if there & FITTING[burst]]  # those that some creature face has
    made: list[Effect] = []
    occasions = rng.sample(sorted(makers), rng.randint(1, 3))
    for occasion in occasions:
        burst = rng.choice(bursts) if occasion not in ("locked", "onlock") else None
        made += [{**effect, "burst": burst} for effect in makers[occasion]()]
    return made


def _score(rng: random.Random) -> Effect:
    return {
        "on": "score",
        **rng.choice(
            (
                {"do": "glory", "n": rng.choice((1, 2, "other_scored"))},
                {"do": "drawpool", "n": rng.randint(1, 2)},
                {"optional": True, "do": "swap"},
                {"optional": True, "do": "freecapture", "target": "spell_class", "when": "cost<=4", "to": "bag"},
                {"optional": True, "do": "cullspells", "n": 1},
                {"do": "discount", "n": rng.randint(1, 2)},
                {"do": "captures", "n": 1},
                {"optional": True, "do": "fetch", "target": "creature_die", "to": "pool"},
                {"optional": True, "do": "cull", "n": rng.randint(1, 2)},
            )
        ),
    }


def _static(rng: random.Random) -> Effect:
    number = rng.randint(1, 3)
    return {
        "on": "static",
        **rng.choice(
            (
                {"do": "attack", "n": number, "target": "other_own_creatures"},
                {"do": "defense", "n": number, "target": rng.choice(("self", "other_own_creatures"))},
                {"do": "defense", "n": "others", "target": "self"},
                {"when": "alone", "do": "defense", "n": number, "target": "self"},
                {"do": "stats", "attack": number, "defense": rng.choice((2, "all_creatures"))},
                {"do": "surcharge", "n": rng.randint(1, 2)},
                {"do": "barlevel", "n": rng.randint(1, 2)},
                {"do": "capattack", "n": number},
                {"do": "notarget"},
            )
        ),
    }


def _attack(rng: random.Random) -> Effect:
    if rng.random() < 0.5:
        return {"on": "attack", "do": "ignoreattached"}
    return {"on": "attack", "when": "foe_creatures=1", "do": "attack", "n": rng.randint(1, 3), "target": "self"}


def _destroyed(rng: random.Random, data: Data) -> list[Effect]:
    kind = rng.choice(("pool", "aside", "cullreturn", "drawpool"))
    if kind == "drawpool":
        return [{"on": "destroyed", "do": "drawpool", "n": rng.randint(1, 2)}]
    if kind == "cullreturn":
        return [{"on": "destroyed", "optional": True, "do": "cullreturn", "target": "Assistant"}]
    made: list[Effect] = [{"on": "destroyed", "do": "redirect", "target": "self", "to": kind}]
    return [*made, {"on": "asidekill", "do": "rollself"}] if kind == "aside" else made


def _locked(rng: random.Random, own: bool) -> Effect:
    """`own`: not one that is locked with rivals, who would have its Lock effect."""
    number = rng.randint(1, 2)
    return {
        "on": "locked",
        **rng.choice(
            (
                {"do": rng.choice(("attack", "defense")), "n": number, "target": "other_own_creatures"},
                {"do": rng.choice(("surcharge", "barlevel", "draws", "fewer", "dearer", "glory")), "n": number},
                {"do": "capattack", "n": 3},
                {"do": "nopayoff" if own else "lockrival"},
                {"do": "nopayoff"},
            )
        ),
    }


def _step(rng: random.Random, on: str, kinds: tuple[str, ...]) -> Effect:
    """Something that is done at once."""
    do = rng.choice(kinds)
    number = rng.randint(1, 2)
    made: Effect = {"on": on, "do": do}
    if do in ("quiddity", "drawroll", "cull", "captures", "glory"):
        made["n"] = 1 if do == "cull" else number
    if do == "quiddity":
        made["flavour"] = rng.choice((None, "light", "dark"))
    if do in ("attack", "defense"):
        made |= {"n": number, "target": "own_creatures", "until": "turn"}
    if do == "rotate":
        made |= {"to": "up", "target": "own_creatures"}
        if rng.random() < 0.7:
            made |= {"to": rng.choice(("up", "down")), "target": rng.choice(("own_creature", "one_creature"))}
    if do == "destroyspell":
        made["target"] = "one_spell"
    if do == "destroy":
        targets = ["one_creature", "foe_creature", "one_per_foe"] if on == "cast" else ["foe_creature"]
        made |= {"when": rng.choice(LIMITS), "target": rng.choice(targets)}
    return made


def _steps(rng: random.Random, on: str) -> list[Effect]:
    """One step, or two of which the second hangs on the first."""
    first = {
        "cast": ("destroy", "destroyspell", "rotate", "cull", "drawroll", "quiddity", "attack", "defense", "glory"),
        "anchored": ("destroy", "rotate", "cull", "drawroll", "quiddity", "attack", "defense", "glory"),
        "onlock": ("quiddity", "drawroll", "cull", "captures", "destroy", "glory"),
    }[on]
    on = "cast" if on == "anchored" else on
    made = [_step(rng, on, first)]
    if rng.random() < 0.4:
        made.append({**_step(rng, on, ("quiddity", "glory")), "then": True})
    return made


def _spell(rng: random.Random) -> list[Effect]:
    kind = rng.choice(("cast", "cast", "cast", "react", "attached", "hostscore", "face", "both"))
    number = rng.randint(1, 3)
    if kind == "attached":
        return [{"on": "attached", "do": rng.choice(("attack", "defense")), "n": number, "target": "host"}]
    if kind == "hostscore":
        return [
            {
                "on": "hostscore",
                **rng.choice(({"do": "glory", "n": number}, {"optional": True, "do": "cullcapture", "n": number})),
            }
        ]
    if kind == "face":
        made: list[Effect] = [{"on": "face", "face": "spell", "do": "quiddity", "n": number}]
        more = rng.choice(({"do": "captures", "n": 1}, {"do": "drawroll", "n": 1}, {"do": "reroll", "n": 2}, None))
        return [*made, {"on": "face", "face": "spell", **more}] if more else made
    reaction: Effect = {
        "on": "react",
        **rng.choice(
            (
                {"do": "redirect", "target": "own_creatures", "to": "pool", "until": "turn"},
                {"do": "setattack", "n": 0, "target": "one_creature", "until": "turn"},
                {"do": "defense", "n": number, "target": "own_creatures", "until": "turn"},
                {"do": "return", "target": "just_destroyed"},
            )
        ),
    }
    if kind == "react":
        return [reaction]
    return [*([reaction] if kind == "both" else []), *_steps(rng, "cast")]
