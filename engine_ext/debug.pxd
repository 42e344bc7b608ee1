# cython: language_level=3
"""State assertions that survive `noexcept nogil`.

`QUANDARY_CHECK(condition, text)` compiles to nothing in a release build. In a build made with
`QUANDARY_DEBUG=1` a false condition prints the text with the C file and line and aborts the
process: an assertion inside a nogil function could not raise, and an error that is only
printed is an error that no test sees.
"""

cdef extern from *:
    """
    #ifndef QUANDARY_CHECK
    #ifdef QUANDARY_DEBUG
    #include <stdio.h>
    #include <stdlib.h>
    static inline void quandary_check_failed(const char *text, const char *file, int line) {
        fprintf(stderr, "QUANDARY_CHECK failed: %s (%s:%d)\\n", text, file, line);
        fflush(stderr);
        abort();
    }
    #define QUANDARY_CHECK(condition, text) \\
        ((condition) ? (void)0 : quandary_check_failed((text), __FILE__, __LINE__))
    #define QUANDARY_DEBUG_BUILD 1
    #else
    #define QUANDARY_CHECK(condition, text) ((void)(text))
    #define QUANDARY_DEBUG_BUILD 0
    #endif
    #endif
    """
    void QUANDARY_CHECK(bint condition, const char *text) noexcept nogil
    int QUANDARY_DEBUG_BUILD
