# cython: language_level=3
"""Hex boards of at most 64 cells as bitboards: strikes, movement, sliding, line of sight.

Cells have axial coordinates (q, r), pointy top, q to the east, r to the south-east. Directions
count clockwise on screen from the east: 0 E (1, 0), 1 SE (0, 1), 2 SW (-1, 1), 3 W (-1, 0),
4 NW (0, -1), 5 NE (1, -1). A cell's number is its place in the list the board was made from; a set
of cells is a uint64_t.

What never changes stands in `HexGrid`, built once and shared. What changes with the tiles stands
in `HexEdges`, 128 bytes of plain data that fits into a game's state: two bytes a cell, one bit a
side. An edge between two cells stands in both, one at the rim in the cell that has it. Sets of
solid cells, monsters and floes are arguments. Nothing here needs the GIL or allocates.

Line of sight at range 2 has two readings. A diagonal shot's centre line runs along the whole side
that its two middle cells share, the spine; crystal there blocks in both. In SPINE each of the two
sides is closed by a blocker on its middle cell, by crystal on either side of that cell along the
way, or by the rim; two closed sides block. In STRICT they never do.
"""
from libc.stdint cimport int8_t, int32_t, uint8_t, uint64_t

from engine_ext.bits cimport bit, has_bit, lowest_bit, pop_bit
from engine_ext.debug cimport QUANDARY_CHECK


cdef enum:
    HEX_CELLS = 64        # most cells of a board
    HEX_SIDES = 63        # a byte with all six sides set

cdef enum:                # readings of the line of sight
    HEX_SPINE = 0
    HEX_STRICT = 1

cdef enum:                # flags: what does not hinder
    HEX_SWIM = 1          # water
    HEX_CLIMB = 2         # crystal; for sight: it is looked through

cdef enum:                # HexGrid.shot: how one cell sees another
    HEX_NO_SHOT = -1      # itself, or farther than 2
    HEX_ADJACENT = 0      # + direction
    HEX_STRAIGHT = 6      # + direction: two steps that way
    HEX_DIAGONAL = 12     # + direction d: a step d and a step d + 1 (mod 6)


ctypedef struct HexGrid:
    int32_t n_cells
    int8_t q[HEX_CELLS]
    int8_t r[HEX_CELLS]
    int8_t next[HEX_CELLS][6]            # the neighbour in a direction, -1 off the board
    uint64_t near[HEX_CELLS]             # all neighbours
    uint64_t ring[HEX_CELLS]             # all cells at distance 2
    uint64_t fan_low[HEX_CELLS][8]       # neighbours in the directions 0, 1, 2 of a 3-bit set
    uint64_t fan_high[HEX_CELLS][8]      # likewise for the directions 3, 4, 5
    uint8_t distance[HEX_CELLS][HEX_CELLS]   # on the endless lattice, whatever lies between
    int8_t shot[HEX_CELLS][HEX_CELLS]    # by shooter, target: HEX_NO_SHOT, or kind + direction
    int8_t target[HEX_CELLS][12]         # cell 2 straight (0-5) or diagonally (6-11) away by direction, or -1
    uint64_t cells                       # all cells


ctypedef struct HexEdges:
    uint8_t water[HEX_CELLS]             # bit d: unfrozen water on the side in direction d
    uint8_t crystal[HEX_CELLS]           # bit d: crystal there


ctypedef struct HexMover:
    uint64_t through    # cells it may enter: not solid, no enemy, no foreign camp; its own cell included
    uint64_t free       # cells where it may stop, and into which it may slide; its own cell included
    uint64_t stop       # cells that end its movement when entered (an unclaimed idol)
    uint64_t ice        # floes: who enters slides on
    uint64_t helped     # one crystal side may be crossed from or into these cells; 0 for none
    int32_t flags       # HEX_SWIM | HEX_CLIMB


# ---- edges --------------------------------------------------------------------------------------

cdef inline int32_t hex_turn(int32_t sides, int32_t turns) noexcept nogil:
    """A set of sides, turned clockwise by so many sixths, 0 to 5."""
    return (sides << turns | sides >> (6 - turns)) & HEX_SIDES


cdef inline void hex_put_tile(const HexGrid *grid, const uint8_t *water, const uint8_t *crystal,
                              uint64_t ice, int32_t cell, HexEdges *edges) noexcept nogil:
    """Write the sides of one cell from what is printed on the tiles, and its neighbours' sides that
    it shares. A side has water or crystal when either of its two tiles prints it; water on a side
    of a floe is frozen and hinders nobody.

    water, crystal: [n_cells] printed sides by cell, already turned as the tile lies.
    """
    cdef int32_t d, back, other
    cdef int32_t wet, wall, wets = 0, walls = 0
    for d in range(6):
        other = grid.next[cell][d]
        back = d + 3 if d < 3 else d - 3
        wet = water[cell] >> d & 1
        wall = crystal[cell] >> d & 1
        if other >= 0:
            wet |= water[other] >> back & 1
            wall |= crystal[other] >> back & 1
            if has_bit(ice, other):
                wet = 0
        if has_bit(ice, cell):
            wet = 0
        if other >= 0:
            edges.water[other] = <uint8_t>((edges.water[other] & ~(1 << back)) | wet << back)
            edges.crystal[other] = <uint8_t>((edges.crystal[other] & ~(1 << back)) | wall << back)
        wets |= wet << d
        walls |= wall << d
    edges.water[cell] = <uint8_t>wets
    edges.crystal[cell] = <uint8_t>walls


cdef inline void hex_put_tiles(const HexGrid *grid, const uint8_t *water, const uint8_t *crystal,
                               uint64_t ice, HexEdges *edges) noexcept nogil:
    """`hex_put_tile` for all cells."""
    cdef int32_t cell
    for cell in range(grid.n_cells):
        hex_put_tile(grid, water, crystal, ice, cell, edges)


# ---- strikes and movement -----------------------------------------------------------------------

cdef inline uint64_t hex_fan(const HexGrid *grid, int32_t cell, int32_t sides) noexcept nogil:
    """The neighbours across a set of sides."""
    return grid.fan_low[cell][sides & 7] | grid.fan_high[cell][sides >> 3 & 7]


cdef inline int32_t hex_open(const HexEdges *edges, int32_t cell, int32_t flags) noexcept nogil:
    """The sides of a cell without what hinders under these flags."""
    cdef int32_t water = 0 if flags & HEX_SWIM else HEX_SIDES
    cdef int32_t crystal = 0 if flags & HEX_CLIMB else HEX_SIDES
    return ~((edges.water[cell] & water) | (edges.crystal[cell] & crystal)) & HEX_SIDES


cdef inline uint64_t hex_linked(const HexGrid *grid, const HexEdges *edges, int32_t cell, int32_t flags) noexcept nogil:
    """The neighbours connected with a cell: whom it can strike, where it can step. Solid cells are
    the caller's to take out."""
    return hex_fan(grid, cell, hex_open(edges, cell, flags))


cdef inline uint64_t hex_slide(const HexGrid *grid, const HexEdges *edges, const HexMover *mover,
                               int32_t cell, int32_t direction) noexcept nogil:
    """Where a mover comes to rest that has just entered `cell` in this direction, as a set: the
    first cell that is no floe, or the floe on which something blocks it. Empty when that floe is
    taken: then the cell cannot be entered that way."""
    cdef int32_t ahead
    while has_bit(mover.ice & ~mover.stop, cell):
        ahead = grid.next[cell][direction]
        if (ahead < 0 or not has_bit(mover.through & mover.free, ahead)
                or not has_bit(hex_open(edges, cell, mover.flags), direction)):
            return bit(cell) & mover.free
        cell = ahead
    return bit(cell)


cdef inline uint64_t _hex_enter(const HexGrid *grid, const HexEdges *edges, const HexMover *mover,
                                int32_t cell, int32_t sides) noexcept nogil:
    """Where one step from a cell across any of these sides ends."""
    cdef uint64_t entered = hex_fan(grid, cell, sides) & mover.through
    cdef uint64_t rest
    cdef int32_t d, other
    if not entered & mover.ice:
        return entered
    rest = entered & ~mover.ice
    for d in range(6):
        other = grid.next[cell][d]
        if sides >> d & 1 and other >= 0 and has_bit(entered & mover.ice, other):
            rest |= hex_slide(grid, edges, mover, other, d)
    return rest


cdef inline uint64_t hex_flood(const HexGrid *grid, const HexEdges *edges, const HexMover *mover,
                               int32_t start, int32_t steps) noexcept nogil:
    """Cells a mover can be on after 1 to `steps` steps, its own cell left out. It may stop on those
    that are in mover.free; the others it only passes."""
    cdef uint64_t reached = bit(start), crossed = 0, edge = reached, far_edge = 0
    cdef uint64_t fresh, far_fresh, over
    cdef int32_t _step, cell, wall, d, other, wet
    QUANDARY_CHECK(0 <= start < grid.n_cells, "hex_flood: the start is off the board")
    for _step in range(steps):
        fresh = far_fresh = 0
        while edge:
            cell = pop_bit(&edge)
            fresh |= _hex_enter(grid, edges, mover, cell, hex_open(edges, cell, mover.flags))
            if mover.helped:                 # over one wall, into the layer of those who have crossed
                wet = 0 if mover.flags & HEX_SWIM else edges.water[cell]
                wall = edges.crystal[cell] & ~wet
                if not has_bit(mover.helped, cell):
                    for d in range(6):
                        other = grid.next[cell][d]
                        if other < 0 or not has_bit(mover.helped, other):
                            wall &= ~(1 << d)
                far_fresh |= _hex_enter(grid, edges, mover, cell, wall)
        while far_edge:
            cell = pop_bit(&far_edge)
            far_fresh |= _hex_enter(grid, edges, mover, cell, hex_open(edges, cell, mover.flags))
        edge = fresh & ~reached
        reached |= fresh
        over = far_fresh & ~(reached | crossed)   # who needs no help to be there is better off
        crossed |= far_fresh
        far_edge = over & ~mover.stop
        edge &= ~mover.stop
        if not edge | far_edge:
            break
    return (reached | crossed) & ~bit(start)


# ---- line of sight ------------------------------------------------------------------------------

cdef inline bint _hex_side_closed(const HexEdges *edges, uint64_t blockers, int32_t walls,
                                  int32_t shooter, int32_t first, int32_t middle, int32_t second) noexcept nogil:
    """Whether a shot cannot pass by way of a middle cell: a step `first` to it, a step `second` on."""
    return (middle < 0 or has_bit(blockers, middle)
            or ((edges.crystal[shooter] >> first | edges.crystal[middle] >> second) & walls) != 0)


cdef inline bint hex_sight(const HexGrid *grid, const HexEdges *edges, int32_t shooter, int32_t target,
                           uint64_t blockers, int32_t reading, int32_t flags) noexcept nogil:
    """Whether a cell sees another at distance 1 or 2; never farther, never itself.

    blockers: cells with a monster, and solid cells; the two ends do not count.
    reading: HEX_SPINE or HEX_STRICT. flags: HEX_CLIMB looks through crystal.
    """
    cdef int32_t kind = grid.shot[shooter][target]
    cdef int32_t walls = 0 if flags & HEX_CLIMB else 1
    cdef int32_t d, e, a, b
    if kind < HEX_STRAIGHT:
        return kind >= 0 and not edges.crystal[shooter] >> kind & walls
    if kind < HEX_DIAGONAL:
        d = kind - HEX_STRAIGHT
        return not _hex_side_closed(edges, blockers, walls, shooter, d, grid.next[shooter][d], d)
    d = kind - HEX_DIAGONAL
    e = d + 1 if d < 5 else 0
    a = grid.next[shooter][d]
    b = grid.next[shooter][e]
    # The spine is the side of a in direction d + 2, which is the side of b in direction d + 5.
    if a >= 0 and edges.crystal[a] >> (d + 2 if d < 4 else d - 4) & walls:
        return False
    if b >= 0 and edges.crystal[b] >> (d - 1 if d > 0 else 5) & walls:
        return False
    return reading == HEX_STRICT or not (
        _hex_side_closed(edges, blockers, walls, shooter, d, a, e)
        and _hex_side_closed(edges, blockers, walls, shooter, e, b, d))


cdef inline uint64_t hex_targets(const HexGrid *grid, const HexEdges *edges, int32_t shooter,
                                 uint64_t among, uint64_t blockers, int32_t reading, int32_t flags) noexcept nogil:
    """Those of the cells `among` that a cell sees."""
    cdef uint64_t todo = among & (grid.near[shooter] | grid.ring[shooter])
    cdef uint64_t seen = 0
    cdef int32_t cell
    while todo:
        cell = pop_bit(&todo)
        seen |= <uint64_t>hex_sight(grid, edges, shooter, cell, blockers, reading, flags) << cell
    return seen


# ---- the Python handle --------------------------------------------------------------------------

cdef class HexBoard:
    cdef HexGrid grid                # borrowed by rules that keep a reference to this object
    cdef HexEdges edges
    cdef uint64_t solid_cells
    cdef uint64_t ice_cells
    cdef readonly tuple cells        # (q, r) by number
    cdef dict _numbers
    cdef uint64_t _mask(self, name, cells) except? 0
    cdef int32_t _cell(self, cell) except -1
    cdef _put_edges(self, name, edges, uint8_t *sides)
    cdef list _edges(self, const uint8_t *sides)
    cdef _mover(self, HexMover *mover, friends, enemies, shared, forbidden, stops, helped, swim, climb)
