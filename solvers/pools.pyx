"""Arrays that grow while a game is walked: how numpy takes them over. pools.pxd has the rest."""
import numpy as np

from libc.stdlib cimport free, realloc


cdef class _Block:
    """Owns a pool's memory and offers it to numpy, which so need not copy it."""
    cdef char *data
    cdef Py_ssize_t n_bytes
    cdef Py_ssize_t shape[1]

    def __dealloc__(self):
        free(self.data)

    def __getbuffer__(self, Py_buffer *buffer, int flags):
        self.shape[0] = self.n_bytes
        buffer.buf = self.data
        buffer.obj = self
        buffer.len = self.n_bytes
        buffer.itemsize = 1
        buffer.readonly = 0
        buffer.ndim = 1
        buffer.format = b"B"
        buffer.shape = self.shape
        buffer.strides = NULL
        buffer.suboffsets = NULL
        buffer.internal = NULL


cdef object take_pool(Pool *pool, dtype):
    """The pool's items as a numpy array; the pool is empty afterwards."""
    cdef _Block block = _Block()
    cdef char *data
    if pool.size == 0:
        return np.zeros(0, dtype=dtype)
    data = <char *>realloc(pool.data, pool.size * pool.item)   # give back what growth left over
    block.data = data if data != NULL else pool.data
    block.n_bytes = pool.size * pool.item
    pool.data = NULL
    pool.size = pool.capacity = 0
    return np.frombuffer(block, dtype=dtype)
