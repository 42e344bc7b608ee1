# cython: language_level=3
"""Room for one state of any game on the stack, aligned for whatever its struct holds."""
from libc.stdint cimport uint64_t

from engine_ext.game cimport STATE_LIMIT


ctypedef union StateBuffer:
    uint64_t word                       # gives the alignment
    unsigned char bytes[STATE_LIMIT]    # `buffer.bytes` is passed where a state is wanted
