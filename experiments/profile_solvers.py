"""How fast the solvers are, beside OpenSpiel's own: `quandary profile solvers`.

Both sides of a ratio do the same work on the same game, one thread, in the same rounds:

| ratio | ours | OpenSpiel's |
|---|---|---|
| cfr_GAME_ratio | alternating CFR on the sequence form | pyspiel.CFRSolver |
| cfr_GAME_tree_ratio | the same by the pass over the tree's nodes | pyspiel.CFRSolver |
| exploitability_leduc_ratio | of the uniform policy, from its probabilities | pyspiel.exploitability |
| mccfr_es_leduc_ratio | external sampling, iterations of one walk a player | pyspiel.ExternalSamplingMCCFRSolver |
| uct_pig_ratio | plain UCT on a tree, random playouts, 10,000 simulations a search | pyspiel.MCTSBot |
| ismcts_kuhn_ratio | IS-MCTS on our own Kuhn poker, 10,000 simulations a search | pyspiel.ISMCTSBot |
| ismcts_leduc_ratio | IS-MCTS on the extracted tree of leduc_poker | pyspiel.ISMCTSBot |
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import pyspiel

import games
from experiments.profile import (
    EQUAL_BUDGET,
    ROUNDS,
    UCT_C,
    Meter,
    cpp_mcts,
    first_decision,
    frame,
    interleave,
    median_rate,
    median_ratio,
    of_others,
    own_mcts,
    plain,
    ranges,
)
from solvers.best_response import exploitability
from solvers.cfr import CFRSolver
from solvers.extraction import extract
from solvers.mccfr import TreeMCCFR
from solvers.policies import TabularPolicy
from solvers.tree import FlatTree
from solvers.tree_rules import TreeRules

CFR_GAMES = {"leduc": "leduc_poker", "kuhn": "kuhn_poker", "liars4": "liars_dice(dice_sides=4)"}


def _ours(solver: Any) -> Callable[[int], float]:
    def run(n: int) -> float:
        solver.run(n)
        return n

    return run


def _theirs(step: Callable[[], object]) -> Callable[[int], float]:
    def run(n: int) -> float:
        for _ in range(n):
            step()
        return n

    return run


def _exploitabilities(tree: FlatTree) -> Callable[[int], float]:
    policy = TabularPolicy.uniform(tree)

    def run(n: int) -> float:
        for _ in range(n):
            exploitability(policy)
        return n

    return run


def _cpp_ismcts(state: pyspiel.State, seed: int) -> Callable[[int], float]:
    evaluator = pyspiel.RandomRolloutEvaluator(1, seed)
    kinds = pyspiel.ISMCTSFinalPolicyType

    def search(simulations: int) -> float:
        bot = pyspiel.ISMCTSBot(seed, evaluator, UCT_C, simulations, -1, kinds.MAX_VISIT_COUNT, False, False)
        bot.step_with_policy(state)
        return simulations

    return search


def profile_solvers(*, seconds: float = 20.0, seed: int = 0, rounds: int = ROUNDS) -> dict[str, Any]:
    """Measure every solver beside OpenSpiel's.

    Args:
        seconds: processor time to spend, about.
        seed: of everything random.
        rounds: interleaved rounds.

    Returns:
        Rates per second of both sides under names ending in `_per_s`, each ratio as
        `NAME_ratio` and again under `ratios`, the `ranges` of the rounds, and
        under `references` the names of OpenSpiel's rates.
    """
    result = frame("solvers", seconds=seconds, rounds=rounds, seed=seed)
    rng = random.Random(seed)
    meters: dict[str, Meter] = {}
    ratios: dict[str, tuple[str, str]] = {}

    for short, name in CFR_GAMES.items():
        tree = extract(name)
        meters[f"cfr_{short}_per_s"] = Meter(_ours(CFRSolver(tree, form="sequence")), 16)
        meters[f"cfr_{short}_tree_per_s"] = Meter(_ours(CFRSolver(tree, form="tree")), 16)
        meters[f"openspiel_cfr_{short}_per_s"] = Meter(
            _theirs(pyspiel.CFRSolver(pyspiel.load_game(name)).evaluate_and_update_policy)
        )
        ratios[f"cfr_{short}_ratio"] = (f"cfr_{short}_per_s", f"openspiel_cfr_{short}_per_s")
        ratios[f"cfr_{short}_tree_ratio"] = (f"cfr_{short}_tree_per_s", f"openspiel_cfr_{short}_per_s")

    leduc, leduc_tree = pyspiel.load_game("leduc_poker"), extract("leduc_poker")
    uniform = pyspiel.UniformRandomPolicy(leduc)
    meters["exploitability_leduc_per_s"] = Meter(_exploitabilities(leduc_tree))
    meters["openspiel_exploitability_leduc_per_s"] = Meter(_theirs(lambda: pyspiel.exploitability(leduc, uniform)))
    ratios["exploitability_leduc_ratio"] = ("exploitability_leduc_per_s", "openspiel_exploitability_leduc_per_s")

    meters["mccfr_es_leduc_per_s"] = Meter(_ours(TreeMCCFR(leduc_tree, seed=seed)), 16)
    sampler = pyspiel.ExternalSamplingMCCFRSolver(leduc, seed)
    meters["openspiel_mccfr_es_leduc_per_s"] = Meter(_theirs(sampler.run_iteration))
    ratios["mccfr_es_leduc_ratio"] = ("mccfr_es_leduc_per_s", "openspiel_mccfr_es_leduc_per_s")

    pig = pyspiel.load_game("pig")
    start = games.spec("pig").make_rules()
    meters["uct_pig_simulations_per_s"] = Meter(own_mcts(plain("mcts", start), start.initial_position(), seed))
    meters["openspiel_uct_pig_simulations_per_s"] = Meter(
        cpp_mcts(pig, pig.new_initial_state(), seed), EQUAL_BUDGET, fixed=True
    )
    ratios["uct_pig_ratio"] = ("uct_pig_simulations_per_s", "openspiel_uct_pig_simulations_per_s")

    kuhn_rules = games.spec("kuhn").make_rules()
    dealt = kuhn_rules.from_dict({"cards": [1, 2], "bids": ""})
    kuhn_state = pyspiel.load_game("kuhn_poker").new_initial_state()
    for card in (1, 2):
        kuhn_state.apply_action(card)
    leduc_state = first_decision(leduc, rng)
    leduc_rules = TreeRules(leduc_tree)
    leduc_start = leduc_rules.position(leduc_tree.node_of(leduc_state))
    for short, position, state in (("kuhn", dealt, kuhn_state), ("leduc", leduc_start, leduc_state)):
        meters[f"ismcts_{short}_simulations_per_s"] = Meter(own_mcts(plain("ismcts", position.rules), position, seed))
        meters[f"openspiel_ismcts_{short}_simulations_per_s"] = Meter(
            _cpp_ismcts(state, seed), EQUAL_BUDGET, fixed=True
        )
        ratios[f"ismcts_{short}_ratio"] = (
            f"ismcts_{short}_simulations_per_s",
            f"openspiel_ismcts_{short}_simulations_per_s",
        )

    interleave(meters, seconds=seconds, rounds=rounds)
    result |= {key: median_rate(meter.rates) for key, meter in meters.items()}
    result["ratios"] = {key: median_ratio(meters, ours, theirs) for key, (ours, theirs) in ratios.items()}
    result |= result["ratios"]
    result["ranges"] = ranges(meters)
    result["references"] = of_others(meters)
    return result
