"""Hex boards for Python: checked, readable, and batched over numpy arrays.

The native functions that rules call are inlined from hexgrid.pxd, where directions, readings and
the two structs are explained. Here cells are pairs (q, r) and an edge is a pair of adjacent cells;
the batched methods take cell numbers and sets of cells as uint64 bit masks (`mask`, `cells_of`).

>>> board = HexBoard([(0, 0), (1, 0), (0, 1), (1, 1)], crystal=[((1, 0), (0, 1))])
>>> board.line_of_sight((0, 0), (1, 1))          # crystal on the spine of a diagonal shot
False
>>> board.reachable((0, 0), 2)
[(1, 0), (0, 1), (1, 1)]
"""
import numpy as np

from libc.stdint cimport int32_t, int64_t, uint8_t, uint64_t
from libc.string cimport memset

from engine_ext.bits cimport bit, has_bit, lowest_bit
from engine_ext.errors import BoardError

DIRECTIONS = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))
READINGS = {"spine": HEX_SPINE, "strict": HEX_STRICT}


cdef class HexBoard:
    """A board of 1 to 64 hex cells with what lies on its sides.

    Args:
        cells: pairs (q, r) of ints, -63 to 63; a cell's number is its place in this list.
        water: edges with water, pairs of adjacent cells of which at least one is on the board.
        crystal: edges with a crystal wall, likewise.
        solid: cells that nobody enters and no shot passes.
        ice: floes; they are not solid, and water on their sides is frozen.

    Attributes:
        cells: the cells, a tuple of pairs.

    Native code reads `grid` and `edges` (see hexgrid.pxd) and keeps this object alive.

    Raises:
        BoardError: no cell or too many, a cell twice, an edge whose cells are not adjacent or both
            off the board, a solid cell or floe off the board or both at once.
    """

    def __init__(self, cells, water=(), crystal=(), solid=(), ice=()):
        cdef HexGrid *grid = &self.grid
        cdef uint8_t printed_water[HEX_CELLS]
        cdef uint8_t printed_crystal[HEX_CELLS]
        listed = [_pair("cells", cell) for cell in cells]
        if not 1 <= len(listed) <= HEX_CELLS:
            raise BoardError(f"the board has {len(listed)} cells, allowed are 1 to {HEX_CELLS}")
        self._numbers = {}
        for number, cell in enumerate(listed):
            if cell in self._numbers:
                raise BoardError(f"cell {cell} is on the board twice")
            self._numbers[cell] = number
        self.cells = tuple(listed)
        memset(grid, 0, sizeof(HexGrid))
        grid.n_cells = len(listed)
        for number, (q, r) in enumerate(listed):
            grid.q[number], grid.r[number] = q, r
            grid.cells |= bit(number)
            for other, (other_q, other_r) in enumerate(listed):
                dq, dr = other_q - q, other_r - r
                away = max(abs(dq), abs(dr), abs(dq + dr))
                grid.distance[number][other] = away
                grid.shot[number][other] = HEX_NO_SHOT
                if away == 1:
                    grid.near[number] |= bit(other)
                elif away == 2:
                    grid.ring[number] |= bit(other)
            for d in range(6):
                step, turn = DIRECTIONS[d], DIRECTIONS[(d + 1) % 6]
                other = grid.next[number][d] = self._numbers.get((q + step[0], r + step[1]), -1)
                if other >= 0:
                    grid.shot[number][other] = HEX_ADJACENT + d
                other = grid.target[number][d] = self._numbers.get((q + 2 * step[0], r + 2 * step[1]), -1)
                if other >= 0:
                    grid.shot[number][other] = HEX_STRAIGHT + d
                bent = (q + step[0] + turn[0], r + step[1] + turn[1])
                other = grid.target[number][6 + d] = self._numbers.get(bent, -1)
                if other >= 0:
                    grid.shot[number][other] = HEX_DIAGONAL + d
            for sides in range(8):
                for d in range(3):
                    if sides >> d & 1 and grid.next[number][d] >= 0:
                        grid.fan_low[number][sides] |= bit(grid.next[number][d])
                    if sides >> d & 1 and grid.next[number][d + 3] >= 0:
                        grid.fan_high[number][sides] |= bit(grid.next[number][d + 3])
        self.solid_cells = self._mask("solid", solid)
        self.ice_cells = self._mask("ice", ice)
        if self.solid_cells & self.ice_cells:
            both = self.cells[lowest_bit(self.solid_cells & self.ice_cells)]
            raise BoardError(f"cell {both} is both solid and ice: a floe is an obstacle that has melted")
        memset(printed_water, 0, sizeof(printed_water))
        memset(printed_crystal, 0, sizeof(printed_crystal))
        self._put_edges("water", water, printed_water)
        self._put_edges("crystal", crystal, printed_crystal)
        memset(&self.edges, 0, sizeof(HexEdges))
        hex_put_tiles(grid, printed_water, printed_crystal, self.ice_cells, &self.edges)

    cdef _put_edges(self, name, edges, uint8_t *sides):
        """Set the bits of these edges in the cells they bound."""
        for edge in edges:
            try:
                one, two = edge
            except (TypeError, ValueError):
                raise BoardError(f"{name}: an edge is a pair of cells, not {edge!r}") from None
            one, two = _pair(name, one), _pair(name, two)
            step = (two[0] - one[0], two[1] - one[1])
            if step not in DIRECTIONS:
                raise BoardError(f"{name}: cells {one} and {two} share no side")
            if one not in self._numbers and two not in self._numbers:
                raise BoardError(f"{name}: neither {one} nor {two} is on the board")
            d = DIRECTIONS.index(step)
            if one in self._numbers:
                sides[<int>self._numbers[one]] |= 1 << d
            if two in self._numbers:
                sides[<int>self._numbers[two]] |= 1 << (d + 3) % 6

    cdef int32_t _cell(self, cell) except -1:
        """The cell's number."""
        number = self._numbers.get(_pair("cell", cell))
        if number is None:
            raise BoardError(f"cell {tuple(cell)} is not on the board of {self.grid.n_cells} cells")
        return number

    cdef uint64_t _mask(self, name, cells) except? 0:
        cdef uint64_t mask = 0
        for cell in cells:
            number = self._numbers.get(_pair(name, cell))
            if number is None:
                raise BoardError(f"{name}: cell {tuple(cell)} is not on the board of {self.grid.n_cells} cells")
            mask |= bit(number)
        return mask

    # ---- cells -----------------------------------------------------------------------------

    def __len__(self):
        return self.grid.n_cells

    def __repr__(self):
        return f"<HexBoard of {self.grid.n_cells} cells>"

    def __reduce__(self):
        return type(self), (self.cells, self._edges(self.edges.water), self._edges(self.edges.crystal),
                            self.cells_of(self.solid_cells), self.cells_of(self.ice_cells))

    cdef list _edges(self, const uint8_t *sides):
        """All edges with a bit set, once each."""
        found = []
        for number, (q, r) in enumerate(self.cells):
            for d, (dq, dr) in enumerate(DIRECTIONS):
                if sides[<int>number] >> d & 1 and (d < 3 or self.grid.next[<int>number][<int>d] < 0):
                    found.append(((q, r), (q + dq, r + dr)))
        return found

    @property
    def water(self):
        """Edges with water that is not frozen, a list of pairs of cells."""
        return self._edges(self.edges.water)

    @property
    def crystal(self):
        """Edges with crystal, a list of pairs of cells."""
        return self._edges(self.edges.crystal)

    @property
    def solid(self):
        """Solid cells."""
        return self.cells_of(self.solid_cells)

    @property
    def ice(self):
        """Floes."""
        return self.cells_of(self.ice_cells)

    def number(self, cell):
        """The cell's number.

        Raises:
            BoardError: not on the board.
        """
        return self._cell(cell)

    def mask(self, cells):
        """A set of cells as an int, bit i for cell number i."""
        return self._mask("cells", cells)

    def cells_of(self, mask):
        """The cells of such an int, a list in the order of their numbers.

        Raises:
            BoardError: a bit beyond the board.
        """
        if not 0 <= mask < 2**64 or int(mask) & ~int(self.grid.cells):
            raise BoardError(f"{mask:#x} is no set of cells of a board of {self.grid.n_cells} cells")
        return [cell for number, cell in enumerate(self.cells) if int(mask) >> number & 1]

    def distance(self, a, b):
        """Steps from a to b on the endless lattice, whatever lies between."""
        return self.grid.distance[self._cell(a)][self._cell(b)]

    def neighbours(self, cell):
        """All cells around a cell, whatever lies on the sides."""
        return self.cells_of(self.grid.near[self._cell(cell)])

    def linked(self, cell, swim=False, climb=False):
        """Cells connected with a cell: no water (unless swim) and no crystal (unless climb) on the
        side between, and neither is solid. Whom a monster there can strike."""
        cdef int32_t number = self._cell(cell)
        if has_bit(self.solid_cells, number):
            return []
        return self.cells_of(hex_linked(&self.grid, &self.edges, number, _flags(swim, climb)) & ~self.solid_cells)

    # ---- movement --------------------------------------------------------------------------

    cdef _mover(self, HexMover *mover, friends, enemies, shared, forbidden, stops, helped, swim, climb):
        """Fill a mover; all sets are masks."""
        for name, mask in (("shared", shared), ("forbidden", forbidden), ("stops", stops), ("helped", helped)):
            if not isinstance(mask, (int, np.integer)) or mask < 0 or int(mask) & ~int(self.grid.cells):
                raise BoardError(f"{name} is {mask!r}, no set of cells of a board of {self.grid.n_cells} cells")
        if friends & enemies:
            raise BoardError(f"cell {self.cells_of(friends & enemies)[0]} holds a friend and an enemy")
        mover.through = self.grid.cells & ~(self.solid_cells | <uint64_t>enemies | <uint64_t>forbidden)
        mover.free = mover.through & (~<uint64_t>friends | <uint64_t>shared)
        mover.stop, mover.ice, mover.helped = stops, self.ice_cells, helped
        mover.flags = _flags(swim, climb)

    def reachable(self, start, steps, friends=(), enemies=(), *, shared=(), forbidden=(), stops=(), helped=(),
                  swim=False, climb=False):
        """Where a movement of 1 to `steps` steps can end.

        Args:
            start: the mover's cell.
            steps: 0 to 64.
            friends: cells of own monsters: it passes them but cannot stop there.
            enemies: cells it can neither pass nor stop on.
            shared: cells where friends do not keep it from stopping (an own camp).
            forbidden: further cells it may not enter (foreign camps).
            stops: cells that end the movement when entered (an unclaimed idol).
            helped: one crystal side may be crossed in the movement, from or into one of these cells.
            swim: water does not hinder.
            climb: crystal does not hinder.

        Whoever enters a floe slides on in the same direction to the first cell that is none, and
        stops on the floe when a monster, crystal, a cell it may not enter or the rim blocks it; a
        floe that is taken and blocked cannot be entered.

        Returns:
            The cells, in the order of their numbers, never the start.

        Raises:
            BoardError: a cell off the board, a start that is solid or an enemy's, a friend on an
                enemy's cell, or steps out of range.
        """
        cdef HexMover mover
        cdef int32_t cell = self._cell(start)
        cdef uint64_t own = bit(cell)
        if isinstance(steps, bool) or not isinstance(steps, (int, np.integer)) or not 0 <= steps <= 64:
            raise BoardError(f"steps is {steps!r}, allowed are 0 to 64")
        self._mover(&mover, self._mask("friends", friends) & ~own, self._mask("enemies", enemies),
                    self._mask("shared", shared), self._mask("forbidden", forbidden), self._mask("stops", stops),
                    self._mask("helped", helped), swim, climb)
        if not has_bit(mover.through, cell):
            raise BoardError(f"start {tuple(start)} is solid, forbidden or an enemy's cell")
        return self.cells_of(hex_flood(&self.grid, &self.edges, &mover, cell, steps) & mover.free)

    def slide(self, cell, direction, monsters=(), forbidden=(), stops=()):
        """Where a monster comes to rest that enters a cell in a direction, 0 to 5.

        Returns:
            The cell itself unless it is a floe; None where the floe is taken and blocked.
        """
        cdef HexMover mover
        if direction not in range(6):
            raise BoardError(f"direction is {direction!r}, allowed are 0 to 5")
        self._mover(&mover, self._mask("monsters", monsters), 0, 0, self._mask("forbidden", forbidden),
                    self._mask("stops", stops), 0, False, False)
        rest = self.cells_of(hex_slide(&self.grid, &self.edges, &mover, self._cell(cell), direction))
        return rest[0] if rest else None

    # ---- line of sight ---------------------------------------------------------------------

    def line_of_sight(self, a, b, occupied=(), reading="spine", through_crystal=False):
        """Whether a cell sees another at distance 1 or 2.

        Args:
            a, b: the two cells; sight is mutual.
            occupied: cells with a monster; those of a and b do not matter. Solid cells block too.
            reading: "spine" or "strict" (see hexgrid.pxd).
            through_crystal: crystal does not block.

        Raises:
            BoardError: a cell off the board, or an unknown reading.
        """
        return hex_sight(&self.grid, &self.edges, self._cell(a), self._cell(b),
                         self._mask("occupied", occupied) | self.solid_cells, _reading(reading),
                         HEX_CLIMB if through_crystal else 0)

    def visible(self, a, occupied=(), reading="spine", through_crystal=False):
        """All cells that a cell sees, in the order of their numbers; arguments as `line_of_sight`."""
        return self.cells_of(hex_targets(
            &self.grid, &self.edges, self._cell(a), self.grid.cells,
            self._mask("occupied", occupied) | self.solid_cells, _reading(reading),
            HEX_CLIMB if through_crystal else 0))

    # ---- batches ---------------------------------------------------------------------------

    def lines_of_sight(self, shooters, targets, occupied=0, reading="spine", through_crystal=False):
        """Many lines of sight at once; the three arrays are broadcast.

        Args:
            shooters, targets: cell numbers.
            occupied: sets of cells with monsters, uint64 masks.

        Returns:
            bool array of the common shape.
        """
        shooters, targets, occupied = self._arrays(("shooters", shooters), ("targets", targets), masks=(
            ("occupied", occupied),))
        shape = shooters.shape
        cdef const int32_t[::1] a = shooters.reshape(-1)
        cdef const int32_t[::1] b = targets.reshape(-1)
        cdef const uint64_t[::1] blockers = occupied.reshape(-1)
        cdef int64_t count = a.shape[0], i
        cdef int32_t kind = _reading(reading), flags = HEX_CLIMB if through_crystal else 0
        seen = np.empty(count, dtype=np.uint8)
        cdef uint8_t[::1] out = seen
        with nogil:
            for i in range(count):
                out[i] = hex_sight(&self.grid, &self.edges, a[i], b[i], blockers[i] | self.solid_cells, kind, flags)
        return seen.view(np.bool_).reshape(shape)

    def floods(self, starts, steps, friends=0, enemies=0, *, shared=0, forbidden=0, stops=0, helped=0,
               swim=False, climb=False):
        """Many movements at once: `reachable` over arrays.

        Args:
            starts: cell numbers; steps: 0 to 64; friends, enemies: uint64 masks; these four are
                broadcast.
            shared, forbidden, stops, helped: int masks, the same for all.

        Returns:
            uint64 masks of the cells where the movement can end, of the common shape; 0 for a start
            that is solid, forbidden or an enemy's.
        """
        starts, steps, friends, enemies = self._arrays(("starts", starts), ("steps", steps), masks=(
            ("friends", friends), ("enemies", enemies)))
        shape = starts.shape
        cdef HexMover mover
        self._mover(&mover, 0, 0, shared, forbidden, stops, helped, swim, climb)
        cdef const int32_t[::1] at = starts.reshape(-1)
        cdef const int32_t[::1] far = steps.reshape(-1)
        cdef const uint64_t[::1] own = friends.reshape(-1)
        cdef const uint64_t[::1] others = enemies.reshape(-1)
        cdef int64_t count = at.shape[0], i
        cdef uint64_t open_cells = mover.through, shared_cells = shared
        ends = np.empty(count, dtype=np.uint64)
        cdef uint64_t[::1] out = ends
        with nogil:
            for i in range(count):
                mover.through = open_cells & ~others[i]
                mover.free = mover.through & (~own[i] | shared_cells | bit(at[i]))
                if has_bit(mover.through, at[i]):
                    out[i] = hex_flood(&self.grid, &self.edges, &mover, at[i], far[i]) & mover.free
                else:
                    out[i] = 0
        return ends.reshape(shape)

    def _arrays(self, first, second, masks):
        """Checked and broadcast arrays: two of ints, the others of uint64 masks."""
        arrays = []
        for name, values in (first, second):
            array = np.asarray(values)
            most = 64 if name == "steps" else self.grid.n_cells - 1
            if array.dtype.kind not in "iu" or (array.size and not (0 <= array.min() and array.max() <= most)):
                raise BoardError(f"{name} must be whole numbers from 0 to {most}")
            arrays.append(array.astype(np.int32))
        for name, values in masks:
            array = np.asarray(values)
            if array.dtype.kind not in "iu" or (array.dtype.kind == "i" and array.size and array.min() < 0):
                raise BoardError(f"{name} must be sets of cells as uint64 masks")
            array = array.astype(np.uint64)
            if (array & np.uint64(2**64 - 1 - int(self.grid.cells))).any():
                raise BoardError(f"{name} has bits beyond the {self.grid.n_cells} cells of the board")
            arrays.append(array)
        try:
            return [np.array(array, order="C") for array in np.broadcast_arrays(*arrays)]
        except ValueError as error:
            raise BoardError(f"the arrays do not fit together: {error}") from None


def _pair(name, cell):
    """A cell as a pair of ints."""
    try:
        q, r = cell
    except (TypeError, ValueError):
        raise BoardError(f"{name}: a cell is a pair (q, r), not {cell!r}") from None
    for value in (q, r):
        if isinstance(value, bool) or not isinstance(value, (int, np.integer)) or not -63 <= value <= 63:
            raise BoardError(f"{name}: cell {cell!r} must be a pair of whole numbers from -63 to 63")
    return int(q), int(r)


def _reading(reading):
    """The number of a reading."""
    if reading not in READINGS:
        raise BoardError(f"reading is {reading!r}, allowed are {', '.join(READINGS)}")
    return READINGS[reading]


cdef int32_t _flags(bint swim, bint climb):
    return (HEX_SWIM if swim else 0) | (HEX_CLIMB if climb else 0)
