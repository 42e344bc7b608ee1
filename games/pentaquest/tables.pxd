# cython: language_level=3
"""The rules' tables as a base class, for the modules that need the names of cards."""
from engine_ext.position cimport Rules
from games.pentaquest.state cimport Tables


cdef class PentaquestTables(Rules):
    cdef Tables data
    cdef readonly object deck
    cdef readonly list kinds
    cdef object prices            # the arrays behind Tables.price
    cdef object reached           # the arrays behind Tables.reach
