"""What Quarriors says to people: the question on top of the stack, its options, and the story.

Nothing in Quarriors is hidden, so everything is read from `to_dict` and `QuarriorsRules.figures`.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import pairwise
from typing import Any, cast

from engine_ext.position import Position, Rules
from games.quarriors.cards import Card, Die, Face
from games.quarriors.rules import QuarriorsRules
from games.quarriors.texts import card_text, invented
from games.quarriors.view import EMPTY_CARDS
from games.words import NOBODY, Line, Step, Words, count, join, tally, who, whose


class _Table:
    """A position with its names.

    Args:
        position: the position.
        seat: who listens.
    """

    def __init__(self, position: Position, seat: int) -> None:
        self.position, self.rules = position, cast(QuarriorsRules, position.rules)
        self.sets = self.rules.sets
        self.seat = seat
        self.state = position.to_dict()
        self.figures = self.rules.figures(position)
        self.active = int(self.state["active"])
        self.pending = self.state["pending"]
        self.over = position.is_terminal()
        self.cards = {self.sets.cards[each["card"]].die: self.sets.cards[each["card"]] for each in self.state["wilds"]}
        self.stock = {self.sets.cards[each["card"]].die: int(each["dice"]) for each in self.state["wilds"]}

    @property
    def frame(self) -> list[Any]:
        """The question: its name and three arguments."""
        stack = self.pending.get("stack") or [["", 0, 0, 0]]
        return list(stack[-1])

    @cached_property
    def offered(self) -> list[tuple[str, dict[str, Any]]]:
        """The legal actions but the one that declines, as families and arguments."""
        named = [parse(self.position.action_to_string(action)) for action in self.position.legal_actions()]
        return [each for each in named if each[0] != "done"]

    @property
    def kinds(self) -> set[str]:
        """The families that are offered."""
        return {family for family, _ in self.offered}

    @property
    def empty(self) -> int:
        """Creature cards without dice."""
        return sum(self.die(name).kind == "creature" and not n for name, n in self.stock.items())

    def ends_with(self, name: str) -> bool:
        """Whether the game ends when a die is taken from this card (B82)."""
        last = self.die(name).kind == "creature" and self.stock[name] == 1
        return last and self.empty + 1 >= EMPTY_CARDS

    def card(self, name: str) -> str:
        """A class of dice by its card's name, where the Wilds have one."""
        return self.cards[name].name if name in self.cards else name

    def die(self, name: str) -> Die:
        """A class of dice."""
        return self.sets.dice[name]

    def shown(self, entry: Mapping[str, Any]) -> str:
        """A die with what it shows, attached spells and changes: `Assistant (level 1, 1/2)`."""
        name = self.card(entry["die"])
        if entry["face"] is None:
            return name
        if entry["face"] >= len(self.die(entry["die"]).faces):  # the engine's face of an Anchored Spell
            return f"the Anchored Spell of {name}"
        text = f"{name} ({face_words(self.die(entry['die']).faces[entry['face']])})"
        if "copy" in entry:
            text += f" as {self.shown(entry['copy'])}"
        for key, word in (("attack", "attack"), ("defense", "defence")):
            if entry.get(key):
                text += f", {word} {entry[key]:+d}"
        return text + "".join(f" with {self.shown(spell)}" for spell in entry.get("attached", []))

    def face(self, name: str, face: int) -> str:
        """A die of a class with this face."""
        return self.shown({"die": name, "face": face})

    def now(self, entry: Mapping[str, Any], values: tuple[int, int]) -> str:
        """A creature's attack and defence where they are not what its face says: `, now 3/6`."""
        shape = entry.get("copy", entry)
        face = self.die(shape["die"]).faces[shape["face"]]
        return "" if values == (face.attack, face.defense) else f", now {values[0]}/{values[1]}"

    def invented(self, name: str) -> list[str]:
        """What is reconstructed of a class of dice and of its card."""
        return invented(self.cards.get(name), self.die(name))

    def creatures(self, seat: int) -> list[dict[str, Any]]:
        """The seat's creatures without the locked one, in the order of `to_dict`."""
        ready = self.state["players"][seat]["ready"]
        return [each for each in ready if "copy" in each or self.die(each["die"]).faces[each["face"]].creature]

    def marked(self, seat: int) -> str:
        """The seat's creature that the question is about; a copy goes by its own name."""
        for each in self.creatures(seat):
            if "mark" in each.get("marks", ()):
                return self.shown(each)
        return "copying creature"

    def recopier(self, number: int) -> str:
        """The creature that the action `recopy number` of the seat to move is about."""
        seat = self.position.current_player()
        return self.shown(self.creatures(seat)[self.figures["recopiers"][seat][number]])

    def creature(self, seat: int, name: str, face: int, number: int) -> str:
        """The creature that an action calls `creature seat name face #number`, with its attack and defence now."""
        values = self.figures["values"][seat]
        k, previous = -1, None
        for entry, numbers in zip(self.creatures(seat), values, strict=False):
            if entry["die"] != name or entry["face"] != face:
                continue
            each = {**entry, "record": "record" in entry}  # of two equal attackers each has a record of its own
            k += previous is None or each != previous
            previous = each
            if k == number:
                return self.shown(entry) + self.now(entry, numbers)
        return self.face(name, face)

    @property
    def quiddity(self) -> str:
        """What the active seat can pay with."""
        available = {name: n for name, n in self.figures["available"].items() if n}
        if set(available) <= {"normal"}:
            return f"{available.get('normal', 0)} Quiddity"
        return join([f"{n} {name}" for name, n in available.items()]) + " Quiddity"


def face_words(face: Face) -> str:
    """What a face shows, in words: `2 Quiddity`, `level 1, 1/2`, `spell *`."""
    parts = []
    if face.quiddity:
        parts.append(f"{face.quiddity} {'' if face.flavour == 'normal' else face.flavour + ' '}Quiddity")
    if face.draw:
        parts.append(f"draw {face.draw}")
    if face.reroll:
        parts.append("roll again")
    if face.creature:
        parts.append(f"level {face.level}, {face.numbers}")
    parts += [
        word for word, there in (("spell", face.spell), ("lock", face.lock), ("card effect", face.effect)) if there
    ]
    return (" or " if face.one_of else " and ").join(parts or ["blank"]) + (
        " " + "*" * face.bursts if face.bursts else ""
    )


# ---- the question --------------------------------------------------------------------------------

_PLAIN = {
    "cullspells": "Your creature scored: return spell dice of your Ready Area and pool to their cards for Glory?",
    "cull": "A creature of yours scored: return a die of your Used Pile to its card (cull), to be rid of it?",
    "swap": "Which die of a rival's Used Pile do you take for yours?",
    "take": "Which die do you take from the Wilds?",
    "culltake": "Which die do you take for the culled one?",
    "fetch": "Which other used creature die do you take into the pool?",
    "rotate": "To which face does it turn?",
    "spellhost": "From which creature is the spell taken?",
    "zero": "Which attacker do you weaken to 0?",
    "return": "Which destroyed creature returns?",
    "order": "Summoned together: whose ability comes next?",
}


# What can be done, in the order of a sentence. Whatever is asked names what is offered, and no more.
_DEEDS = (
    (("summon",), "summon creatures (for their level{dearer})"),
    (("capture", "discounted"), "buy a die ({captures} allowed)"),
    (("use",), "use a face that works at once"),
    (("ready",), "ready a spell"),
    (("cast",), "cast a spell"),
    (("anchored",), "use an Anchored Spell"),
    (("recopy",), "let a copying creature copy another"),
    (("lock", "lock with"), "lock a die"),
    (("unlock",), "pay off a locked die for 2{of_it}"),  # LK18, LK19
    (("discard",), "discard a readied spell"),
    (("return",), "pay for a return"),
)
_PAID = {"summon", "capture", "discounted", "anchored", "unlock"}  # with Quiddity


def _deeds(t: _Table, lead: str, decline: str, unpaid: str = "") -> str:
    """A question made from what is offered.

    Args:
        t: the table.
        lead: what comes before it where something costs Quiddity.
        decline: what the action that declines does.
        unpaid: what comes before it where nothing does.
    """
    extra = t.figures["surcharge"]
    facts = {
        "dearer": f", and each costs {extra} more" if extra else "",
        "captures": count(t.state["captures"], "die", "dice"),
        "of_it": " of it" if lead and t.kinds & _PAID else " Quiddity",
    }
    verbs = [verb.format(**facts) for kinds, verb in _DEEDS if t.kinds & set(kinds)]
    said = f"{lead if t.kinds & _PAID else unpaid}{', '.join(verbs)}, or {decline}?"
    return said[0].upper() + said[1:]


def _answers(t: _Table) -> str:
    """What a seat under attack can do about it."""
    verbs = {
        "cast": "answer with a spell",
        "recopy": "let a copying creature copy another",
        "return": "pay for a return",
    }
    return f"do you {join([verb for kind, verb in verbs.items() if kind in t.kinds], 'or')}?"


def ask(position: Position) -> str:
    """The question on top of the stack."""
    t = _Table(position, position.current_player())
    op, a, b, _ = t.frame
    doing = str(op)
    if doing == "culltake" and position.action_to_string(position.legal_actions()[0]).startswith("cull"):
        return f"Cull a die of your Used Pile, and take one that costs at most {a} more?"
    if doing in _PLAIN:
        return _PLAIN[doing]
    if doing in ("use", "fresh") and t.kinds <= {"use"}:
        return "You have rolled faces that work at once: use one, or go on?"
    if doing == "use":
        return _deeds(t, f"You have {t.quiddity}: ", "go on")
    if doing == "main":
        return _deeds(t, f"You have {t.quiddity}: ", "go on to the attack")
    if doing == "between":
        return _deeds(t, f"Between two defenders you have {t.quiddity}: ", "go on", "between two defenders: ")
    if doing == "clean":
        return _deeds(t, f"Your turn ends with {t.quiddity}: ", _done(t), "your turn ends: ")
    if doing == "capture" and t.kinds <= {"capture", "discounted"}:
        return f"You have {t.quiddity} left: buy a die ({count(t.state['captures'], 'die', 'dice')} allowed)?"
    if doing == "capture":
        return _deeds(t, f"You have {t.quiddity} left: ", "end the capture phase")
    if doing == "lock":
        whose_area = ", and with whom" if "lock with" in t.kinds else ""
        return f"A Lock face must be locked: which one{whose_area}?"
    if doing == "ability":
        if len(t.offered) == 1:
            ((_, scored),) = t.offered
            return f"Creatures scored: do you use the ability of {t.face(scored['die'], scored['face'])}?"
        return "Several creatures scored: whose ability comes next?"
    if doing == "recopy":
        return f"Before scoring: does your {t.marked(t.seat)} become a copy of another?"
    if doing == "cullup":
        return f"Return a die of your {'Spent' if b else 'Used'} Pile to its card (cull)?"
    if doing == "together":
        return f"Summon creatures of your pool together ({count(int(a), 'more', 'more')}): which one?"
    if doing == "reroll":
        return f"Roll other dice again: which one ({count(int(a), 'more', 'more')})?"
    if doing == "surcharge":
        return f"{who(t.active, t.seat)} is about to summon: does your {t.marked(t.seat)} make that dearer?"
    if doing == "window":
        return f"{_attack_words(t)}: {_answers(t)}"
    if doing == "defend":
        left = int(t.pending.get("rem", 0))
        total = int(t.figures["against"][t.seat])
        # A cap or bar that has fallen since does not raise what is left (A32).
        known = f" with {total}" if left <= total else ""
        rest = "" if left == total else f", {left} of it left"
        return f"{_attack_words(t, known)}{rest}: which of your creatures stands up to it?"
    if doing == "event":
        doomed = [t.shown(each) for each in t.creatures(t.seat) if "doomed" in each.get("marks", ())]
        if "to" in t.kinds:
            return f"{join(doomed) or 'Creatures of yours'} will be destroyed: where do the dice go?"
        return f"{join(doomed) or 'Creatures'} will be destroyed: {_answers(t)}"
    if doing == "copy":
        return f"Which creature does your {t.marked(t.seat)} become a copy of?"
    if doing == "target":
        return f"{t.shown(t.figures['cause'])}: at which creature?"
    if doing == "host":
        return f"{t.shown(t.figures['cause'])}: to which of your creatures is it attached?"
    if doing == "pay":
        flavour = ("", "light ", "dark ")[int(b)] if int(b) < 3 else ""
        need = f", at least 1 of it {flavour.strip()}" if flavour else ""
        entering = t.figures["entering"]
        bought = t.figures["bought"]
        price = f"{t.card((entering + bought)[-1])} costs" if entering or bought else "A price of"
        return f"{price} {a} Quiddity{need}: which do you pay with?"
    if t.figures["cause"] is not None:
        return f"{t.shown(t.figures['cause'])}: which one?"
    return "What do you do?"


def _attack_words(t: _Table, known: str | None = None) -> str:
    """The attack that goes on, on the defender whose turn it is to suffer it; `known`: how it is counted."""
    defender = int(t.pending.get("defender", 0))
    verb = "attack" if t.active == t.seat else "attacks"
    counted = f" with {t.figures['against'][defender]}" if known is None else known
    return f"{who(t.active, t.seat)} {verb} {who(defender, t.seat)}{counted}"


def _effects(t: _Table, names: Iterable[str]) -> set[str]:
    """What the cards of these classes do."""
    return {
        effect["do"]
        for name in names
        if name in t.cards
        for effect in (*t.cards[name].effects, *(t.cards[name].anchored or {"effects": ()})["effects"])
    }


# ---- the options ---------------------------------------------------------------------------------

_DIE = r"(?P<die>.+?) (?P<face>\d)"
_PATTERNS = {
    "use": re.compile(rf"use {_DIE}(?P<part>: .+)?"),
    "reroll": re.compile(rf"reroll {_DIE}"),
    "summon": re.compile(rf"summon {_DIE}"),
    "cast": re.compile(rf"cast {_DIE}"),
    "ready": re.compile(rf"ready {_DIE}"),
    "discard": re.compile(rf"discard {_DIE}"),
    "copy": re.compile(rf"copy {_DIE}"),
    "rotate": re.compile(rf"rotate {_DIE}"),
    "resolve": re.compile(rf"resolve {_DIE}(?: of (?P<copier>.+))?"),
    "cull ready": re.compile(rf"cull ready {_DIE}"),
    "cull attached": re.compile(rf"cull attached {_DIE}"),
    "cull pool": re.compile(r"cull pool (?P<die>.+)"),
    "cull": re.compile(r"cull (?P<die>.+)"),
    "take": re.compile(r"take (?P<die>.+)"),
    "fetch": re.compile(r"fetch (?P<die>.+)"),
    "swap": re.compile(r"swap (?P<die>.+) with (?P<seat>\d)"),
    "discounted": re.compile(r"capture (?P<die>.+) discounted"),
    "capture": re.compile(r"capture (?P<die>.+)"),
    "spell": re.compile(rf"spell (?P<seat>\d) {_DIE}"),
    "attached": re.compile(rf"attached (?P<seat>\d) {_DIE}"),
    "creature": re.compile(rf"creature (?P<seat>\d) {_DIE} #(?P<number>\d+)"),
    "return": re.compile(rf"return {_DIE} #(?P<number>\d+)"),
    "anchored": re.compile(r"anchored (?P<die>.+)"),
    "pay": re.compile(r"pay (?P<light>\d+) light (?P<dark>\d+) dark"),
    "lock with": re.compile(rf"lock {_DIE} with (?P<seat>\d)"),
    "lock": re.compile(rf"lock {_DIE}"),
    "unlock": re.compile(r"unlock (?P<seat>\d)"),
    "recopy": re.compile(r"recopy (?P<number>\d+)"),
    "to": re.compile(r"to (?P<die>pool|aside)"),
}


def parse(name: str) -> tuple[str, dict[str, Any]]:
    """An action's name as its family and its arguments."""
    for family, pattern in _PATTERNS.items():
        found = pattern.fullmatch(name)
        if found:
            parts: dict[str, Any] = found.groupdict()
            numbers = ("face", "seat", "number", "light", "dark")
            return family, {key: int(value) if key in numbers else value for key, value in parts.items()}
    return name, {}


def options(position: Position) -> Mapping[int, str]:
    """Every legal action in words; what ends or declines comes last."""
    t = _Table(position, position.current_player())
    made: dict[int, str] = {}
    last: dict[int, str] = {}
    for action in position.legal_actions():
        name = position.action_to_string(action)
        family, parts = parse(name)
        (last if family == "done" else made)[action] = _option(t, family, parts, action)
    made |= last
    twice = {text for text, n in Counter(made.values()).items() if n > 1}
    # Dice that look alike and differ in something no word names keep the end of their names.
    return {
        action: f"{text} {position.action_to_string(action).rsplit(' ', 1)[1]}" if text in twice else text
        for action, text in made.items()
    }


def _priced(t: _Table, name: str, cost: int) -> str:
    card = t.cards[name]
    price = max(0, cost - int(t.pending.get("discount", 0)))
    ends = t.ends_with(name)
    facts = ["the last die of it: the game ends" if ends else count(t.stock[name], "die", "dice") + " left"]
    if card.glory:
        facts.append(f"{card.glory} Glory when it scores")
    if made := t.invented(name):
        facts.append(f"reconstructed: {join(made)}")
    text = f": {card_text(card)}" if card.effects or card.anchored else ""
    return f"{card.name} for {price} Quiddity ({', '.join(facts)}){text}"


def _of_card(t: _Table, name: str) -> str:
    """What a die's card says, after a colon, and whether that or the die is reconstructed."""
    card = t.cards.get(name)
    text = f": {card_text(card)}" if card is not None and (card.effects or card.anchored) else ""
    return text + (" (reconstructed)" if t.invented(name) else "")


def _used(t: _Table, action: int, name: str, face: int) -> str:
    """What the use of an immediate face brings, and what it costs."""
    use = cast(dict[str, Any], t.rules.use_of(t.position, action))
    again = ["it"] * use["itself"] + [f"up to {count(use['others'], 'other die', 'other dice')}"] * bool(use["others"])
    flavour = "" if use["flavour"] == "normal" else use["flavour"] + " "
    deeds = [
        text
        for there, text in (
            (use["quiddity"], f"+{use['quiddity']} {flavour}Quiddity"),
            (use["captures"], f"{use['captures']} more to capture"),
            (use["draw"], f"draw and roll {use['draw']}"),
            (again, f"roll {' and '.join(again)} again"),
        )
        if there
    ]
    lost = t.die(name).faces[face].quiddity - use["quiddity"]
    if lost > 0:  # spent or rolled again, it gives no Quiddity any more
        deeds.append(f"giving up its {lost} Quiddity")
    elif use["spent"]:
        deeds.append("and it is spent")
    return ", ".join(deeds) + (" (reconstructed)" if t.invented(name) else "")


_AIMED = {
    "destroy": ("destroying", "creatures"),
    "rotate": ("turning", "creatures"),
    "discard": ("discarding", "spells"),
}


def _aimed(t: _Table, action: int) -> str:
    """Whom a spell has to hit, where there is no choice, or none but among the own."""
    if t.seat != t.active or t.frame[0] in ("window", "event"):
        return ""
    found = t.rules.targets_of(t.position, action)
    if not found or not found[1]:
        return ""
    doing, many = _AIMED[found[0]]
    first_seat, first = found[1][0]
    if all(each == (first_seat, first) for each in found[1]):
        owner = "your own" if first_seat == t.seat else whose(first_seat, t.seat)
        return f", {doing} {owner} {t.shown(first)}, the only target"
    if all(seat == t.seat for seat, _ in found[1]):
        return f", {doing} one of your own {many}, the only targets"
    return ""


def _pushed(t: _Table, seat: int) -> str:
    """The locked die of a seat that another pushes out (LK5)."""
    locked = t.state["players"][seat].get("locked")
    return f", pushing out {whose(seat, t.seat)} locked {t.shown(locked)}" if locked else ""


def _then_locked(t: _Table) -> str:
    """What must be locked by who goes on with Lock faces in the pool (LK4)."""
    own = [parts for family, parts in t.offered if family == "lock"]
    if not own:
        return ""
    alone = len(own) == 1 and "lock with" not in t.kinds
    which = t.face(own[0]["die"], own[0]["face"]) if alone else "one of the Lock faces"
    return f": {which} must then be locked{_pushed(t, t.seat)}"


def _forecast(t: _Table) -> str:
    """What the attack will count, where that is certain: `: 7 against seat 1`."""
    told = [
        f"{each[0]} against {who(seat, t.seat)}" + (f" and {each[1]} more at its first loss" if each[1] else "")
        for seat, each in enumerate(t.figures["forecast"])
        if each is not None
    ]
    return f": {join(told)}" if told else ""


def _done(t: _Table) -> str:
    doing = str(t.frame[0])
    if doing == "capture" and not t.kinds <= {"capture", "discounted"}:
        return "end the capture phase"
    if doing == "clean" and "discard" not in t.kinds:
        return "end the turn"
    if doing == "ability" and len(t.offered) == 1:
        return "leave it unused"
    if doing in ("main", "use"):
        return ("go on to the attack" if doing == "main" else "go on") + (_then_locked(t) or _forecast(t))
    return {
        "fresh": "use none of them",
        "capture": "buy nothing more",
        "clean": "keep the spells",
        "cull": "cull nothing",
        "cullup": "cull nothing",
        "together": "summon no more",
        "defend": "no more",
        "window": "no answer",
        "event": "no answer",
        "reroll": "no more dice",
        "recopy": "stay as it is",
        "surcharge": "stay as it is",
        "ability": "drop the rest",
    }.get(doing, "no, go on")


def _option(t: _Table, family: str, parts: dict[str, Any], action: int) -> str:
    name, face, seat = parts.get("die", ""), parts.get("face", 0), parts.get("seat", 0)
    if family == "done":
        return _done(t)
    if family == "summon":
        free = t.frame[0] == "together"  # but for what rivals make it dearer
        level = (0 if free else t.die(name).faces[face].level) + t.figures["surcharge"]
        glory = f", {t.cards[name].glory} Glory when it scores" if name in t.cards and t.cards[name].glory else ""
        return f"summon {t.face(name, face)} for {level} Quiddity{glory}{_of_card(t, name)}"
    if family == "capture":
        return "capture " + _priced(t, name, t.cards[name].cost)
    if family == "discounted":
        return "capture with the discount " + _priced(t, name, t.cards[name].discounted)
    if family == "use":
        return f"use {t.face(name, face)}: {_used(t, action, name, face)}"
    if family in ("cast", "ready"):
        aimed = _aimed(t, action) if family == "cast" else ""
        return f"{family} {t.face(name, face)}{aimed}{_of_card(t, name)}"
    if family == "reroll":
        return f"roll {t.face(name, face)} again"
    if family == "creature":
        whom = "" if seat == t.seat and t.frame[0] in ("defend", "host") else f"{whose(seat, t.seat)} "
        return whom + t.creature(seat, name, face, parts["number"])
    if family == "return":
        return f"pay for the return of {t.creature(t.seat, name, face, parts['number'])}"
    if family in ("spell", "attached"):
        return f"{whose(seat, t.seat)} {'readied' if family == 'spell' else 'attached'} {t.face(name, face)}"
    if family in ("discard", "copy", "rotate"):
        verb = {"discard": "discard", "copy": "become a copy of", "rotate": "turn to"}[family]
        return f"{verb} {t.face(name, face)}"
    if family == "resolve":
        copier = f", copied by {t.card(parts['copier'])}" if parts["copier"] else ""
        return f"{t.face(name, face)}{copier}{_of_card(t, name)}"
    if family.startswith("cull"):
        pile = "spent " if t.frame[0] == "cullup" and t.frame[2] else "used "
        where = {"cull ready": "readied ", "cull attached": "attached ", "cull pool": "unrolled "}.get(family, pile)
        shown = t.face(name, face) if "face" in parts else t.card(name)
        return f"cull the {where}{shown}"
    if family == "take":
        return "take " + (_priced(t, name, 0).replace(" for 0 Quiddity", "") if name in t.cards else name)
    if family == "fetch":
        return f"fetch {t.card(name)}"
    if family == "swap":
        return f"take {whose(seat, t.seat)} used {t.card(name)} for it"
    if family == "anchored":
        card = t.cards[name]
        made = " (reconstructed)" if "anchored" in card.reconstructed else ""
        spell = card_text(card).rpartition("anchored, ")[2]
        return f"use the Anchored Spell of {card.name}{_aimed(t, action)}: {spell}{made}"
    if family == "pay":
        light, dark = parts["light"], parts["dark"]
        spent = {"light": light, "dark": dark, "normal": int(t.frame[1]) - light - dark}
        return f"{join([f'{n} {flavour}' for flavour, n in spent.items() if n])} Quiddity"
    if family == "lock":
        return f"lock {t.face(name, face)}{_pushed(t, t.seat)}{_of_card(t, name)}"
    if family == "lock with":
        return f"lock {t.face(name, face)} with seat {seat}{_pushed(t, seat)}{_of_card(t, name)}"
    if family == "unlock":
        locked = t.state["players"][seat].get("locked")
        return f"unlock {whose(seat, t.seat)} {t.shown(locked) if locked else 'die'} for 2 Quiddity"
    if family == "recopy":
        return f"let your {t.recopier(parts['number'])} copy another"
    return {"pool": "destroyed dice go to your pool", "aside": "destroyed dice are set aside"}.get(name, family)


_SPELT = {4: "four", 5: "five", 6: "six", 7: "seven"}


# ---- the story -----------------------------------------------------------------------------------


def tell(steps: Sequence[Step], seat: int) -> list[Line]:
    """The steps in words: what was rolled, summoned, cast, attacked with, lost, scored and captured."""
    lines: list[Line] = []
    rolls: dict[str, list[str]] = {}
    dealt: list[str] = []
    roller = NOBODY
    tables = [_Table(step.before, seat) for step in steps] + [_Table(steps[-1].after, seat)] if steps else []

    def flush() -> None:
        nonlocal rolls, dealt
        if dealt:
            lines.append(Line(NOBODY, f"dealt to the Wilds: {join(dealt)}"))
        if rolls:
            lines.append(Line(roller, "rolled " + "; ".join(f"{name}: {', '.join(f)}" for name, f in rolls.items())))
        rolls, dealt = {}, []

    for step, (before, after) in zip(steps, pairwise(tables), strict=True):
        family = ""
        parts: dict[str, Any] = {}
        if step.seat == NOBODY:
            kind, _, rest = str(before.rules.outcome_name(step.action)).partition(" ")
            if kind == "deal":
                dealt.append(rest)
            elif kind == "roll":
                name, _, faces = rest.rpartition(": ")
                roller = before.active
                rolls.setdefault(before.card(name), []).extend(_rolled(before, name, faces))
        else:
            flush()
            family, parts = parse(str(step.name))
            text = _told(before, family, parts, step.seat)
            if text:
                lines.append(Line(step.seat, text))
        changes = _changes(before, after, step.action, _summoned(before, after, family, parts))
        if changes:
            flush()
            lines += changes
    flush()
    return lines


def _rolled(t: _Table, name: str, faces: str) -> list[str]:
    """`0x3 5x1` in words: `3 × 1 Quiddity`, `2 Quiddity`."""
    shown = []
    for part in faces.split():
        face, _, n = part.partition("x")
        words = face_words(t.die(name).faces[int(face)])
        shown.append(words if n == "1" else f"{n} × {words}")
    return shown


def _told(t: _Table, family: str, parts: dict[str, Any], seat: int) -> str:
    """A decision in the past tense; empty where what came of it says enough."""
    name, face = parts.get("die", ""), parts.get("face", 0)
    other = parts.get("seat", 0)
    doing = str(t.frame[0])
    if family == "done" or family.startswith("to") or family in ("pay", "recopy"):
        return ""
    if family == "summon":
        return f"summoned {t.face(name, face)}"
    if family in ("capture", "discounted"):
        cost = t.cards[name].cost if family == "capture" else t.cards[name].discounted
        price = max(0, cost - int(t.pending.get("discount", 0)))
        return f"captured {t.card(name)} for {price} Quiddity ({count(t.stock[name] - 1, 'die', 'dice')} left)"
    if family == "creature":
        if doing == "defend":
            return ""
        verb = {"host": "attached it to", "return": "brought back"}.get(doing, "chose")
        return f"{verb} {whose(other, t.seat) + ' ' if other != seat else ''}{t.face(name, face)}"
    if family == "use":
        return f"used {t.face(name, face)}"
    if family == "reroll":
        return f"rolled {t.face(name, face)} again"
    if family.startswith("cull"):
        return f"culled {t.card(name)}"
    if family in ("spell", "attached"):
        return f"chose {whose(other, t.seat)} {t.face(name, face)}"
    if family == "swap":
        return f"took {whose(other, t.seat)} used {t.card(name)} in exchange"
    if family == "lock with":
        return f"locked {t.face(name, face)} with {who(other, t.seat)}"
    if family == "unlock":
        return f"paid off {whose(other, t.seat)} locked die"
    past = {
        "cast": "cast",
        "ready": "readied",
        "discard": "discarded",
        "copy": "copied",
        "rotate": "turned it to",
        "resolve": "used the ability of",
        "take": "took",
        "fetch": "fetched",
        "return": "paid for the return of",
        "anchored": "used the Anchored Spell of",
        "lock": "locked",
    }
    shown = t.face(name, face) if "face" in parts else t.card(name)
    return f"{past[family]} {shown}" if family in past else ""


def _summoned(before: _Table, after: _Table, family: str, parts: Mapping[str, Any]) -> Counter[str]:
    """Classes that a step brings into the active seat's Ready Area. A summon that asks how it is paid for brings
    its die with the answer."""
    chosen = Counter([parts["die"]] if family == "summon" else [])
    return chosen + Counter(before.figures["entering"]) - Counter(after.figures["entering"])


def _changes(before: _Table, after: _Table, action: int, summoned: Counter[str]) -> list[Line]:
    """What a step brought about: the attack, creatures lost or scored, Glory, the turn, the end.

    Args:
        before, after: the positions around the step.
        action: its id.
        summoned: classes that it brought into the active seat's Ready Area.
    """
    old, new = before.state, after.state
    passed = new["turn"] != old["turn"]
    seats = len(old["players"])
    scores: list[Line] = []
    lines: list[Line] = _attack(before, action)
    for k in range(1, seats + 1):  # clockwise from the attacker (B68), who comes last
        seat = (before.active + k) % seats
        now = new["players"][seat]["glory"]
        gained = int(now) - int(old["players"][seat]["glory"])
        gone = Counter(each["die"] for each in before.creatures(seat))
        gone += summoned if seat == before.active else Counter()
        gone -= Counter(each["die"] for each in after.creatures(seat))
        lost, scored = _fate(before, after, seat, gone, gained, passed)
        if lost:
            lines.append(Line(seat, f"lost {_named(before, lost)}"))
        if scored or gained:
            by = f" with {_named(before, scored)}" if scored else ""
            told = scores if passed and seat == after.active else lines  # phase 1 of the next turn
            told.append(Line(seat, f"scored {gained} Glory{by}: {now} now"))
    if passed and (scores or not after.over):
        begins = "your turn" if after.active == after.seat else f"the turn of seat {after.active}"
        lines.append(Line(NOBODY, f"turn {new['turn'] + 1}: {begins}"))
    lines += scores
    if after.over:
        lines += [Line(NOBODY, why) for why in _ending(after)]
        glory = tally([each["glory"] for each in new["players"]], after.seat, "Glory", "Glory")
        lines.append(Line(NOBODY, f"the game is over: {glory}"))
    return lines


def _ending(t: _Table) -> list[str]:
    """Why the game is over where nobody has reached the goal, and who wins among those with the most Glory (B87)."""
    glory = [int(each["glory"]) for each in t.state["players"]]
    if max(glory) >= t.rules.goal:
        return []
    if t.empty >= EMPTY_CARDS:
        told = [f"{_SPELT.get(t.empty, str(t.empty))} creature cards are empty, which ends the game: most Glory wins"]
    else:
        turns = count(int(t.rules.parameters["max_turns"]), "turn")
        told = [f"everybody has had {turns}, the most there are: most Glory wins"]
    leaders = [seat for seat, n in enumerate(glory) if n == max(glory)]
    winners = t.pending.get("winners", leaders)
    if len(leaders) > 1:
        names = join([who(seat, t.seat) for seat in winners])
        told.append(f"with equal Glory the dice in the Ready Area count: {names} had most")
    return told


def _named(t: _Table, dice: Counter[str]) -> str:
    return join([t.card(name) if n == 1 else f"{n} {t.card(name)}" for name, n in dice.items()])


def _fate(
    before: _Table, after: _Table, seat: int, gone: Counter[str], gained: int, passed: bool
) -> tuple[Counter[str], Counter[str]]:
    """Which creatures of a seat were lost and which scored in one step.

    Creatures leave the Ready Area by scoring in phase 1 of their owner's turn, by an effect of their own
    that scores them when they have destroyed, or destroyed themselves. One step
    can hold both: an attack, and then the next player's scoring. An attack that asks nobody destroys
    none of a defender's creatures, all of them, or some of several that are alike, so the Glory
    gained tells them apart.
    """
    if not gone:
        return Counter(), Counter()
    scoring = after.active == seat and (passed or int(before.state["phase"]) <= 1)
    if not scoring:
        scored: Counter[str] = Counter()
        for name, n in gone.items():
            worth = before.cards[name].glory if name in before.cards else 0
            if seat == before.active and worth and "scoreself" in _effects(before, [name]):
                scored[name] = min(n, gained // worth)
                gained -= worth * scored[name]
        return gone - scored, +scored
    if not passed:
        return Counter(), gone
    glory = {name: before.cards[name].glory if name in before.cards else 0 for name in gone}
    if len(gone) == 1:
        ((name, n),) = gone.items()
        survived = min(n, gained // glory[name]) if glory[name] else n
        return Counter({name: n - survived} if n > survived else {}), Counter({name: survived} if survived else {})
    return (Counter(), gone) if gained else (gone, Counter())


def _attack(t: _Table, action: int) -> list[Line]:
    """The attack, where one begins with this action and somebody has to fear it: what it counts, against whom it
    counts something else, and what a defender's first loss adds (A34)."""
    attack = t.rules.attack_of(t.position, action)
    feared = [seat for seat in range(len(t.state["players"])) if seat != t.active and t.creatures(seat)]
    if attack is None or not feared:
        return []
    totals = {seat: attack["against"][seat] for seat in feared}
    usual = Counter(totals.values()).most_common(1)[0][0]
    others = [f"{n} against {who(seat, t.seat)}" for seat, n in totals.items() if n != usual]
    counts = f"{usual} in all" + (f" ({join(others)})" if others else "")
    adds = max(attack["first_loss"])
    more = f", and {adds} more at a defender's first loss" if adds else ""
    return [Line(t.active, f"attacked with {_named(t, Counter(attack['attackers']))}: {counts}{more}")]


# ---- what can be looked up -----------------------------------------------------------------------


def look_up(position: Position, seat: int) -> Mapping[str, str]:
    """Every card of the Wilds and every class of dice in play, with faces, costs and text."""
    t = _Table(position, seat)
    known: dict[str, str] = {}
    for each in t.state["wilds"]:
        card = t.sets.cards[each["card"]]
        known[card.name] = f"{_card_facts(t, card)}, {count(each['dice'], 'die', 'dice')} left"
    held = {
        name
        for player in t.state["players"]
        for zone in ("bag", "used", "spent")
        for name in player[zone]
        if name not in t.cards
    }
    for name in sorted(held):
        made = "; reconstructed: faces" if invented(None, t.die(name)) else ""
        known[name] = f"{t.die(name).kind} die, {_faces(t.die(name))}{made}"
    return known


def _card_facts(t: _Table, card: Card) -> str:
    die = t.die(card.die)
    cost = f"costs {card.cost}" + (f", discounted {card.discounted}" if card.discounted != card.cost else "")
    glory = f", {card.glory} Glory when it scores" if card.glory else ""
    text = f"; {card_text(card)}" if card.effects or card.anchored else ""
    made = invented(card, die)
    return f"{die.kind}, {cost}{glory}{text}; {_faces(die)}" + (f"; reconstructed: {join(made)}" if made else "")


def _faces(die: Die) -> str:
    faces = Counter(face_words(face) for face in die.faces)
    return "faces: " + "; ".join(words if n == 1 else f"{n} × {words}" for words, n in faces.items())


def aim(rules: Rules) -> str:
    """The course of a turn, and what ends the game; what the edition has beside that."""
    parameters = rules.parameters
    light_dark = parameters["edition"] == "light_vs_dark"
    told = [
        f"Who has {cast(QuarriorsRules, rules).goal} Glory first wins. The game ends as well when {EMPTY_CARDS} "
        "creature cards have no dice left: then most Glory wins, and of those who have it who has most dice in the "
        "Ready Area. Each turn you roll dice from your bag. Quiddity pays for what they show: creatures are summoned, "
        "and attack all rivals; spells are cast. Then you may buy a die from the Wilds for the Quiddity left; it goes "
        "to your Used Pile, which becomes your bag when that is empty. Creatures of yours that still stand when your "
        "next turn begins score their Glory."
    ]
    if not light_dark:
        told.append("For each that scores you may give a die of your Used Pile back to its card: that culls weak dice.")
    else:
        told.append(
            "Two large dice are rolled in each of your turns beside those you draw. Only cards cull dice. Light and "
            "dark Quiddity buys cards of its kind at a discount, with 1 of it in the payment, and once a turn the "
            "Anchored Spell of a creature card in the Wilds, whether you own its dice or not."
        )
    if parameters["qladiator"]:
        told.append(
            "A die that shows a Lock goes to your Locked Area, one a turn, and one has to if any is left when the roll "
            "is over; it works there from turn to turn, neither fights nor scores, and leaves when another is locked, "
            "when a spell destroys it, or when anybody pays 2 Quiddity."
        )
    return " ".join(told)


WORDS = Words(
    ask=ask, options=options, tell=tell, look_up=look_up, aim=aim, unit=lambda _: ("Glory ahead", "Glory ahead")
)
