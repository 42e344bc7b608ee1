# cython: language_level=3
"""Numbers of Pentaquest in words."""
from libc.stdint cimport int32_t, uint64_t

from games.pentaquest.state cimport Tables
from games.pentaquest.tables cimport PentaquestTables

cdef str name_decision(PentaquestTables rules, int32_t action)
cdef str name_outcome(PentaquestTables rules, int32_t outcome)
cdef str name_kind(PentaquestTables rules, int32_t kind)
cdef list list_kinds(const Tables *t, uint64_t cards)
cdef list list_dice(const Tables *t, int32_t keeper)
cdef str name_dice(const Tables *t, int32_t keeper)
cdef str name_army(uint64_t purse)
