"""Searchers (MCTS, expectimax, ...), policy solvers (the CFR family, ...) and the bots over them."""
