from collections.abc import Iterable
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

Cell = tuple[int, int]
Edge = tuple[Cell, Cell]
Reading = Literal["spine", "strict"]

DIRECTIONS: tuple[Cell, Cell, Cell, Cell, Cell, Cell]
READINGS: dict[str, int]

class HexBoard:
    cells: tuple[Cell, ...]
    def __init__(
        self,
        cells: Iterable[Cell],
        water: Iterable[Edge] = (),
        crystal: Iterable[Edge] = (),
        solid: Iterable[Cell] = (),
        ice: Iterable[Cell] = (),
    ) -> None: ...
    def __len__(self) -> int: ...
    @property
    def water(self) -> list[Edge]: ...
    @property
    def crystal(self) -> list[Edge]: ...
    @property
    def solid(self) -> list[Cell]: ...
    @property
    def ice(self) -> list[Cell]: ...
    def number(self, cell: Cell) -> int: ...
    def mask(self, cells: Iterable[Cell]) -> int: ...
    def cells_of(self, mask: int) -> list[Cell]: ...
    def distance(self, a: Cell, b: Cell) -> int: ...
    def neighbours(self, cell: Cell) -> list[Cell]: ...
    def linked(self, cell: Cell, swim: bool = False, climb: bool = False) -> list[Cell]: ...
    def reachable(
        self,
        start: Cell,
        steps: int,
        friends: Iterable[Cell] = (),
        enemies: Iterable[Cell] = (),
        *,
        shared: Iterable[Cell] = (),
        forbidden: Iterable[Cell] = (),
        stops: Iterable[Cell] = (),
        helped: Iterable[Cell] = (),
        swim: bool = False,
        climb: bool = False,
    ) -> list[Cell]: ...
    def slide(
        self,
        cell: Cell,
        direction: int,
        monsters: Iterable[Cell] = (),
        forbidden: Iterable[Cell] = (),
        stops: Iterable[Cell] = (),
    ) -> Cell | None: ...
    def line_of_sight(
        self,
        a: Cell,
        b: Cell,
        occupied: Iterable[Cell] = (),
        reading: Reading = "spine",
        through_crystal: bool = False,
    ) -> bool: ...
    def visible(
        self, a: Cell, occupied: Iterable[Cell] = (), reading: Reading = "spine", through_crystal: bool = False
    ) -> list[Cell]: ...
    def lines_of_sight(
        self,
        shooters: ArrayLike,
        targets: ArrayLike,
        occupied: ArrayLike = 0,
        reading: Reading = "spine",
        through_crystal: bool = False,
    ) -> NDArray[np.bool_]: ...
    def floods(
        self,
        starts: ArrayLike,
        steps: ArrayLike,
        friends: ArrayLike = 0,
        enemies: ArrayLike = 0,
        *,
        shared: int = 0,
        forbidden: int = 0,
        stops: int = 0,
        helped: int = 0,
        swim: bool = False,
        climb: bool = False,
    ) -> NDArray[np.uint64]: ...
