"""The rules of Quarriors.

The state is a stack of frames over counts of dice. A frame is a step of the turn, or a question
that waits: `run` takes steps from the top of the stack until a player or chance has a choice.
Everything a card does stands in the flat records that `compiling.py` made; the numbers after B,
A, D, K in the comments are those of the rule statements and readings in docs/games/quarriors.md.

This file has the functions of the contract and the Python face. The rest, from the ground up:
state.pxd (tables and state as structs), reading.pxd (what can be read off them), zones.pxd (how dice
move), turn.pxd (stack, Glory, the end), destruction.pxd, scoring.pxd, casting.pxd, attack.pxd,
options.pxd (what a question allows), steps.pxd (what asks nothing), chance.pxd, actions.pxd (what an
action does), play.pxd (the loop), watching.pxd (the attack within a step), ids.pxd (ids of actions),
greedy.pxd (the rule of thumb);
tables.pyx makes the tables from the sets, positions.pyx turns positions into dicts and back.
"""
from libc.stdint cimport int32_t, int64_t, uint64_t
from libc.string cimport memset

from engine_ext.game cimport CHANCE, TERMINAL, ZERO_SUM, hash_bytes
from engine_ext.position cimport Position, new_position
from engine_ext.rng cimport Rng, rng_below
from games.quarriors.actions cimport act
from games.quarriors.chance cimport apply_chance, deal, outcomes, sample
from games.quarriors.greedy cimport heuristic, suggest_option, value_terms
from games.quarriors.ids cimport from_id, to_id
from games.quarriors.options cimport options
from games.quarriors.play cimport run
from games.quarriors.positions cimport name_of, read_dict, write_dict, write_figures, write_targets, write_use
from games.quarriors.reading cimport *
from games.quarriors.state cimport *
from games.quarriors.tables cimport QuarriorsTables
from games.quarriors.turn cimport push
from games.quarriors.watching cimport to_attack
from games.quarriors.zones cimport sort_all

from engine_ext.errors import IllegalActionError, ParameterError, PositionError


# ---- the contract --------------------------------------------------------------------------------

cdef int32_t turn(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).node

cdef int32_t legal(const void *tables, const void *state, int32_t *out) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, i, k, x
    cdef int32_t n = options(T, s, out, &seat)
    for i in range(n):
        x = to_id(T, s, out[i])
        k = i
        while k > 0 and out[k - 1] > x:
            out[k] = out[k - 1]
            k -= 1
        out[k] = x
    return n

cdef void apply(const void *tables, void *state, int32_t id) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t out[BUFFER]
    if s.node == CHANCE:
        s.node = 0
        apply_chance(T, s, id)
    else:
        s.decisions += 1
        act(T, s, from_id(T, s, id))
    run(T, s, out, NULL, NULL)

cdef int32_t run_chance(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef int32_t out[BUFFER]
    cdef int32_t steps = 0
    cdef State *s = <State *>state
    if s.node == CHANCE:
        s.node = 0
        run(<const Tables *>tables, s, out, rng, &steps)
    return steps

cdef int64_t playout(const void *tables, void *state, Rng *rng) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef State *s = <State *>state
    cdef int32_t out[BUFFER]
    cdef int32_t chances = 0, n, seat
    cdef int64_t steps = 0
    if s.node == TERMINAL:
        return 0
    if s.node == CHANCE:
        s.node = 0
        n = run(T, s, out, rng, &chances)
    else:
        n = options(T, s, out, &seat)
    while n > 0:
        s.decisions += 1
        steps += 1
        act(T, s, out[rng_below(rng, n)])
        n = run(T, s, out, rng, &chances)
    return steps + chances

cdef void returns(const void *tables, const void *state, double *out) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t seat, winners = 0, total = 0, n = T.n_players
    for seat in range(n):
        out[seat] = 0.0
        winners += s.winners >> seat & 1
        total += min(<int32_t>s.player[seat].glory, T.goal)
    if s.node != TERMINAL:
        return
    for seat in range(n):
        if T.glory_utility:
            out[seat] = (min(<int32_t>s.player[seat].glory, T.goal)
                         - (total - min(<int32_t>s.player[seat].glory, T.goal)) / <double>(n - 1))
        elif s.winners >> seat & 1:
            out[seat] = (n / <double>winners - 1.0) / <double>(n - 1)
        else:
            out[seat] = -1.0 / <double>(n - 1)

cdef uint64_t state_key(const void *tables, const void *state) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    return hash_bytes(state, sizeof(State) - (MAX_SEATS - T.n_players) * sizeof(Player), 0)

cdef int32_t suggest(const void *tables, const void *state, Rng *rng) noexcept nogil:
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef int32_t out[BUFFER]
    cdef int32_t seat
    cdef int32_t n = options(T, s, out, &seat)
    return to_id(T, s, suggest_option(T, s, out, n, seat))

cdef void estimate(const void *tables, const void *state, double *out) noexcept nogil:
    if (<const State *>state).node == TERMINAL:
        returns(tables, state, out)
    else:
        heuristic(<const Tables *>tables, <const State *>state, out)

cdef int64_t clock(const void *tables, const void *state) noexcept nogil:
    return (<const State *>state).turn

cdef int32_t check(const void *tables, const void *state) noexcept nogil:
    """The invariants of random play by their numbers (I1 to I28); counts cannot be negative by type,
    so a step below 0 shows as a broken sum."""
    cdef const Tables *T = <const Tables *>tables
    cdef const State *s = <const State *>state
    cdef const Player *p
    cdef int32_t slot, seat, i, face, locked, money
    for slot in range(SLOTS):                                             # I1, I2
        if s.phase and dice_of(T, s, slot) != s.total[slot]:
            return 1
    money = s.quid[0] + s.quid[1] + s.quid[2]
    for slot in range(SLOTS):
        for face in range(6):
            if s.pool[slot][face]:
                money += s.pool[slot][face] * T.card[s.card[slot]].face[face].quid
    if money != total_avail(s):                                           # I13
        return 13
    for seat in range(T.n_players):
        p = &s.player[seat]
        locked = 0
        for i in range(p.n_ready):
            locked += not unlocked(&p.ready[i])
            if not face_of(T, s, p.ready[i].die).kind & (IS_CREATURE | IS_LOCK):
                return 9
            if s.n_rec == 0 and p.ready[i].flags & F_DOOMED and find_frame(s, Q_EVENT) == 0 and s.node != TERMINAL:
                return 8
        if locked > 1:
            return 10
        if s.node != TERMINAL and p.glory >= T.goal:
            return 12
    if s.node == TERMINAL and s.winners == 0:
        return 26
    # A lock effect may kill in phase 2 and bring a set-aside Spirit back.
    if s.phase == 2 and count_unlocked(&s.player[s.active]) and s.stack[0].op == P_USE and not s.features & FEAT_LOCK:
        return 7
    return 0


# ---- the Python face -----------------------------------------------------------------------------

cdef class QuarriorsRules(QuarriorsTables):
    """The rules for one setting of the parameters."""

    def __init__(self, dict parameters, start=None):
        super().__init__(parameters, start)
        self._fill_ops()
        self.seal()

    @property
    def goal(self):
        """The Glory that wins."""
        return self.data.goal

    def with_greedy(self, numbers):
        """Rules of the same setting whose greedy player weighs with these numbers, in the order of
        `values.GREEDY`; for tuning."""
        cdef QuarriorsRules made = QuarriorsRules(self.parameters, self.start_dict)
        cdef int32_t i
        if len(numbers) != GREEDY_VALUES:
            raise ParameterError(f"quarriors: the greedy player has {GREEDY_VALUES} numbers, {len(numbers)} were given")
        for i in range(GREEDY_VALUES):
            made.data.greedy[i] = numbers[i]
        return made

    def value_terms(self, Position position):
        """What the estimate weighs in a position: for each seat the terms of `values.TERMS`, then the same
        times the leader's progress."""
        cdef double terms[MAX_SEATS * VALUE_TERMS]
        cdef int32_t seat, i
        value_terms(self.data, <const State *>position.state, terms)
        return [[terms[seat * VALUE_TERMS + i] for i in range(VALUE_TERMS)] for seat in range(self.data.n_players)]

    def _fill_ops(self):
        cdef int32_t players = self.data.n_players
        self.ops.game_version = 7
        self.ops.state_size = sizeof(State) - (MAX_SEATS - players) * sizeof(Player)
        self.ops.n_players = players
        self.ops.max_legal = BUFFER
        self.ops.max_decisions = self.data.max_turns * players * (FORCED + 200)
        self.ops.max_chances = self.data.max_turns * players * (FORCED + 200) * 4 + 16
        self.ops.flags = ZERO_SUM
        if self.data.glory_utility:
            self.ops.min_utility, self.ops.max_utility = -self.data.goal, self.data.goal
        else:
            self.ops.min_utility, self.ops.max_utility = -1.0 / (players - 1), 1.0
        self.ops.turn, self.ops.legal, self.ops.outcomes, self.ops.sample = turn, legal, outcomes, sample
        self.ops.apply, self.ops.returns, self.ops.state_key = apply, returns, state_key
        self.ops.run_chance, self.ops.playout = run_chance, playout
        self.ops.clock, self.ops.check = clock, check
        self.ops.suggest, self.ops.estimate = suggest, estimate

    cdef void write_start(self, void *state) noexcept:
        cdef State *s = <State *>state
        cdef int32_t out[BUFFER]
        memset(s.card, NONE, SLOTS)
        for slot in range(3):
            s.card[slot] = self.data.basic[slot] if self.data.basic[slot] >= 0 else NONE
        push(s, P_DEAL, 0, 0, 0)
        for number in self.fixed:
            deal(self.data, s, number)
        run(self.data, s, out, NULL, NULL)

    # ---- positions as dicts ---------------------------------------------------------------------

    def export(self, Position position):
        return write_dict(self, <const State *>position.state)

    def restore(self, dict position):
        cdef Position made = new_position(self, self.start)
        cdef State *s = <State *>made.state
        cdef int32_t out[BUFFER]
        read_dict(self, s, position)
        if s.node != TERMINAL:
            s.node = 0
            run(self.data, s, out, NULL, NULL)
            if s.phase and check(self.data, s):
                raise PositionError(f"quarriors: the position breaks invariant I{check(self.data, s)}")
        else:
            sort_all(self.data, s)
        return made

    # ---- text and tensors ---------------------------------------------------------------------

    def figures(self, Position position):
        """What follows from a position and a player wants to read: `values`, for each seat (attack, defence) of its
        creatures, the locked one apart, in the order of `ready` in `to_dict`; `recopiers`, for each seat the places in
        that order of creatures that may now become a copy of another; `surcharge`, what each summon of the
        active seat costs on top; `available`, the active seat's Quiddity, floating and in its pool, by flavour;
        `cause`, the die whose doing the question on top is, or None; `entering`, the classes of dice that are summoned
        but still to be paid for, and `bought`, those that are captured but still to be paid for; `moving`, the dice on
        their way into the Ready Area: those that are summoned, and a spell that has no host yet; `against`, for each
        seat what the attack that goes on counts against its creatures (A30, after its first loss A34), 0 where there
        is none; `forecast`, before the attack, for each seat what it would count now and add at a first loss (A34),
        None where that is not certain or nobody defends."""
        return write_figures(self, <const State *>position.state)

    def use_of(self, Position position, int action):
        """What the use of an immediate face brings; None for other actions.

        Returns:
            `spent`, whether the die is; `quiddity` in a `flavour`; `draw`, dice drawn and rolled; `itself`, whether it
            is rolled again, and up to how many `others`; `captures`, how many more.
        """
        return write_use(self, <const State *>position.state,
                         from_id(self.data, <const State *>position.state, action))

    def targets_of(self, Position position, int action):
        """What a spell or Anchored Spell may hit now, as its first step with a target; None for other actions, and
        where something before that step may change it.

        Returns:
            what it does (`destroy`, `rotate`, `discard`), and all that it can do it to: seats with dice as in
            `to_dict`.
        """
        return write_targets(self, <const State *>position.state,
                             from_id(self.data, <const State *>position.state, action))

    def attack_of(self, Position position, int action):
        """The attack that begins in the course of this action or outcome, as it stands at that moment and before
        anybody is hit; None where none begins.

        Returns:
            `attackers`, their classes; `against`, for each seat what they count against its creatures (A30), 0
            where it has none to defend with; `first_loss`, what they add at that seat's first loss (A34).

        Raises:
            IllegalActionError: not possible here.
        """
        cdef Position copy = position.clone()
        cdef State *s = <State *>copy.state
        cdef const Tables *T = self.data
        cdef int32_t i
        if position.is_chance_node():
            allowed = [outcome for outcome, _ in position.chance_outcomes()]
        else:
            allowed = position.legal_actions()
        if action not in allowed:
            raise IllegalActionError(f"quarriors: {action} is not possible here; possible are {allowed}")
        if not to_attack(T, s, action):
            return None
        seats = [i for i in range(T.n_players) if i != s.active and count_unlocked(&s.player[i])]
        return {
            "attackers": [name_of(self, s, s.player[s.active].ready[i].die >> 3)
                          for i in range(s.player[s.active].n_ready) if unlocked(&s.player[s.active].ready[i])],
            "against": [attack_total(T, s, i) if i in seats else 0 for i in range(T.n_players)],
            "first_loss": [firstkill_bonus(T, s, i) if i in seats else 0 for i in range(T.n_players)],
        }

    def describe(self, Position position):
        cdef const State *s = <const State *>position.state
        table = self.export(position)
        lines = [f"turn {table['turn']}, seat {table['active']} in phase {table['phase']}"
                 + (f", Quiddity {table['quiddity']}" if table["quiddity"] else "")
                 + f", captures {table['captures']}"]
        lines.append("wilds: " + ", ".join(f"{entry['card']} {entry['dice']}" for entry in table["wilds"]))
        for seat, p in enumerate(table["players"]):
            parts = [f"seat {seat}: glory {p['glory']}"]
            for zone in ("bag", "used", "spent"):
                if p[zone]:
                    parts.append(f"{zone} " + ", ".join(f"{n} {name}" for name, n in p[zone].items()))
            for zone in ("active", "ready"):
                if p[zone]:
                    parts.append(f"{zone} " + ", ".join(_die_text(entry) for entry in p[zone]))
            if "locked" in p:
                parts.append(f"locked {_die_text(p['locked'])}")
            if p["aside"]:
                parts.append("aside " + ", ".join(p["aside"]))
            if p.get("charm"):
                parts.append("destroyed creatures go to the pool")
            lines.append("; ".join(parts))
        pending = {key: value for key, value in table["pending"].items() if key != "decisions"}
        lines.append(f"pending {pending}, decisions {s.decisions}")
        return "\n".join(lines)

    def tensor_shape(self):
        return [13 + self.data.n_classes * (7 + 10 * self.data.n_players)]

    def observe_tensor(self, Position position, observer, float[::1] out):
        """Seats from the observer on. First 13 numbers: Glory of up to four seats as shares of the goal, whose
        turn it is (4), phase / 6, floating and pool Quiddity / 20, captures / 4, what is left of an attack / 20,
        turn / 100. Then for each class, in tens: dice in the Wilds, the active seat's pool by face (6), and for
        each seat bag, Used Pile, unrolled, readied or attached, Ready Area by face (6)."""
        cdef const State *s = <const State *>position.state
        cdef Tables *T = self.data
        cdef const Player *p
        cdef int32_t i, j, k, seat, slot, base, n = T.n_players
        for k in range(n):
            seat = (observer + k) % n
            out[k] = s.player[seat].glory / <float>T.goal
            out[4 + k] = seat == s.active
        out[8], out[9], out[10] = s.phase / 6.0, total_avail(s) / 20.0, s.captures / 4.0
        out[11], out[12] = s.rem / 20.0, s.turn / 100.0
        for slot in range(SLOTS):
            if s.card[slot] == NONE:
                continue
            base = 13 + T.card[s.card[slot]].cls * (7 + 10 * n)
            out[base] = s.wilds[slot] / 10.0
            for i in range(6):
                out[base + 1 + i] = s.pool[slot][i] / 10.0
            for k in range(n):
                p = &s.player[(observer + k) % n]
                j = base + 7 + 10 * k
                out[j], out[j + 1], out[j + 2] = p.bag[slot] / 10.0, p.used[slot] / 10.0, p.wait[slot] / 10.0
                if slot >= FIRST_SPELL:
                    out[j + 3] = (readied(p, slot - FIRST_SPELL, 0) + readied(p, slot - FIRST_SPELL, 1)) / 10.0
                for i in range(p.n_ready):
                    if p.ready[i].die >> 3 == slot:
                        out[j + 4 + (p.ready[i].die & 7)] += 0.1
                    if slot >= FIRST_SPELL:
                        out[j + 3] += (att_get(T, &p.ready[i], slot - FIRST_SPELL, 0)
                                       + att_get(T, &p.ready[i], slot - FIRST_SPELL, 1)) / 10.0


def _die_text(entry):
    """One die of a zone: `Deathdealer 3 + Death 5`."""
    text = entry["die"] if entry["face"] is None else f"{entry['die']} {entry['face']}"
    if "copy" in entry:
        text += f" as {entry['copy']['die']} {entry['copy']['face']}"
    for spell in entry.get("attached", []):
        text += f" + {spell['die']} {spell['face']}"
    for key in ("attack", "defense"):
        if key in entry:
            text += f" {key} +{entry[key]}"
    if "marks" in entry:
        text += f" ({', '.join(entry['marks'])})"
    return text
