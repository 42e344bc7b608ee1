from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from solvers.contract import SolverSpec
from solvers.policies import TabularPolicy
from solvers.tree import FlatTree

SOLVERS: tuple[SolverSpec, ...]

class CFRSolver:
    tree: FlatTree
    variant: str
    updates: str
    form: str
    alpha: float
    beta: float
    gamma: float
    iterations: int
    seconds: float
    def __init__(
        self,
        tree: FlatTree,
        *,
        variant: str = "cfr",
        updates: str = "alternating",
        form: str = "auto",
        alpha: float = 1.5,
        beta: float = 0.0,
        gamma: float | None = None,
        base_only: bool = False,
    ) -> None: ...
    def run(self, iterations: int) -> None: ...
    def run_for(self, seconds: float) -> int: ...
    def average_policy(self) -> TabularPolicy: ...
    def current_policy(self) -> TabularPolicy: ...
    def regrets(self) -> NDArray[np.float64]: ...
    def nash_conv(self) -> float: ...
    def exploitability(self) -> float: ...
    def save(self, path: str | Path) -> None: ...
    def load(self, path: str | Path) -> None: ...

def uniform_policy(tree: FlatTree) -> NDArray[np.float64]: ...
def normalised(tree: FlatTree, weights: NDArray[np.float64]) -> NDArray[np.float64]: ...
