# cython: language_level=3
"""A flat tree as a native game: its state, and the rules object."""
from libc.stdint cimport int32_t

from engine_ext.position cimport Rules
from solvers.tree cimport FlatTree


cdef struct NodeState:
    int32_t node


cdef class TreeRules(Rules):
    cdef readonly FlatTree tree

    cdef bint _has_stages(self)
