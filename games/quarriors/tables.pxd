# cython: language_level=3
"""The rules' tables as a base class, for the modules that need the names of cards and classes."""
from engine_ext.position cimport Rules
from games.quarriors.state cimport Tables


cdef class QuarriorsTables(Rules):
    cdef Tables *data
    cdef bytes _multisets
    cdef bytes _chances
    cdef readonly object sets
    cdef readonly list card_names
    cdef readonly list class_names
    cdef readonly list fixed
