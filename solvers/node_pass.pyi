from typing import Any

from numpy.typing import NDArray

from solvers.tree import FlatTree

class NodePass:
    tree: FlatTree
    by_sequence: bool
    arrays: dict[str, NDArray[Any]]
    seat_arrays: list[dict[str, NDArray[Any]]]
    def __init__(self, tree: FlatTree) -> None: ...
