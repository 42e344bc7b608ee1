# cython: language_level=3
"""Ids of actions: one id, one meaning, in every state."""
from libc.stdint cimport int32_t

from games.quarriors.reading cimport *
from games.quarriors.state cimport *


cdef enum:               # how the argument of a family is made up; the engine counts slots where ids count classes
    ARG_NONE, ARG_N, ARG_DIE, ARG_CLASS, ARG_CLASS_SEAT, ARG_SEAT_DIE, ARG_SEAT_DIE_N, ARG_DIE_N, ARG_DIE_CLASS,
    ARG_PAY, ARG_SEAT

cdef inline int32_t argument(int32_t family) noexcept nogil:
    if family == A_DONE or family == A_POOL or family == A_ASIDE:
        return ARG_NONE
    if family == A_RECOPY:
        return ARG_N
    if family in (A_CULL, A_CULL_POOL, A_TAKE, A_FETCH, A_CAPTURE, A_CAPTURE_DISCOUNTED, A_ANCHORED):
        return ARG_CLASS
    if family == A_SWAP:
        return ARG_CLASS_SEAT
    if family == A_SPELL or family == A_ATTACHED or family == A_LOCK_WITH:
        return ARG_SEAT_DIE
    if family == A_CREATURE:
        return ARG_SEAT_DIE_N
    if family == A_RETURN:
        return ARG_DIE_N
    if family == A_RESOLVE_OF:
        return ARG_DIE_CLASS
    if family == A_PAY:
        return ARG_PAY
    if family == A_UNLOCK:
        return ARG_SEAT
    return ARG_DIE

cdef inline int32_t class_of(const Tables *T, const State *s, int32_t slot) noexcept nogil:
    return T.card[s.card[slot]].cls

cdef inline int32_t to_id(const Tables *T, const State *s, int32_t action) noexcept nogil:
    """The stable id of an option: classes instead of slots."""
    cdef int32_t family = action >> SHIFT, x = action & 0xFFFF, kind = argument(action >> SHIFT)
    cdef int32_t dice = 8 * T.n_classes
    if kind == ARG_DIE:
        x = class_of(T, s, x >> 3) << 3 | (x & 7)
    elif kind == ARG_CLASS:
        x = class_of(T, s, x)
    elif kind == ARG_CLASS_SEAT:
        x = class_of(T, s, x >> 2) << 2 | (x & 3)
    elif kind == ARG_SEAT_DIE:
        x = (x >> 7) * dice + (class_of(T, s, x >> 3 & 15) << 3 | (x & 7))
    elif kind == ARG_SEAT_DIE_N:
        x = ((x >> 11) * dice + (class_of(T, s, x >> 7 & 15) << 3 | (x >> 4 & 7))) * 16 + (x & 15)
    elif kind == ARG_DIE_N:
        x = (class_of(T, s, x >> 7) << 3 | (x >> 4 & 7)) * 16 + (x & 15)
    elif kind == ARG_DIE_CLASS:
        x = (class_of(T, s, x >> 7) << 3 | (x >> 4 & 7)) * T.n_classes + class_of(T, s, x & 15)
    # the other arguments hold no slot
    return T.offset[family] + x

cdef inline int32_t from_id(const Tables *T, const State *s, int32_t id) noexcept nogil:
    """The option of an id: slots instead of classes."""
    cdef int32_t family = N_FAMILIES - 1, x, kind, dice = 8 * T.n_classes
    while T.offset[family] > id:
        family -= 1
    x = id - T.offset[family]
    kind = argument(family)
    if kind == ARG_DIE:
        x = slot_of_class(T, s, x >> 3) << 3 | (x & 7)
    elif kind == ARG_CLASS:
        x = slot_of_class(T, s, x)
    elif kind == ARG_CLASS_SEAT:
        x = slot_of_class(T, s, x >> 2) << 2 | (x & 3)
    elif kind == ARG_SEAT_DIE:
        x = (x // dice) << 7 | slot_of_class(T, s, x % dice >> 3) << 3 | (x % dice & 7)
    elif kind == ARG_SEAT_DIE_N:
        x = ((x // 16 // dice) << 7 | slot_of_class(T, s, x // 16 % dice >> 3) << 3 | (x // 16 & 7)) << 4 | (x & 15)
    elif kind == ARG_DIE_N:
        x = (slot_of_class(T, s, x >> 7) << 3 | (x >> 4 & 7)) << 4 | (x & 15)
    elif kind == ARG_DIE_CLASS:
        x = ((slot_of_class(T, s, x // T.n_classes >> 3) << 3 | (x // T.n_classes & 7)) << 4
             | slot_of_class(T, s, x % T.n_classes))
    return family << SHIFT | x
