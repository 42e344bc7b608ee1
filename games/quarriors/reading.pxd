# cython: language_level=3
"""What can be read off a state of Quarriors: dice in zones, creatures and their values, the attack, targets,
and the stack of frames.

Nothing here changes a state. The numbers after B, A, D, K in the comments are those of
docs/games/quarriors.md.
"""
from libc.stdint cimport int32_t, uint8_t, uint32_t, uint64_t
from libc.string cimport memcpy

from games.quarriors.state cimport *


# ---- zones ---------------------------------------------------------------------------------------

cdef inline const FaceTable *face_of(const Tables *T, const State *s, uint8_t die) noexcept nogil:
    return &T.card[s.card[die >> 3]].face[die & 7]

cdef inline int32_t summons(const State *s, int32_t slot) noexcept nogil:
    """How many of a class with FEAT_LIMIT its owner has summoned this turn, up to 15."""
    return s.summoned[slot >> 1] >> 4 * (slot & 1) & 15

cdef inline int32_t total_avail(const State *s) noexcept nogil:
    return s.avail[0] + s.avail[1] + s.avail[2]

cdef inline uint64_t row(const uint8_t *cells) noexcept nogil:
    """Eight counts at once, to see whether any is there."""
    cdef uint64_t word
    memcpy(&word, cells, 8)
    return word

cdef inline int32_t zone_sum(const uint8_t *zone) noexcept nogil:
    cdef int32_t slot, count = 0
    for slot in range(SLOTS):
        count += zone[slot]
    return count

cdef inline bint may_draw(const State *s) noexcept nogil:
    return zone_sum(s.player[s.active].bag) + zone_sum(s.player[s.active].used) > 0

cdef inline int32_t roll_slot(const State *s) noexcept nogil:
    cdef int32_t slot
    for slot in range(SLOTS):
        if s.player[s.active].wait[slot]:
            return slot
    return SLOTS

cdef inline int32_t slot_of_class(const Tables *T, const State *s, int32_t cls) noexcept nogil:
    """The slot whose card is of this class, or SLOTS."""
    cdef int32_t slot
    for slot in range(SLOTS):
        if s.card[slot] != NONE and T.card[s.card[slot]].cls == cls:
            return slot
    return SLOTS

cdef inline bint creature_in_pool(const Tables *T, const State *s) noexcept nogil:
    cdef int32_t slot, face
    for slot in range(1, FIRST_SPELL):
        if row(s.pool[slot]):
            for face in range(6):
                if s.pool[slot][face] and T.card[s.card[slot]].face[face].kind & IS_CREATURE:
                    return True
    return False

cdef inline bint lock_waits(const Tables *T, const State *s) noexcept nogil:
    """Whether a Lock face must still be locked this turn (LK3, LK4)."""
    cdef int32_t slot, face
    if not s.features & FEAT_LOCK or s.flags & S_LOCKED:
        return False
    for slot in range(FIRST_CREATURE, FIRST_SPELL):
        if row(s.pool[slot]):
            for face in range(6):
                if s.pool[slot][face] and T.card[s.card[slot]].face[face].kind & IS_LOCK:
                    return True
    return False


# ---- attached and readied spells -----------------------------------------------------------------

cdef inline int32_t att_get(const Tables *T, const Creature *c, int32_t j, int32_t kind) noexcept nogil:
    """Attached dice of spell slot j showing its first (0) or second (1) spell face."""
    cdef int32_t code = (c.att >> (5 * j)) & 31
    return T.att_b[code] if kind else T.att_a[code]

cdef inline uint8_t spell_die(const Tables *T, const State *s, int32_t j, int32_t kind) noexcept nogil:
    return (FIRST_SPELL + j) * 8 + T.card[s.card[FIRST_SPELL + j]].spell_face[kind]

cdef inline int32_t spell_kind(const Tables *T, const State *s, uint8_t die) noexcept nogil:
    return T.card[s.card[die >> 3]].spell_face[1] == (die & 7)

cdef inline int32_t readied(const Player *p, int32_t j, int32_t kind) noexcept nogil:
    return p.spells[j] >> 4 if kind else p.spells[j] & 15

cdef inline int32_t count_spells(const Tables *T, const State *s) noexcept nogil:
    """Readied and attached spells of all seats."""
    cdef int32_t seat, i, j, count = 0
    for seat in range(T.n_players):
        for j in range(SPELL_SLOTS):
            count += readied(&s.player[seat], j, 0) + readied(&s.player[seat], j, 1)
            for i in range(s.player[seat].n_ready):
                count += att_get(T, &s.player[seat].ready[i], j, 0) + att_get(T, &s.player[seat].ready[i], j, 1)
    return count


# ---- creatures -----------------------------------------------------------------------------------

cdef inline uint64_t order_key(const Creature *c) noexcept nogil:
    return (<uint64_t>c.die << 56 | <uint64_t>c.copy << 48 | <uint64_t>c.att << 32 | <uint64_t>c.atk << 24
            | <uint64_t>c.dfn << 16 | <uint64_t>c.flags << 8 | (c.rec != 0))

cdef inline bint alike(const Creature *a, const Creature *b) noexcept nogil:
    return order_key(a) == order_key(b)                                   # then their records are equal, too

cdef inline uint8_t shape(const Creature *c) noexcept nogil:
    """The die it counts as: itself, or what it is a copy of (A38, A43)."""
    return c.copy if c.copy != NONE else c.die

cdef inline const FaceTable *eff(const Tables *T, const State *s, const Creature *c) noexcept nogil:
    return face_of(T, s, shape(c))

cdef inline bint unlocked(const Creature *c) noexcept nogil:
    return (c.flags & F_LOCKED) == 0

cdef inline bint locked_now(const Creature *c) noexcept nogil:
    """Locked in this turn by its owner, who cannot unlock it now, by payment or by a spell (LK7)."""
    return c.flags & F_LOCKED and c.flags & F_RECOPIED

cdef inline int32_t count_unlocked(const Player *p) noexcept nogil:
    cdef int32_t i, count = 0
    for i in range(p.n_ready):
        count += unlocked(&p.ready[i])
    return count

cdef inline int32_t locked_index(const Player *p) noexcept nogil:
    """Where the locked die stands, or -1."""
    cdef int32_t i
    for i in range(p.n_ready):
        if p.ready[i].flags & F_LOCKED:
            return i
    return -1

cdef inline int32_t locked_sum(const Tables *T, const State *s, int32_t seat, bint glory) noexcept nogil:
    """What the seat's locked die adds to its draw, or to its Glory when it scores."""
    cdef int32_t i = locked_index(&s.player[seat])
    cdef const FaceTable *f
    if i < 0:
        return 0
    f = face_of(T, s, s.player[seat].ready[i].die)
    return f.locked_glory if glory else f.locked_draws - f.locked_fewer

cdef inline int32_t all_creatures(const Tables *T, const State *s) noexcept nogil:
    cdef int32_t seat, count = 0
    for seat in range(T.n_players):
        count += s.player[seat].n_ready
    return count

cdef inline int32_t bq_count(const Tables *T, const State *s, int32_t seat) noexcept nogil:
    """Basic Quiddity dice in the pile and the pool (A46, A47); large dice are none (A48)."""
    cdef int32_t face, count = s.player[seat].used[0] + s.player[seat].wait[0]
    if T.lvd:
        return 0
    if seat == s.active:
        for face in range(8):
            count += s.pool[0][face]
    return count

cdef inline int32_t count_stat(const Tables *T, const State *s, int32_t seat, int32_t code) noexcept nogil:
    return bq_count(T, s, seat) if code == 1 else all_creatures(T, s)

cdef inline int32_t attack_of(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    """Attack now, without what counts only against one defender."""
    cdef const FaceTable *f = eff(T, s, c)
    cdef const Player *p = &s.player[seat]
    cdef const FaceTable *spell
    cdef int32_t i, j, kind, value
    if not unlocked(c):
        return 0
    value = f.attack if f.stat_atk == 0 else count_stat(T, s, seat, f.stat_atk)
    value += c.atk
    if s.features & FEAT_AURA:
        for i in range(p.n_ready):
            if &p.ready[i] != c:
                value += eff(T, s, &p.ready[i]).aura_atk
    if c.att:
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind):
                    spell = face_of(T, s, spell_die(T, s, j, kind))
                    value += att_get(T, c, j, kind) * spell.host_atk
    return value

cdef inline int32_t defense_of(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    """Defence now; auras and counts are live (A123)."""
    cdef const FaceTable *f = eff(T, s, c)
    cdef const Player *p = &s.player[seat]
    cdef const FaceTable *spell
    cdef int32_t i, j, kind, value
    if not unlocked(c):
        return 0                                                          # LK11
    value = f.defense if f.stat_def == 0 else count_stat(T, s, seat, f.stat_def)
    value += c.dfn + f.def_self + f.def_others * (p.n_ready - 1)
    if p.n_ready == 1:
        value += f.def_alone
    if s.features & FEAT_AURA:
        for i in range(p.n_ready):
            if &p.ready[i] != c:
                value += eff(T, s, &p.ready[i]).aura_def
    if c.att and not (s.flags & S_IGNORE and seat != s.active):           # A52
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind):
                    spell = face_of(T, s, spell_die(T, s, j, kind))
                    value += att_get(T, c, j, kind) * spell.host_def
    return value

cdef inline int32_t level_of(const Tables *T, const State *s, const Creature *c) noexcept nogil:
    return eff(T, s, c).level if unlocked(c) else 0

cdef inline int32_t host_glory(const Tables *T, const State *s, const Creature *c) noexcept nogil:
    cdef int32_t j, kind, glory = 0
    if c.att:
        for j in range(SPELL_SLOTS):
            for kind in range(2):
                if att_get(T, c, j, kind):
                    glory += att_get(T, c, j, kind) * face_of(T, s, spell_die(T, s, j, kind)).host_glory
    return glory

cdef inline int32_t surcharge(const Tables *T, const State *s, int32_t seat) noexcept nogil:
    """What a summon of this seat costs more (A50)."""
    cdef int32_t q, i, extra = 0
    if not s.features & FEAT_SURCHARGE:
        return 0
    for q in range(T.n_players):
        for i in range(s.player[q].n_ready):
            if q != seat:
                extra += eff(T, s, &s.player[q].ready[i]).surcharge
            else:
                extra += eff(T, s, &s.player[q].ready[i]).locked_dearer
    return extra

cdef inline bint may_target(const Tables *T, const State *s, int32_t caster, int32_t seat,
                            const Creature *c) noexcept nogil:
    return caster == seat or not (eff(T, s, c).notarget and unlocked(c))   # A53

cdef inline int32_t copies(const Tables *T, const State *s, int32_t seat, const Creature *c, uint8_t *out,
                           bint entering) noexcept nogil:
    """Distinct creatures of rivals, on entering all of them (K27), later those c is no copy of yet (A40)."""
    cdef int32_t q, i, k, count = 0
    cdef uint8_t die
    for q in range(T.n_players):
        if q == seat:
            continue
        for i in range(s.player[q].n_ready):
            if not unlocked(&s.player[q].ready[i]):
                continue
            die = shape(&s.player[q].ready[i])
            if die == shape(c) and not entering:
                continue
            for k in range(count):
                if out[k] == die:
                    break
            else:
                out[count] = die
                count += 1
    return count

cdef inline bint may_recopy(const Tables *T, const State *s, int32_t seat, const Creature *c) noexcept nogil:
    cdef uint8_t dice[MAX_SEATS * MAX_READY]
    return (face_of(T, s, c.die).copy_turn and not c.flags & (F_RECOPIED | F_LOCKED)
            and copies(T, s, seat, c, dice, False) > 0)

cdef inline int32_t number_of(const Player *p, int32_t i, int32_t before) noexcept nogil:
    """Creature i's number among those with the same die, where the one before it has number `before`."""
    if i == 0 or p.ready[i].die != p.ready[i - 1].die:
        return 0
    return before + (not alike(&p.ready[i], &p.ready[i - 1]))

cdef inline int32_t find_creature(const Player *p, int32_t die, int32_t number) noexcept nogil:
    """The index of the creature that add_creatures called die #number."""
    cdef int32_t i, k = 0
    for i in range(p.n_ready):
        k = number_of(p, i, k)
        if p.ready[i].die == die and k == number:
            return i
    return 0

cdef inline uint32_t defenders(const Player *p) noexcept nogil:
    """Bits of the creatures that can still defend."""
    cdef int32_t i
    cdef uint32_t mask = 0
    for i in range(p.n_ready):
        if not p.ready[i].flags & (F_SAFE | F_LOCKED):
            mask |= 1u << i
    return mask

cdef inline bint any_not_kept(const Player *q) noexcept nogil:
    cdef int32_t i
    for i in range(q.n_ready):
        if q.ready[i].flags & F_DOOMED and not q.ready[i].flags & (F_KEEP | F_LOCKED):
            return True
    return False


# ---- the attack ----------------------------------------------------------------------------------

cdef inline int32_t foe_bar(const Tables *T, const State *s, int32_t d) noexcept nogil:
    cdef int32_t i, bar = 0
    for i in range(s.player[d].n_ready):
        bar = max(bar, <int32_t>eff(T, s, &s.player[d].ready[i]).barlevel)
    return bar

cdef inline int32_t value_against(const Tables *T, const State *s, int32_t d, int32_t i) noexcept nogil:
    """What attacker record i counts against defender d, in the order of A30."""
    cdef const Record *r = &s.rec[i]
    cdef const FaceTable *f = face_of(T, s, r.die)
    cdef const Player *p = &s.player[d]
    cdef int32_t k, value = r.value
    if r.level <= foe_bar(T, s, d):
        return 0
    if r.zero:
        return 0                                                          # Life Incantation (A16)
    if f.lone_atk and p.n_ready == 1:
        value += f.lone_atk                                               # A31
    for k in range(p.n_ready):
        value = min(value, <int32_t>eff(T, s, &p.ready[k]).capatk)
    return value

cdef inline int32_t attack_total(const Tables *T, const State *s, int32_t d) noexcept nogil:
    cdef int32_t i, total = 0
    for i in range(s.n_rec):
        total += value_against(T, s, d, i)
    return total

cdef inline int32_t firstkill_bonus(const Tables *T, const State *s, int32_t d) noexcept nogil:
    """What attackers add at defender d's first loss, by what they count against him now (A34)."""
    cdef int32_t i, bonus = 0
    for i in range(s.n_rec):
        if face_of(T, s, s.rec[i].die).firstkill:
            bonus += value_against(T, s, d, i)
    return bonus

cdef inline bint deals_quake(const Tables *T, const State *s, int32_t d, int32_t *level) noexcept nogil:
    cdef int32_t i
    level[0] = 0
    for i in range(s.n_rec):
        if s.rec[i].level > foe_bar(T, s, d):
            level[0] = max(level[0], <int32_t>face_of(T, s, s.rec[i].die).quake)
    return level[0] > 0


# ---- targets of spells ---------------------------------------------------------------------------

cdef inline int32_t next_level(const Tables *T, const State *s, const Creature *c, bint up,
                               uint8_t *faces) noexcept nogil:
    """Faces that a rotation may show: of exactly the next level (A56), each once."""
    cdef const CardTable *card = &T.card[s.card[c.die >> 3]]
    cdef int32_t i, count = 0, level = level_of(T, s, c), want = level + 1 if up else level - 1
    if c.copy != NONE or (not T.lvd and want < 1):
        return 0
    if T.lvd:                                                             # D31, D32, LK17
        i = c.die & 7
        while 0 <= i < 6:
            if card.face[i].kind & IS_CREATURE and (card.face[i].level > level if up else card.face[i].level < level):
                faces[0] = card.canon[i]
                return 1
            i += 1 if up else -1
        return 0
    for i in range(card.n_faces):
        if card.face[card.faces[i]].kind & IS_CREATURE and card.face[card.faces[i]].level == want:
            faces[count] = card.faces[i]
            count += 1
    return count

cdef inline bint legal_target(const Tables *T, const State *s, const Op *op, int32_t seat,
                              const Creature *c) noexcept nogil:
    cdef uint8_t faces[8]
    if op.code == O_ROTATE_OWN or op.code == O_ROTATE_ANY:
        return may_target(T, s, s.active, seat, c) and next_level(T, s, c, op.n, faces) > 0
    if locked_now(c):
        return False
    return (level_of(T, s, c) <= op.level and defense_of(T, s, seat, c) <= op.defense
            and (not op.spell or may_target(T, s, s.active, seat, c))                             # A53
            and (op.energy == 0 or T.card[s.card[shape(c) >> 3]].energy == op.energy))

cdef inline bint any_target(const Tables *T, const State *s, const Op *op, int32_t first, int32_t last) noexcept nogil:
    """Whether seats at offsets first .. last - 1 from the active one have a legal target."""
    cdef int32_t offset, seat, i
    for offset in range(first, last):
        seat = (s.active + offset) % T.n_players
        for i in range(s.player[seat].n_ready):
            if legal_target(T, s, op, seat, &s.player[seat].ready[i]):
                return True
    return False


# ---- the stack -----------------------------------------------------------------------------------

cdef inline int32_t find_frame(const State *s, int32_t op) noexcept nogil:
    cdef int32_t i
    for i in range(s.n_stack - 1, -1, -1):
        if s.stack[i].op == op:
            return i
    return 0

cdef inline bint is_chance(int32_t op) noexcept nogil:
    return op == Q_DRAW or op == Q_ROLL or op == Q_ASIDE or op == P_DEAL


# ---- conservation --------------------------------------------------------------------------------

cdef inline int32_t dice_of(const Tables *T, const State *s, int32_t slot) noexcept nogil:
    """All dice of a class, wherever they are (I1)."""
    cdef const Player *p
    cdef int32_t seat, i, j = slot - FIRST_SPELL, count = s.wilds[slot]
    for seat in range(T.n_players):
        p = &s.player[seat]
        count += p.bag[slot] + p.used[slot] + p.spent[slot] + p.wait[slot] + p.aside[slot]
        if j >= 0:
            count += readied(p, j, 0) + readied(p, j, 1)
        for i in range(p.n_ready):
            count += p.ready[i].die >> 3 == slot
            if j >= 0:
                count += att_get(T, &p.ready[i], j, 0) + att_get(T, &p.ready[i], j, 1)
    for i in range(8):
        count += s.pool[slot][i]
    for i in range(s.n_stack):                                            # on its way to its host or into play
        count += s.stack[i].op in (Q_HOST, Q_SUMMONED, Q_JOINS) and s.stack[i].a >> 3 == slot
    return count
