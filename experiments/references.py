"""Plain, slow, readable versions of the compiled kernels.

They are what the kernels are measured against (`quandary profile kernels`) and, in the tests, what
they must agree with. Each is written from the rule, in the obvious way, with the tools one would
reach for first: sets, permutations, networkx.
"""

from __future__ import annotations

import itertools
from collections.abc import Collection, Iterable, Sequence

import networkx as nx

Cell = tuple[int, int]
Edge = tuple[Cell, Cell]

DIRECTIONS: tuple[Cell, ...] = ((1, 0), (0, 1), (-1, 1), (-1, 0), (0, -1), (1, -1))


# ---- hex boards ---------------------------------------------------------------------------------


def step(cell: Cell, direction: int) -> Cell:
    """The next cell in a direction, 0 E to 5 NE clockwise."""
    dq, dr = DIRECTIONS[direction]
    return cell[0] + dq, cell[1] + dr


class HexReference:
    """A hex board as a networkx graph; arguments as `engine_ext.hexgrid.HexBoard`.

    An edge of the graph joins any two adjacent cells; its attributes `water` and `crystal` say what
    lies on their common side. Sides at the rim are kept apart, in `rim`.
    """

    def __init__(
        self,
        cells: Iterable[Cell],
        water: Iterable[Edge] = (),
        crystal: Iterable[Edge] = (),
        solid: Collection[Cell] = (),
        ice: Collection[Cell] = (),
    ) -> None:
        self.graph = nx.Graph()
        self.graph.add_nodes_from(cells)
        self.solid = set(solid)
        self.ice = set(ice)
        self.rim: set[frozenset[Cell]] = set()
        for cell in list(self.graph):
            for direction in range(6):
                if step(cell, direction) in self.graph:
                    self.graph.add_edge(cell, step(cell, direction), water=False, crystal=False)
        for one, two in water:
            if self.graph.has_edge(one, two) and not {one, two} & self.ice:
                self.graph.edges[one, two]["water"] = True
        for one, two in crystal:
            if self.graph.has_edge(one, two):
                self.graph.edges[one, two]["crystal"] = True
            else:
                self.rim.add(frozenset((one, two)))

    def has_crystal(self, one: Cell, two: Cell) -> bool:
        """Whether crystal lies between two adjacent cells, of which one may be off the board."""
        if self.graph.has_edge(one, two):
            return bool(self.graph.edges[one, two]["crystal"])
        return frozenset((one, two)) in self.rim

    def connected(self, one: Cell, two: Cell, swim: bool, climb: bool) -> bool:
        """Whether one can step from a cell to an adjacent one, both on the board."""
        side = self.graph.edges[one, two]
        return not (side["water"] and not swim) and not (side["crystal"] and not climb)

    def line_of_sight(self, a: Cell, b: Cell, occupied: Collection[Cell] = (), reading: str = "spine") -> bool:
        """Whether a sees b at distance 1 or 2."""
        blockers = set(occupied) | self.solid
        steps = [(first, second) for first in range(6) for second in range(6) if step(step(a, first), second) == b != a]
        if b in self.graph[a]:
            return not self.has_crystal(a, b)
        middles = [step(a, first) for first, _ in steps]

        def closed(middle: Cell) -> bool:
            return (
                middle not in self.graph
                or middle in blockers
                or self.has_crystal(a, middle)
                or self.has_crystal(middle, b)
            )

        if len(middles) == 1:  # straight
            return not closed(middles[0])
        if len(middles) == 2:  # diagonal, along the side between the two middle cells
            if self.has_crystal(*middles):
                return False
            return reading == "strict" or not (closed(middles[0]) and closed(middles[1]))
        return False

    def slide(self, cell: Cell, direction: int, allowed: set[Cell], free: set[Cell], stops: set[Cell]) -> Cell | None:
        """Where a mover rests that entered `cell` in this direction; None where it cannot."""
        while cell in self.ice and cell not in stops:
            ahead = step(cell, direction)
            if ahead not in self.graph or ahead not in allowed & free or not self.connected(cell, ahead, False, False):
                return cell if cell in free else None
            cell = ahead
        return cell

    def reachable(
        self,
        start: Cell,
        steps: int,
        friends: Collection[Cell] = (),
        enemies: Collection[Cell] = (),
        stops: Collection[Cell] = (),
        swim: bool = False,
        climb: bool = False,
    ) -> set[Cell]:
        """Where a movement of 1 to `steps` steps can end, without ice: a breadth-first search of the
        graph of cells that may be entered across open sides."""
        barred = set(enemies) | self.solid
        view = nx.subgraph_view(
            self.graph,
            filter_node=lambda cell: cell not in barred,
            filter_edge=lambda one, two: self.connected(one, two, swim, climb),
        )
        walk = nx.DiGraph()
        walk.add_edges_from((one, two) for one in view for two in view[one] if one == start or one not in stops)
        if start not in walk:
            return set()
        near = nx.single_source_shortest_path_length(walk, start, cutoff=steps)
        return set(near) - set(friends) - {start}

    def reachable_with_ice(
        self,
        start: Cell,
        steps: int,
        friends: Collection[Cell] = (),
        enemies: Collection[Cell] = (),
        stops: Collection[Cell] = (),
        helped: Collection[Cell] = (),
    ) -> set[Cell]:
        """The same for walkers, with sliding on floes and help over one wall: every movement is tried."""
        cells = set(self.graph)
        allowed = cells - set(enemies) - self.solid
        free = (allowed - set(friends)) | {start}
        places: set[tuple[Cell, bool]] = {(start, False)}  # where, and whether the help is used up
        every = set(places)
        for _ in range(steps):
            after: set[tuple[Cell, bool]] = set()
            for cell, crossed in places:
                if cell in stops and cell != start:
                    continue
                for direction in range(6):
                    other = step(cell, direction)
                    if other not in allowed or self.graph.edges[cell, other]["water"]:
                        continue
                    wall = self.graph.edges[cell, other]["crystal"]
                    if wall and (crossed or not {cell, other} & set(helped)):
                        continue
                    rest = self.slide(other, direction, allowed, free, set(stops))
                    if rest is not None:
                        after.add((rest, crossed or wall))
            places = after - every
            every |= after
        return {cell for cell, _ in every if cell in free} - {start}


# ---- attacks ------------------------------------------------------------------------------------


def resolve_attack(total: int, defenses: Sequence[int], order: Iterable[int]) -> int:
    """The bitmask of creatures lost when they take an attack in this order: one is destroyed when
    the remainder is above 0 and at least its defence, which is taken off; the first that survives
    ends the defence."""
    lost = 0
    for creature in order:
        if total <= 0 or total < defenses[creature]:
            break
        total -= defenses[creature]
        lost |= 1 << creature
    return lost


def attack_outcomes(total: int, defenses: Sequence[int]) -> list[int]:
    """All sets of creatures that can be lost, over all orders, as sorted bitmasks."""
    return sorted({resolve_attack(total, defenses, order) for order in itertools.permutations(range(len(defenses)))})


def attack_best(total: int, defenses: Sequence[int], values: Sequence[float]) -> float:
    """The most value that can be kept."""
    return max(
        sum(value for creature, value in enumerate(values) if not lost >> creature & 1)
        for lost in attack_outcomes(total, defenses)
    )
