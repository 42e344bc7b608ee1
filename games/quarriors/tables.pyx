"""The tables of one setting of Quarriors, made from its sets, and the names of actions and outcomes."""
from cpython.mem cimport PyMem_RawCalloc, PyMem_RawFree
from libc.stdint cimport uint8_t

from engine_ext.game cimport OUTCOME_LIMIT
from engine_ext.position cimport Rules
from games.quarriors.ids cimport *
from games.quarriors.state cimport *

import array
import itertools
import math
from pathlib import Path

from engine_ext.errors import DataError, ParameterError
from games.quarriors import cards as data
from games.quarriors import compiling, loading
from games.quarriors.values import greedy_values, weights

_FAMILY_NAMES = (
    "done", "to pool", "to aside", "recopy {n}", "use {die}", "use {die}: re-roll only", "use {die}: draw only",
    "reroll {die}", "summon {die}", "cast {die}", "discard {die}", "copy {die}", "rotate {die}",
    "resolve {die}", "resolve {die} of {copier}", "cull {cls}", "cull ready {die}", "cull attached {die}",
    "cull pool {cls}", "take {cls}", "fetch {cls}", "swap {cls} with {seat}", "capture {cls}",
    "spell {seat} {die}", "attached {seat} {die}", "creature {seat} {die} #{n}", "return {die} #{n}",
    "ready {die}", "capture {cls} discounted", "anchored {cls}", "pay {light} light {dark} dark", "lock {die}",
    "lock {die} with {seat}", "unlock {seat}",
)
_EDITIONS = ("base", "light_vs_dark")
_BASIC = ("Basic Quiddity", "Assistant", "Portal")
_GOALS = {2: 20, 3: 15, 4: 12}


cdef class QuarriorsTables(Rules):
    """Parameters, sets and tables; rules.pyx adds the rules.

    Attributes:
        sets: the `cards.CardSet` in use.
        card_names: names by card number.
        class_names: names of dice classes by class number.
        fixed: numbers of the cards that the parameter `wilds` names.
    """

    def __dealloc__(self):
        PyMem_RawFree(self.data)

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self.name = "quarriors"
        edition, players = parameters["edition"], parameters["players"]
        if edition not in _EDITIONS:
            raise ParameterError(f"quarriors: edition is {edition!r}, allowed are {', '.join(_EDITIONS)}")
        if players not in _GOALS:
            raise ParameterError(f"quarriors: players is {players}, allowed are 2 to 4")
        if parameters["utility"] not in ("win", "glory"):
            raise ParameterError(f"quarriors: utility is {parameters['utility']!r}, allowed are 'win' and 'glory'")
        if not 1 <= parameters["max_turns"] <= 1000:
            raise ParameterError(f"quarriors: max_turns is {parameters['max_turns']}, allowed are 1 to 1000")
        for option in ("mixed", "quantity_capture"):
            if parameters[option] and edition != "light_vs_dark":
                raise ParameterError(
                    f"quarriors: {option} is an option of edition=light_vs_dark, not of edition={edition}")
        lvd = edition == "light_vs_dark"
        names = ["base.toml"] * (not lvd or parameters["mixed"]) + ["light_vs_dark.toml"] * lvd
        names += ["qladiator.toml"] * parameters["qladiator"]
        paths = [data.DATA / name for name in names]
        if parameters["data"]:
            paths.append(Path(parameters["data"]))
        self.sets = loading.read_sets(paths)
        self.digest = self.sets.digest
        if lvd:                                                           # D5: the old basic cards stay out
            self.sets = data.restrict(self.sets, [name for name in self.sets.cards if name not in _BASIC])
        PyMem_RawFree(self.data)
        self.data = <Tables *>PyMem_RawCalloc(1, sizeof(Tables))
        if self.data == NULL:
            raise MemoryError
        self.tables = self.data
        self.data.n_players, self.data.goal = players, _GOALS[players]
        self.data.max_turns, self.data.draw = parameters["max_turns"], 6
        self.data.captures = 2 if parameters["quantity_capture"] else 1  # D50
        self.data.lvd, self.data.lock = lvd, parameters["qladiator"]
        self.data.glory_utility = parameters["utility"] == "glory"
        pure = lvd and not parameters["mixed"] and not parameters["qladiator"]
        self.data.n_creatures, self.data.n_spells = (6, 2) if pure else (7, 3)
        self._fill_attachments()
        self._fill_binomials()
        self._fill_cards()
        self._fill_ids()
        self._fill_outcomes()
        for i, weight in enumerate(weights(edition, players)):
            self.data.value_weight[i] = weight
        for i, number in enumerate(greedy_values(edition, players)):
            self.data.greedy[i] = number
        self.fixed = self._read_wilds(parameters["wilds"])

    # ---- tables -------------------------------------------------------------------------------

    def _fill_attachments(self):
        code = 0
        for a in range(6):
            for b in range(6 - a):
                self.data.att_a[code], self.data.att_b[code] = a, b
                self.data.att_code[a][b] = code
                code += 1

    def _fill_binomials(self):
        for n in range(80):
            for k in range(16):
                self.data.binomial[n][k] = math.comb(n, k)

    def _fill_cards(self):
        cdef Tables *T = self.data
        cdef CardTable *card
        dice, cards = list(self.sets.dice.values()), list(self.sets.cards.values())
        large = [die for die in dice if die.kind == "large"]
        if T.lvd:
            if len(large) != 1:
                raise DataError(f"quarriors: Light vs. Dark has one kind of large dice, the sets have {len(large)}")
            cards.append(data.large_card(large[0]))
        if len(cards) >= MAX_CARDS or len(dice) > MAX_CLASSES:
            raise DataError(
                f"quarriors: {len(cards)} cards of {len(dice)} classes; {MAX_CARDS - 1} of {MAX_CLASSES} fit")
        self.card_names = [made.name for made in cards]
        self.class_names = [die.name for die in dice]
        T.n_cards, T.n_classes = len(cards), len(dice)
        T.basic[0] = T.basic[1] = T.basic[2] = -1
        for number, made in enumerate(cards):
            die = self.sets.dice[made.die]
            card = &T.card[number]
            card.cls = self.class_names.index(made.die)
            card.kind = {"creature": 1, "spell": 2, "assistant": 3 if T.lvd else 0}.get(die.kind, 0)
            card.cost, card.discounted, card.glory = made.cost, made.discounted, made.glory
            card.energy = data.FLAVOURS.index(die.energy or "normal")
            card.creature_die = any(face.creature for face in die.faces)
            spell_faces = [i for i, face in enumerate(die.faces) if face.spell and die.canon[i] == i]
            card.spell_face[0] = spell_faces[0] if spell_faces else NONE
            card.spell_face[1] = spell_faces[1] if len(spell_faces) > 1 else NONE
            distinct = sorted(set(die.canon))
            card.n_faces = len(distinct)
            for i, face in enumerate(distinct):
                card.faces[i], card.weight[i] = face, die.canon.count(face)
            features = 0
            for i in range(data.FACES):
                card.canon[i] = die.canon[i]
                record = compiling.compile_face(made, die, i, self.sets)
                card.face[i] = record
                features |= FEAT_AURA * bool(record["aura_atk"] or record["aura_def"])
                features |= FEAT_SURCHARGE * bool(record["surcharge"] or record["locked_dearer"])
                features |= FEAT_LOCK * bool(record["kind"] & IS_LOCK)
                features |= FEAT_LIMIT * bool(record["summonlimit"])
                features |= FEAT_DREW * bool(record["drew_glory"] or record["drew_quid"])
                features |= FEAT_NO_BQ * record["no_bq"] | FEAT_COPY * record["copy_enter"]
            record = compiling.compile_anchored(made)
            card.face[6] = record
            features |= FEAT_ANCHORED * bool(record["n_ops"])
            card.features = features
            card.worth, card.mean_attack = compiling.worth(made, die, self.sets)
        if T.lvd:
            T.basic[0] = len(cards) - 1
            if not any(T.card[i].kind == 3 for i in range(T.n_cards)):
                raise DataError("quarriors: the sets have no Assistant card")
            return
        basic = [made for made in cards if self.sets.dice[made.die].kind in ("basic", "assistant")]
        for slot, name in enumerate(_BASIC):
            if name not in self.sets.cards:
                raise DataError(f"quarriors: the card {name!r} is missing")
            T.basic[slot] = self.card_names.index(name)
        if len(basic) != 3:
            raise DataError("quarriors: the base edition has the basic cards Basic Quiddity, Assistant and Portal only")

    def _fill_ids(self):
        cdef Tables *T = self.data
        dice = 8 * T.n_classes
        sizes = {ARG_NONE: 1, ARG_N: MAX_READY, ARG_DIE: dice, ARG_CLASS: T.n_classes, ARG_CLASS_SEAT: 4 * T.n_classes,
                 ARG_SEAT_DIE: MAX_SEATS * dice, ARG_SEAT_DIE_N: MAX_SEATS * dice * 16, ARG_DIE_N: dice * 16,
                 ARG_DIE_CLASS: dice * T.n_classes, ARG_PAY: 256, ARG_SEAT: MAX_SEATS}
        total = 0
        for family in range(N_FAMILIES):
            T.offset[family], T.size[family] = total, sizes[argument(family)]
            total += T.size[family]
        self.ops.n_actions = total

    def _fill_outcomes(self):
        cdef Tables *T = self.data
        multisets, chances = [[0] * 8] * (16 * T.n_classes), [0.0] * (16 * T.n_classes)
        most = 0
        for cls, die in enumerate(self.sets.dice.values()):
            distinct = sorted(set(die.canon))
            share = {face: die.canon.count(face) / 6 for face in distinct}
            for k in range(1, ROLL_LIMIT + 2):
                T.roll_offset[cls][k] = len(multisets)
                if k > min(ROLL_LIMIT, die.count):
                    continue
                for faces in itertools.combinations_with_replacement(distinct, k):
                    counts = [faces.count(face) for face in range(8)]
                    ways = math.factorial(k)
                    for count in counts:
                        ways //= math.factorial(count)
                    multisets.append(counts)
                    chances.append(ways * math.prod(share[face] for face in faces))
                most = max(most, len(multisets) - T.roll_offset[cls][k])
        T.deal_offset = len(multisets)
        T.n_outcomes = T.deal_offset + T.n_cards
        self._multisets = bytes(count for row_of in multisets for count in row_of)
        self._chances = _packed(chances)
        T.multiset = <const uint8_t *><const char *>self._multisets
        T.chance = <const double *><const char *>self._chances
        self.ops.n_outcomes = T.n_outcomes
        self.ops.max_outcomes = max(most, T.n_cards, 16)
        if self.ops.max_outcomes > OUTCOME_LIMIT:
            raise DataError(f"quarriors: a roll has {most} outcomes; {OUTCOME_LIMIT} fit")

    def _read_wilds(self, text):
        """Card numbers that the parameter `wilds` names."""
        cdef Tables *T = self.data
        numbers, classes = [], {}
        counts = {1: 0, 2: 0, 3: 0}
        for name in (part.strip() for part in text.split(";")) if text else ():
            if not name:
                raise ParameterError(
                    f"quarriors: wilds is {text!r}: a ';' stands between two names of cards, and one is missing")
            if name not in self.sets.cards:
                raise ParameterError(f"quarriors: wilds names {name!r}, which is no card of the sets in use")
            number = self.card_names.index(name)
            cls = self.sets.cards[name].die
            if cls in classes:
                raise ParameterError(
                    f"quarriors: wilds names {classes[cls]!r} and {name!r}, two cards of class {cls!r}")
            classes[cls] = name
            if T.card[number].kind:
                numbers.append(number)
                counts[T.card[number].kind] += 1
        for kind, most, word in ((1, T.n_creatures, "creature"), (2, T.n_spells, "spell")):
            if counts[kind] > most:
                raise ParameterError(f"quarriors: wilds names {counts[kind]} {word} cards, allowed are {most}")
        for kind, most, word in ((1, T.n_creatures, "creature"), (2, T.n_spells, "spell")):
            there = len({T.card[i].cls for i in range(T.n_cards) if T.card[i].kind == kind})
            if there < most:
                raise DataError(f"quarriors: the sets have {there} {word} classes; {most} are needed")
        return numbers

    # ---- names --------------------------------------------------------------------------------

    def action_name(self, action):
        family = N_FAMILIES - 1
        while self.data.offset[family] > action:
            family -= 1
        x = action - self.data.offset[family]
        kind, dice, classes = argument(family), 8 * self.data.n_classes, self.data.n_classes
        die = cls = seat = n = copier = light = dark = None
        if kind == ARG_N:
            n = x
        elif kind == ARG_DIE:
            die = x
        elif kind == ARG_CLASS:
            cls = x
        elif kind == ARG_CLASS_SEAT:
            cls, seat = x >> 2, x & 3
        elif kind == ARG_SEAT_DIE:
            seat, die = divmod(x, dice)
        elif kind == ARG_SEAT_DIE_N:
            n, (seat, die) = x & 15, divmod(x >> 4, dice)
        elif kind == ARG_DIE_N:
            die, n = divmod(x, 16)
        elif kind == ARG_DIE_CLASS:
            die, copier = divmod(x, classes)
        elif kind == ARG_PAY:
            light, dark = divmod(x, 16)
        elif kind == ARG_SEAT:
            seat = x
        return _FAMILY_NAMES[family].format(
            n=n, seat=seat, light=light, dark=dark, cls=None if cls is None else self.class_names[cls],
            die=None if die is None else f"{self.class_names[die >> 3]} {die & 7}",
            copier=None if copier is None else self.class_names[copier])

    def outcome_name(self, outcome):
        cdef Tables *T = self.data
        if outcome >= T.deal_offset:
            return f"deal {self.card_names[outcome - T.deal_offset]}"
        if outcome < 16 * T.n_classes:
            return f"draw {outcome & 15} {self.class_names[outcome >> 4]}"
        cls = max(c for c in range(T.n_classes) if T.roll_offset[c][1] <= outcome)
        rolled = [T.multiset[8 * outcome + face] for face in range(6)]
        counts = " ".join(f"{face}x{n}" for face, n in enumerate(rolled) if n)
        return f"roll {self.class_names[cls]}: {counts}"


def _packed(values):
    """Doubles as bytes; a bytes object is aligned well enough for them."""
    return array.array("d", values).tobytes()
