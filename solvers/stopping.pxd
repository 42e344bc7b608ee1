cpdef int look_up() except -1
