# cython: language_level=3
"""Declarations of the sequence form, for the solvers that run on it."""
from libc.stdint cimport int32_t, int64_t

from engine_ext.game cimport PLAYER_LIMIT
from solvers.tree cimport FlatTree


cdef extern from "sequence_kernels.h":
    enum:
        LANES
        RULE_CFR
        RULE_PLUS
        RULE_DISCOUNT
        RULE_PREDICT

    ctypedef struct Side:
        int32_t n_slots
        int32_t n_segments
        const int32_t *segment_tiles
        const int32_t *segment_slot
        const int32_t *segment_actions
        const int32_t *segment_regular
        const int32_t *segment_parent
        const int32_t *parents
        const int32_t *segment_tile
        const double *least
        int32_t n_classes
        const int32_t *class_runs
        const int32_t *class_entries
        const int32_t *run_slot
        const int32_t *column
        const double *entry
        int32_t n_rows
        int32_t n_rivals
        const int32_t *row_slot
        const int64_t *row_start
        const int32_t *term_slots
        const double *term

    ctypedef struct Weights:
        double average
        double regret
        double keep_positive
        double keep_negative

    ctypedef struct Kernels:
        void (*values)(const Side *side, const double *const *x, double *u) noexcept nogil
        void (*update[4])(const Side *side, const Weights *weights, double *u, double *regret,
                          double *policy) noexcept nogil
        void (*plan)(const Side *side, double weight, const double *policy, double *x, double *total) noexcept nogil
        void (*best)(const Side *side, double *u, double *policy) noexcept nogil

    const Kernels *choose_kernels(int base_only) noexcept nogil


cdef class SequenceForm:
    cdef readonly FlatTree tree
    cdef readonly int32_t n_players
    cdef readonly list arrays         # per player, name -> numpy array behind the pointers of `sides`
    cdef readonly object slot_of      # int32[n_sequences]: each sequence's slot among its player's
    cdef readonly object least        # float64[n_infosets]: see least_regrets
    cdef readonly double seconds      # wall-clock time of the conversion
    cdef Side sides[PLAYER_LIMIT]
    cdef const Kernels *kernels

    cdef void rivals(self, int32_t player, double **plans, const double **out) noexcept nogil
