# cython: language_level=3
"""What the game itself thinks of a position: a greedy move and a heuristic value.

All values are in Glory. A creature is worth its Glory times its chance to live a round; a die in the
collection what it adds to a roll of six, times a price that falls as the leader nears the goal; Quiddity
only what it buys now. The numbers stand in values.toml; fit.py and tune.py find them.
Both read only what every seat sees: nothing is hidden but the future.
"""
from libc.math cimport exp
from libc.stdint cimport int32_t, uint8_t, uint32_t

from engine_ext.attack cimport attack_best, attack_order
from games.quarriors.reading cimport *
from games.quarriors.state cimport *


cdef inline double threat(const Tables *T, const State *s, int32_t seat) noexcept nogil:
    """Attack that the strongest rival of the seat is expected to bring next."""
    cdef const Player *p
    cdef int32_t q, slot, count, dice
    cdef double total, most = 0.0
    for q in range(T.n_players):
        if q == seat:
            continue
        p = &s.player[q]
        total, dice = 0.0, 0
        for slot in range(SLOTS):
            count = p.bag[slot] + p.used[slot] + p.wait[slot]
            dice += count
            if count:
                total += count * T.card[s.card[slot]].mean_attack
        most = max(most, total * 6.0 / <double>max(dice, 6))
    return most

cdef inline double survival(double slope, double defense, double danger, int32_t rivals) noexcept nogil:
    """Chance to live a round under that threat; every rival attacks once."""
    cdef double p = 1.0 / (1.0 + exp(slope * (danger - defense)))
    return p if rivals == 1 else (p * p if rivals == 2 else p * p * p)

cdef inline double creature_glory(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    """Glory a creature in a Ready Area scores for its seat if it lives, with what else its scoring brings."""
    cdef const FaceTable *f = eff(T, s, c)
    cdef double glory = T.card[s.card[shape(c) >> 3]].glory + f.score_glory + host_glory(T, s, c)
    glory += 0.3 * (f.score_draw + f.score_swap + f.score_fetch + f.score_free + f.score_cullspells + f.score_captures)
    if f.score_others:
        glory += s.player[seat].n_ready - 1
    return glory

cdef inline double creature_worth(const Tables *T, const State *s, int32_t seat, const Creature *c,
                                  double danger) noexcept nogil:
    """Glory a creature in a Ready Area is expected to score for its seat."""
    return creature_glory(T, s, seat, c) * survival(0.55, defense_of(T, s, seat, c), danger, T.n_players - 1)

cdef inline double turns_left(const Tables *T, const State *s) noexcept nogil:
    """How many turns a seat may still have."""
    cdef int32_t seat, best = 0
    for seat in range(T.n_players):
        best = max(best, <int32_t>s.player[seat].glory)
    return min(12.0, 1.5 + 0.55 * (T.goal - best))

cdef inline void collection(const Tables *T, const State *s, int32_t seat, int32_t *count) noexcept nogil:
    """A seat's dice by slot, wherever they are, into count[SLOTS]."""
    cdef const Player *p = &s.player[seat]
    cdef int32_t slot, face, i, j
    for slot in range(SLOTS):
        count[slot] = p.bag[slot] + p.used[slot] + p.spent[slot] + p.wait[slot] + p.aside[slot]
        if seat == s.active and row(s.pool[slot]):
            for face in range(8):                                         # IDLE ones too
                count[slot] += s.pool[slot][face]
    for i in range(p.n_ready):
        count[p.ready[i].die >> 3] += 1
    for j in range(SPELL_SLOTS):
        count[FIRST_SPELL + j] += (p.spells[j] & 15) + (p.spells[j] >> 4)
        for i in range(p.n_ready):
            if p.ready[i].att:
                count[FIRST_SPELL + j] += att_get(T, &p.ready[i], j, 0) + att_get(T, &p.ready[i], j, 1)

cdef struct Prices:      # what things are worth to a seat now, in Glory that a creature will score
    double exposed       # one Glory of a creature, whether or not it lives
    double worth         # one Glory that six dice bring when rolled
    double attack        # one attack that they bring
    double die           # a die more
    double brings        # what the seat's dice bring when all are rolled
    double strikes       # the attack they bring
    int32_t dice         # how many there are

cdef inline double leading(const Tables *T, const State *s) noexcept nogil:
    """How far the leader has come: the most Glory over the goal, at most 1."""
    cdef int32_t seat
    cdef double far = 0.0
    for seat in range(T.n_players):
        far = max(far, min(1.0, s.player[seat].glory / <double>T.goal))
    return far

cdef inline void appraise(const Tables *T, const State *s, int32_t seat, Prices *out) noexcept nogil:
    """The prices for a seat now."""
    cdef const double *k = &T.greedy[0]
    cdef int32_t count[SLOTS]
    cdef int32_t slot
    cdef double far = leading(T, s)
    out.worth = k[G_WORTH] + far * k[G_WORTH + 1]
    out.attack = k[G_ATTACK] + far * k[G_ATTACK + 1]
    out.die = k[G_DIE] + far * k[G_DIE + 1]
    out.exposed = k[G_EXPOSED] + far * k[G_EXPOSED + 1]
    collection(T, s, seat, count)
    out.brings = out.strikes = 0.0
    out.dice = 0
    for slot in range(SLOTS):
        if count[slot]:
            out.dice += count[slot]
            out.brings += count[slot] * T.card[s.card[slot]].worth
            out.strikes += count[slot] * T.card[s.card[slot]].mean_attack

cdef inline double capture_worth(const Tables *T, const State *s, int32_t slot, const Prices *prices,
                                 int32_t change) noexcept nogil:
    """What adding (change 1) or removing (-1) a die of this card does for the collection."""
    cdef const CardTable *card = &T.card[s.card[slot]]
    cdef double now, then
    now, then = 6.0 / <double>max(prices.dice, 6), 6.0 / <double>max(prices.dice + change, 6)
    return (prices.worth * ((prices.brings + change * card.worth) * then - prices.brings * now)
            + prices.attack * ((prices.strikes + change * card.mean_attack) * then - prices.strikes * now)
            + prices.die * change)

cdef inline double ending(const Tables *T, const State *s, int32_t slot) noexcept nogil:
    """What a capture is worth for ending the game: the fourth creature card without dice (B82) wins for
    whoever has the most Glory. 0 where it does not end."""
    cdef int32_t k, empty = 0, most = 0
    if slot < FIRST_CREATURE or slot >= FIRST_SPELL or s.wilds[slot] != 1:
        return 0.0
    for k in range(FIRST_CREATURE, FIRST_SPELL):
        empty += s.card[k] != NONE and s.wilds[k] == 0
    if empty != 3:
        return 0.0
    for k in range(T.n_players):
        if k != s.active:
            most = max(most, <int32_t>s.player[k].glory)
    return 100.0 if s.player[s.active].glory > most else -100.0

cdef inline int32_t best_capture(const Tables *T, const State *s, int32_t money, const Prices *prices,
                                 double *worth) noexcept nogil:
    """The best die that this money buys, or SLOTS; its worth."""
    cdef int32_t slot, best = SLOTS
    cdef double value
    worth[0] = 0.0
    for slot in range(SLOTS):
        if s.wilds[slot] and T.card[s.card[slot]].cost - s.discount <= money:
            value = capture_worth(T, s, slot, prices, 1) + ending(T, s, slot)
            if value > worth[0]:
                worth[0] = value
                best = slot
    return best

cdef inline bint beyond_limit(
        const Tables *T, const State *s, const uint8_t *dice, int32_t mask, int32_t i) noexcept nogil:
    """Whether die i, summoned after those of the mask before it, is one too many of its class (A51)."""
    cdef int32_t limit = face_of(T, s, dice[i]).summonlimit, j, before
    if limit == 0:
        return False
    before = summons(s, dice[i] >> 3)
    for j in range(i):
        if mask >> j & 1 and dice[j] >> 3 == dice[i] >> 3:
            before += 1
    return before >= limit

cdef inline int32_t plan_summons(const Tables *T, const State *s, const int32_t *out, int32_t n) noexcept nogil:
    """The summon that begins the best plan for this turn: which creatures, and what the rest of the
    Quiddity buys. -1 when the best plan summons nobody (else)."""
    cdef const Player *p = &s.player[s.active]
    cdef const FaceTable *f
    cdef uint8_t dice[8]
    cdef double gain[8]
    cdef double worth[64]
    cdef double danger = threat(T, s, s.active), value, best = -1.0
    cdef Prices prices
    cdef int32_t cost[8]
    cdef int32_t i, left, slot, count = 0, mask, spent, chosen = 0
    cdef int32_t money = total_avail(s), extra = surcharge(T, s, s.active)
    cdef int32_t targets = 0, seat, at_once, limited
    cdef double glory, lives
    cdef const double *k = &T.greedy[0]
    appraise(T, s, s.active, &prices)
    for seat in range(T.n_players):
        if seat != s.active:
            targets += count_unlocked(&s.player[seat])
    for i in range(n):
        if out[i] >> SHIFT != A_SUMMON:
            continue
        slot = (out[i] & 0xFFFF) >> 3
        f = face_of(T, s, out[i] & 127)
        for _k in range(min(<int32_t>s.pool[slot][out[i] & 7], 8 - count)):
            dice[count] = out[i] & 127
            cost[count] = f.level + extra
            glory = T.card[s.card[slot]].glory + f.score_glory + 0.3 * (
                f.score_draw + f.score_swap + f.score_fetch + f.score_free + f.score_captures) + 0.4 * f.score_others
            lives = survival(
                k[G_SLOPE], f.defense + f.def_self + (k[G_LIVE_DEFENSE] if f.copy_enter or f.stat_def else 0.0),
                k[G_DANGER] * danger, T.n_players - 1)
            gain[count] = glory * (lives + prices.exposed) + k[G_SUMMON] + (k[G_STRIKE] * f.attack if targets else 0.0)
            if f.n_ops and f.ops[0].code == O_QUIDDITY:
                cost[count] -= f.ops[0].n
            count += 1
    money = min(money, 63)
    for left in range(money + 1):
        best_capture(T, s, left, &prices, &worth[left])
        if s.captures == 0:
            worth[left] = 0.0
        elif s.captures > 1:
            worth[left] *= k[G_SECOND]
    for mask in range(1 << count):
        spent = limited = 0
        value = 0.0
        at_once = 0
        for i in range(count):
            if mask >> i & 1:
                spent += cost[i]
                value += gain[i] * (1.0 + k[G_TOGETHER] * at_once)    # damage is shared out
                at_once += 1
                limited += beyond_limit(T, s, dice, mask, i)
        if spent > money or at_once > MAX_READY - p.n_ready or limited:
            continue
        value += worth[money - spent]
        if value > best + 1e-9:
            best = value
            chosen = mask
    for i in range(count):
        if chosen >> i & 1:
            return A_SUMMON << SHIFT | dice[i]
    return -1

cdef inline double face_money(const Tables *T, const State *s, uint8_t die) noexcept nogil:
    """What a pool die is good for this turn, roughly, in Glory."""
    cdef const FaceTable *f = face_of(T, s, die)
    if f.kind & IS_CREATURE:
        return 0.2 + 0.35 * T.card[s.card[die >> 3]].glory
    if f.kind & IS_SPELL:
        return 0.8
    return 0.3 * f.quid

cdef inline double cast_worth(const Tables *T, const State *s, uint8_t die, int32_t rival_creatures) noexcept nogil:
    """Whether casting now is worth it: above 0 casts."""
    cdef const FaceTable *f = face_of(T, s, die)
    cdef int32_t i, seat
    if f.attach:
        return count_unlocked(&s.player[s.active]) - 0.5
    for i in range(f.n_ops):
        if f.ops[i].code in (O_GLORY, O_GLORY_SCORED, O_GLORY_FOES, O_QUIDDITY, O_DRAWROLL, O_ROTATE_ALL, O_ROTATE_OWN):
            return 1.0
        if f.ops[i].code == O_ATTACK or f.ops[i].code == O_DESTROY_PER_FOE:
            return rival_creatures - 0.5
        if f.ops[i].code == O_DESTROY_ONE or f.ops[i].code == O_ROTATE_ANY:
            for seat in range(1, T.n_players):
                if any_target(T, s, &f.ops[i], seat, seat + 1):
                    return 1.0
        if f.ops[i].code == O_CULL:
            return 0.5
        if f.ops[i].code == O_DESTROYSPELL:
            for seat in range(T.n_players):
                if seat != s.active and (s.player[seat].spells[0] or s.player[seat].spells[1]
                                         or s.player[seat].spells[2]):
                    return 1.0
    return -1.0

cdef inline double option_worth(const Tables *T, const State *s, int32_t seat, int32_t action, double danger,
                                const Prices *prices, int32_t rival_creatures) noexcept nogil:
    """The greedy player's value of one option; `done` is 0, so anything below is left."""
    cdef const Frame *f = &s.stack[s.n_stack - 1]
    cdef const FaceTable *face
    cdef const Player *q
    cdef const Use *use
    cdef Creature other
    cdef int32_t family = action >> SHIFT, arg = action & 0xFFFF, i, owner
    cdef double value, mean
    if family == A_DONE:
        return 0.0
    if family == A_USE0 or family == A_USE1 or family == A_USE2:
        face = face_of(T, s, arg)
        use = &face.uses[family - A_USE0]
        value = 0.3 * use.quid + T.greedy[G_DRAW] * use.draw + 0.3 * use.captures + 0.1 * use.others
        value += 0.35 if use.itself else 0.0
        return value - 0.35 * face.quid
    if family == A_REROLL:
        mean = T.card[s.card[arg >> 3]].worth * 1.2
        return mean - face_money(T, s, arg)
    if family == A_CAPTURE or family == A_TAKE:
        return capture_worth(T, s, arg, prices, 1) + ending(T, s, arg) + (0.01 if family == A_TAKE else 0.0)
    if family == A_CAST:
        if f.op == Q_EVENT:
            face = face_of(T, s, arg)
            if face.react_def and s.ev_cause == EV_DAMAGE:
                q = &s.player[seat]
                for i in range(q.n_ready):
                    if q.ready[i].flags & F_DOOMED and s.rem < defense_of(T, s, seat, &q.ready[i]) + face.react_def:
                        return 2.0
                return -1.0
            return 1.0
        if f.op == P_WINDOW:
            q = &s.player[s.defender]
            for i in range(q.n_ready):
                if (unlocked(&q.ready[i])
                        and attack_total(T, s, s.defender) >= defense_of(T, s, s.defender, &q.ready[i])):
                    return 1.0 if seat == s.defender else -1.0
            return -1.0
        return cast_worth(T, s, arg, rival_creatures)
    if family == A_CREATURE:
        owner = arg >> 11
        q = &s.player[owner]
        other = q.ready[find_creature(q, arg >> 4 & 127, arg & 15)]
        if f.op == Q_ZERO:
            return s.rec[other.rec - 1].value if other.rec else 0.0
        value = creature_worth(T, s, owner, &q.ready[find_creature(q, arg >> 4 & 127, arg & 15)],
                               3.0 if f.op == Q_HOST else 0.0)
        if f.op == Q_TARGET and owner == seat and face_of(T, s, f.c).ops[f.a].code == O_DESTROY_ONE:
            return -value - 0.01
        if f.op == Q_SPELLHOST and owner == seat:
            return -value - 0.01
        return value + 0.01
    if family == A_RETURN or family == A_RESOLVE or family == A_RESOLVE_OF:
        return 1.0
    if family == A_CULL:
        return capture_worth(T, s, arg, prices, -1) + (10.0 if f.op == Q_CULLTAKE else 0.0)
    if family == A_CULL_READY or family == A_CULL_ATTACHED or family == A_CULL_POOL:
        return 0.5
    if family == A_SWAP:
        return T.card[s.card[arg >> 2]].worth
    if family == A_FETCH:
        return T.card[s.card[arg]].worth + 0.01
    if family == A_COPY or family == A_RECOPY:
        if family == A_RECOPY:
            return 0.5 if f.op == Q_EVENT else -1.0
        q = &s.player[seat]
        for i in range(q.n_ready):
            if q.ready[i].flags & F_MARK:
                other = q.ready[i]
                value = -T.card[s.card[shape(&other) >> 3]].glory if f.op == P_RECOPY else 0.01
                return value + T.card[s.card[arg >> 3]].glory + face_of(T, s, arg).score_glory
    if family == A_ROTATE:
        return 1.0 + face_of(T, s, arg).def_self
    if family == A_SPELL:
        return 1.0 if arg >> 7 != seat else -1.0
    if family == A_ATTACHED:
        return 1.5 if arg >> 7 != seat else -1.0
    if family == A_POOL or family == A_READY:
        return 0.1 if family == A_POOL else 3.0
    if family == A_CAPTURE_DISCOUNTED:
        return capture_worth(T, s, arg, prices, 1) + ending(T, s, arg) + 0.02   # the same die for less
    if family == A_ANCHORED:
        return cast_worth(T, s, arg * 8 + 6, rival_creatures)
    if family == A_PAY:
        return -0.01 * ((arg >> 4) + (arg & 15)) + 1.0            # keep the flavours
    if family == A_LOCK:
        return 0.6 if locked_index(&s.player[seat]) < 0 else 0.1
    if family == A_LOCK_WITH:
        return 0.7
    if family == A_UNLOCK:
        return -1.0
    return -1.0                                               # discard, aside

cdef inline int32_t suggest_option(const Tables *T, const State *s, const int32_t *out, int32_t n,
                                   int32_t seat) noexcept nogil:
    """The greedy player's choice among the n options in out."""
    cdef const Frame *f = &s.stack[s.n_stack - 1]
    cdef const Player *q
    cdef int32_t defense[MAX_READY]
    cdef double worth[MAX_READY]
    cdef int32_t index[MAX_READY]
    cdef int32_t order[MAX_READY]
    cdef int32_t i, choice = out[0], count = 0, rival_creatures = 0
    cdef uint32_t mask
    cdef double value, best = -1e9, danger = 0.0
    cdef Prices prices
    if f.op == P_MAIN:
        choice = plan_summons(T, s, out, n)
        if choice >= 0:
            return choice
        choice = out[0]
    if f.op == P_DEFEND:
        q = &s.player[s.defender]
        danger = threat(T, s, s.defender)
        mask = defenders(q)
        for i in range(q.n_ready):
            if mask >> i & 1:
                index[count] = i
                defense[count] = defense_of(T, s, s.defender, &q.ready[i])
                worth[count] = creature_worth(T, s, s.defender, &q.ready[i], 0.0)
                count += 1
        # Exact where defences are fixed (A124); with live auras and counts, a good guess.
        mask = attack_best(s.rem, defense, worth, count, &value)
        attack_order(defense, mask, count, order)
        for i in range(n):
            if alike(&q.ready[find_creature(q, out[i] >> 4 & 127, out[i] & 15)], &q.ready[index[order[0]]]):
                return out[i]
    appraise(T, s, seat, &prices)
    for i in range(T.n_players):
        if i != seat:
            rival_creatures += count_unlocked(&s.player[i])
    for i in range(n):
        if out[i] >> SHIFT == A_SUMMON:
            continue                                          # the plan left it
        value = option_worth(T, s, seat, out[i], danger, &prices, rival_creatures)
        if value > best:
            best = value
            choice = out[i]
    return choice

cdef inline void next_draw(const Tables *T, const State *s, const Player *p, double *worth,
                           double *attack) noexcept nogil:
    """What the next six dice from the bag bring in Glory and attack, with the Used Pile once the bag is empty."""
    cdef int32_t slot, bag = zone_sum(p.bag), used = zone_sum(p.used)
    cdef double from_bag = min(1.0, 6.0 / <double>max(bag, 1)), from_used, count
    from_used = min(1.0, max(0, 6 - bag) / <double>max(used, 1))
    worth[0] = attack[0] = 0.0
    for slot in range(SLOTS):
        if p.bag[slot] or p.used[slot]:
            count = p.bag[slot] * from_bag + p.used[slot] * from_used
            worth[0] += count * T.card[s.card[slot]].worth
            attack[0] += count * T.card[s.card[slot]].mean_attack

cdef inline void value_terms(const Tables *T, const State *s, double *out) noexcept nogil:
    """What the estimate weighs, into out[seat, VALUE_TERMS]; the second half is the first times how far
    the leader has come."""
    cdef const Player *p
    cdef double attack[MAX_SEATS]
    cdef double glory, lives, far = leading(T, s), worth
    cdef double *term
    cdef int32_t count[SLOTS]
    cdef int32_t seat, slot, i, first, last, offset, rival, dice, spells, n = T.n_players
    for seat in range(n):
        p = &s.player[seat]
        term = out + seat * VALUE_TERMS
        collection(T, s, seat, count)
        worth = attack[seat] = 0.0
        dice = 0
        for slot in range(SLOTS):
            if count[slot]:
                dice += count[slot]
                worth += count[slot] * T.card[s.card[slot]].worth
                attack[seat] += count[slot] * T.card[s.card[slot]].mean_attack
        worth *= 6.0 / <double>max(dice, 6)
        attack[seat] *= 6.0 / <double>max(dice, 6)
        spells = 0
        for i in range(SPELL_SLOTS):
            spells += (p.spells[i] & 15) + (p.spells[i] >> 4)
        term[0] = seat == s.active
        term[1] = p.glory
        term[2] = term[3] = term[8] = term[9] = 0.0
        term[4], term[5], term[6], term[7] = worth, attack[seat], dice, spells
        next_draw(T, s, p, &term[10], &term[11])
    for seat in range(n):
        p = &s.player[seat]
        term = out + seat * VALUE_TERMS
        for i in range(p.n_ready):
            if not unlocked(&p.ready[i]):
                continue
            glory = creature_glory(T, s, seat, &p.ready[i])
            lives = 1.0
            # Whoever attacks before the seat scores: the active seat unless it has, then those up to the seat.
            if seat == s.active:
                first, last = 1, 1 if s.phase == 1 else n
            else:
                first, last = s.flags & S_ATTACKED != 0, (seat - s.active + n) % n
            for offset in range(first, last):
                rival = (s.active + offset) % n
                lives *= survival(0.55, defense_of(T, s, seat, &p.ready[i]), attack[rival], 1)
            term[2] += glory * lives
            term[3] += glory
            term[8] += 1.0
            term[9] += defense_of(T, s, seat, &p.ready[i])
        for i in range(VALUE_TERMS // 2):
            term[VALUE_TERMS // 2 + i] = far * term[i]

cdef inline void heuristic(const Tables *T, const State *s, double *out) noexcept nogil:
    """Chances to win as a softmax of weighted sums (`value_terms`), scaled like a result. For the glory
    utility: the difference in Glory, and half of what creatures and collection should bring."""
    cdef double term[MAX_SEATS * VALUE_TERMS]
    cdef double score[MAX_SEATS]
    cdef double total = 0.0, most = -1e9
    cdef int32_t seat, i, n = T.n_players
    value_terms(T, s, term)
    if T.glory_utility:
        for seat in range(n):
            score[seat] = (s.player[seat].glory + term[seat * VALUE_TERMS + 2]
                           + 0.5 * turns_left(T, s) * term[seat * VALUE_TERMS + 4])
            total += score[seat]
        for seat in range(n):
            out[seat] = max(-1.0 * T.goal, min(1.0 * T.goal, score[seat] - (total - score[seat]) / <double>(n - 1)))
        return
    for seat in range(n):
        score[seat] = 0.0
        for i in range(VALUE_TERMS):
            score[seat] += T.value_weight[i] * term[seat * VALUE_TERMS + i]
        most = max(most, score[seat])
    for seat in range(n):
        score[seat] = exp(score[seat] - most)
        total += score[seat]
    for seat in range(n):
        out[seat] = (n * score[seat] / total - 1.0) / <double>(n - 1)
