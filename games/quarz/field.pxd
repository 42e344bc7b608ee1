# cython: language_level=3
"""Movement and reach on the board: who can go where, strike whom, see whom.

The geometry is engine_ext.hexgrid's; here stands what Qu'arz makes of it. Numbers are those of
the rules table; section 6 is its chapter on the line of sight.
"""
from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t

from engine_ext.bits cimport bit, has_bit
from engine_ext.hexgrid cimport (
    HEX_CLIMB, HEX_SPINE, HEX_STRICT, HEX_SWIM, HexMover, hex_flood, hex_linked, hex_put_tiles, hex_sight,
)
from games.quarz.state cimport CELLS, SHARP_EYES, WALL_SHOT, WALL_STEP, Global, State, Tables


cdef inline const Global *modifiers(const Tables *t, const State *s) noexcept nogil:
    """What the visible time tile does."""
    return &t.globals[s.time_now if s.time_now >= 0 else 16]

cdef inline int32_t home(const Tables *t, const State *s, int32_t seat) noexcept nogil:
    """The seat's camp."""
    return t.camps[s.camp[seat]]

cdef inline int32_t frozen(const Tables *t, const State *s) noexcept nogil:
    """HEX_SWIM while a time tile freezes all water, else 0."""
    return HEX_SWIM if modifiers(t, s).frozen else 0


cdef inline void rebuild(const Tables *t, State *s) noexcept nogil:
    """Recompute the edges and what is solid from tiles and floes (Q32, rule 123)."""
    cdef int32_t c
    cdef uint8_t water[CELLS]
    cdef uint8_t crystal[CELLS]
    s.solid = t.impassable_mask & ~s.melted
    for c in range(t.grid.n_cells):
        water[c] = t.water[s.tile[c] - 1][s.turned[c]] if s.tile[c] else 0
        crystal[c] = t.crystal[s.tile[c] - 1][s.turned[c]] if s.tile[c] else 0
    hex_put_tiles(&t.grid, water, crystal, s.melted, &s.edges)


cdef inline void recount(const Tables *t, State *s, int32_t seat) noexcept nogil:
    """Recompute where the seat's monsters stand."""
    cdef int32_t m, other
    cdef uint64_t mask = 0
    for m in range(3 * seat, 3 * seat + 3):
        if s.at[m] >= 0:
            mask |= bit(s.at[m])
    s.own[seat] = mask
    mask = 0
    for other in range(t.players):
        mask |= s.own[other]
    s.occupied = mask


cdef inline uint64_t friends_of(const State *s, int32_t m) noexcept nogil:
    """Cells held by the other monsters of the mob."""
    cdef int32_t k, seat = m // 3
    cdef uint64_t cells = 0
    for k in range(3 * seat, 3 * seat + 3):
        if k != m and s.at[k] >= 0:
            cells |= bit(s.at[k])
    return cells


cdef inline uint64_t helper_zone(const Tables *t, const State *s, int32_t m, int32_t power,
                                 const int8_t *at) noexcept nogil:
    """Cells where a monster is beside an own one, other than m, with this power: adjacent to it, or with
    it in the camp (Q2, Q35, Q82). at: where the mob's three stand."""
    cdef int32_t k, first = m - m % 3
    cdef uint64_t zone = 0
    for k in range(3):
        if first + k != m and at[k] >= 0 and s.powers[first + k] & power:
            zone |= t.grid.near[at[k]] | bit(at[k])
    return zone


cdef inline uint64_t reach_from(const Tables *t, const State *s, int32_t m, const int8_t *at, uint64_t friends,
                                uint64_t rivals, int32_t steps, int32_t powers) noexcept nogil:
    """Cells where the monster may end a movement of at most `steps` steps (rules 40-50, 120-122).

    Args:
        at: where the mob's three stand; friends, rivals: cells held by the others of its mob, by other mobs.
        powers: SWIM, CLIMB.
    """
    cdef int32_t seat = m // 3, other
    cdef uint64_t base = bit(home(t, s, seat))
    cdef HexMover mover
    mover.flags = (powers & (HEX_SWIM | HEX_CLIMB)) | frozen(t, s)
    mover.through = t.grid.cells & ~(s.solid | (t.camp_mask & ~base) | rivals)
    mover.free = mover.through & (~friends | base)
    mover.stop = bit(s.idol_at) if s.idol_by < 0 else 0
    for other in range(t.players):
        if other != seat:
            mover.stop |= s.traps[other]
    mover.stop &= ~friends                  # where a march is thought out, a friend has taken the idol, sprung the trap
    mover.ice = s.melted
    mover.helped = 0 if mover.flags & HEX_CLIMB else helper_zone(t, s, m, WALL_STEP, at)
    return hex_flood(&t.grid, &s.edges, &mover, at[m % 3], steps) & mover.free


cdef inline uint64_t reach(const Tables *t, const State *s, int32_t m, int32_t steps,
                           int32_t powers) noexcept nogil:
    """Cells where the monster may end a movement of at most `steps` steps from where it stands."""
    return reach_from(t, s, m, &s.at[m - m % 3], friends_of(s, m), s.occupied & ~s.own[m // 3], steps, powers)


cdef inline int32_t steps_of(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Steps of a movement action (rules 40, 55); time tile and frost leave 1 of the printed ones."""
    cdef int32_t printed = t.monsters[s.who[m]].move
    cdef int32_t steps = max(1, printed + modifiers(t, s).move - s.frost[m]) + s.move[m] - printed
    if s.idol_by == m:
        steps = min(steps, 1 + s.carry[m] + modifiers(t, s).carry)
    return steps


cdef inline uint64_t linked(const Tables *t, const State *s, int32_t cell) noexcept nogil:
    """Hexes connected with this one for strikes and pushes (rules 41, 61)."""
    return hex_linked(&t.grid, &s.edges, cell, frozen(t, s))


cdef inline bint beside(const Tables *t, const State *s, int32_t a, int32_t b) noexcept nogil:
    """Whether two monsters stand on connected adjacent hexes or share a camp (rule 61, Q35)."""
    return s.at[a] == s.at[b] or has_bit(linked(t, s, s.at[a]), s.at[b])


cdef inline bint sees(const Tables *t, const State *s, int32_t m, int32_t target) noexcept nogil:
    """Whether a shooter has the target at distance 1 or 2 in sight (section 6, L1-L7)."""
    cdef int32_t a = s.at[m], b = s.at[target], flags = 0
    cdef uint64_t helped = helper_zone(t, s, m, WALL_SHOT, &s.at[m - m % 3])
    if a == b:
        return True
    if t.grid.distance[a][b] > 2:
        return False
    if s.powers[m] & SHARP_EYES or modifiers(t, s).clear or has_bit(helped, a):
        flags = HEX_CLIMB
    return hex_sight(&t.grid, &s.edges, a, b, s.occupied | (s.solid if t.impassable_sight else 0),
                     HEX_STRICT if t.strict_sight else HEX_SPINE, flags)
