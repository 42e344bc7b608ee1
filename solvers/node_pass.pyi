from typing import Any

import numpy as np
from numpy.typing import NDArray

from solvers.tree import FlatTree

class NodePass:
    tree: FlatTree
    arrays: dict[str, NDArray[Any]]
    def __init__(self, tree: FlatTree) -> None: ...
    def expected_values(self, policy: NDArray[np.float64]) -> NDArray[np.float64]: ...
