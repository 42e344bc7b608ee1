# cython: language_level=3
"""Attacks and damage: who reaches whom, how much, and what a hit entails (rules 58 to 76)."""
from libc.stdint cimport int32_t

from games.quarz.field cimport beside, modifiers, sees
from games.quarz.frames cimport pop, push, tableau, top
from games.quarz.state cimport *
from games.quarz.tableau cimport lose


cdef inline bint reaches(const Tables *t, const State *s, int32_t m, int32_t target, int32_t kind) noexcept nogil:
    """Rules 61, 62: whether a strike or a shot (plain: as a shot) gets there."""
    if m == target or s.at[target] < 0 or s.at[m] < 0:
        return False
    return beside(t, s, m, target) if kind == STRIKE else sees(t, s, m, target)

cdef inline int32_t own_kind(const Tables *t, const State *s, int32_t m) noexcept nogil:
    return SHOOT if tableau(t, s, m).shoots else STRIKE

cdef inline int32_t attack_damage(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Rule 63."""
    return s.damage[m] + s.boost[m] + modifiers(t, s).damage

cdef inline int32_t block_limit(const Tables *t, const State *s, int32_t m) noexcept nogil:
    """Rule 65: the defender's own damage value with its lasting bonuses."""
    return s.damage[m] + modifiers(t, s).damage

cdef inline Frame *running_attack(State *s) noexcept nogil:
    """The attack that an instant answers."""
    cdef int32_t i = s.depth - 1
    while i > 0 and s.stack[i].kind != K_ATTACK:
        i -= 1
    return &s.stack[i]


# ---- a hit on its way ----------------------------------------------------------------------------

cdef inline void hit(State *s, int32_t source, int32_t victim, int32_t damage, int32_t kind) noexcept nogil:
    """Damage on its way: shield tokens, Living Shield, loss, idol, K.O., in this order."""
    cdef Frame *f
    if damage > 0:
        f = push(s, K_HIT, source, victim, damage)
        f.d = kind

cdef inline bint guards(const Tables *t, const State *s, int32_t g, int32_t victim, int32_t source) noexcept nogil:
    """Rule 106; Q50, Q84, Q87."""
    return (g != victim and g != source and s.at[g] >= 0 and s.powers[g] & LIVING_SHIELD and s.pool[g] > 0
            and beside(t, s, g, victim))

cdef inline bint strike_down(const Tables *t, State *s) noexcept nogil:
    """The last stage of a hit: the loss and what it entails."""
    cdef Frame f = top(s)[0]
    cdef bint alive = s.pool[f.b] > 0
    lose(s, f.b, f.c)
    pop(s)
    # below: what comes later lies deeper
    if s.depth < WINDOW_DEPTH and f.a >= 0:
        push(s, K_WINDOW, TRIGGER_HURT, f.a, f.b)
    if alive and s.pool[f.b] == 0 and f.a >= 0 and f.a != f.b:              # rule 76, Q46
        push(s, K_KO, f.a, f.b, 0)
    if s.idol_by == f.b and f.d != PLAIN and f.a >= 0:                      # Q47: the idol first
        s.idol_by = -1
        if f.d == STRIKE:
            push(s, K_STRIP, f.a, f.b, 0 if beside(t, s, f.a, f.b) else 3)      # Q86: a guard farther off
        else:
            push(s, K_THROW, f.a, f.b, 0)
    return True
