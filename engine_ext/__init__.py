"""Game-independent compiled kernels and the contract between games and solvers."""
