"""Every entry point that takes a seed names a bad one, in the same words, before it does anything."""

from __future__ import annotations

import ast
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import games
import solvers
from engine_ext.errors import ParameterError
from engine_ext.rng import Stream
from engine_ext.seeds import check_seed
from solvers import bots, extraction, induced, specs
from solvers.contract import Limit
from solvers.expectimax import ExpectimaxSearcher
from solvers.game_source import Source
from solvers.info_tree import InfoTree
from solvers.ismcts import IsmctsSearcher
from solvers.mccfr_native import NativeMCCFR
from solvers.mccfr_tree import TreeMCCFR
from solvers.oos import OosSearcher, Sampler
from solvers.policies import TabularPolicy
from solvers.rules_of_thumb import RandomSearcher
from solvers.stages import Stage
from solvers.tree_rules import TreeRules

BAD = (2**64, -1, 1.0, 0.5, float("nan"), "7", None, [1], np.float64(3), 10**400)
PIG = games.spec("pig").make_rules({"goal": 5})
KUHN = games.spec("kuhn").make_rules()
FAVOR = games.spec("quarz").make_rules({"scenario": "favor_duel"})
TREE = extraction.extract(KUHN)
NAMED = "^seed: it must be a whole number from 0 to 18446744073709551615, got "
LIMIT = Limit(simulations=3)


def searching(name: str) -> Callable[[Any], Any]:
    rules = KUHN if name in ("ismcts", "smooth_uct", "oos", "random", "greedy") else PIG
    position = rules.initial_position()
    while position.is_chance_node():
        position.run_chance(Stream(1))
    searcher = specs.make_searcher(name, rules)
    limit = LIMIT if "simulations" in getattr(searcher, "parameters", {}) else None
    return lambda seed: searcher.search(position, seed=seed, limit=limit)


def native() -> NativeMCCFR:
    solver = NativeMCCFR(KUHN)
    solver.run(3)
    return solver


def info_tree(seed: Any) -> InfoTree:
    settings = {**specs.parse_spec("ismcts").parameters}
    return InfoTree(KUHN.initial_position(), seed=seed, thread=0, settings=settings, node_limit=9, depth=None)


# {class or module, name: what passes the seed on}
ENTRIES: dict[tuple[str, str], Callable[[Any], Any]] = {
    ("MctsSearcher", "search"): searching("mcts"),
    ("InformationSetSearcher", "search"): searching("ismcts"),
    ("InformationSetSearcher", "grow"): lambda seed: IsmctsSearcher(simulations=3).grow(
        KUHN.initial_position(), seed=seed
    ),
    ("OosSearcher", "search"): searching("oos"),
    ("OosSearcher", "sample"): lambda seed: OosSearcher(simulations=3).sample(KUHN.initial_position(), seed=seed),
    ("RandomSearcher", "search"): searching("random"),
    ("GreedySearcher", "search"): searching("greedy"),
    ("ExpectimaxSearcher", "search"): lambda seed: ExpectimaxSearcher(depth=1).search(
        games.spec("pentaquest").make_rules().initial_position(), seed=seed
    ),
    ("ValueIterationSearcher", "search"): searching("value_iteration"),
    ("InfoTree", "__init__"): info_tree,
    ("Sampler", "__init__"): lambda seed: Sampler(TREE, seed=seed, epsilon=0.4, delta=0.9, targets=[]),
    ("Stage", "__init__"): lambda seed: Stage(FAVOR.initial_position(), seed=seed, thread=0),
    ("TreeMCCFR", "__init__"): lambda seed: TreeMCCFR(TREE, seed=seed),
    ("NativeMCCFR", "__init__"): lambda seed: NativeMCCFR(KUHN, seed=seed),
    ("NativeMCCFR", "sampled_best_response"): lambda seed: native().sampled_best_response(
        0, iterations=3, games=2, seed=seed
    ),
    ("NativeMCCFR", "nash_conv_bound"): lambda seed: native().nash_conv_bound(iterations=3, games=2, seed=seed),
    ("extraction", "estimate_size"): lambda seed: extraction.estimate_size(KUHN, probes=2, seed=seed),
    ("Source", "probe"): lambda seed: Source(KUHN, None).probe(2, seed),
    ("SearchBot", "__init__"): lambda seed: bots.SearchBot(RandomSearcher(), 0, seed),
    ("PolicyBot", "__init__"): lambda seed: bots.PolicyBot(TabularPolicy.first_action(TREE), 0, seed),
    ("bots", "make_bot"): lambda seed: bots.make_bot("random", PIG, 0, seed),
    ("induced", "search_policy"): lambda seed: induced.search_policy(TreeRules(TREE), RandomSearcher(), seed=seed),
    ("induced", "self_play_policy"): lambda seed: induced.self_play_policy(
        TreeRules(TREE), IsmctsSearcher(simulations=3), seed=seed
    ),
    ("induced", "measure"): lambda seed: induced.measure(
        TreeRules(TREE), induced.Curve("ismcts", "ismcts", "search"), 3, seed
    ),
}
PASSED_ON = {("SearchTrees", "stage"), ("Searcher", "search")}  # a seed that `grow` has checked; a protocol


def declared() -> set[tuple[str, str]]:
    """Every public function and method of solvers that has an argument `seed`, from sources and stubs."""
    found = set()
    folder = Path(solvers.__file__).parent
    for path in [*folder.glob("*.pyi"), *folder.glob("*.py")]:
        for scope in ast.walk(ast.parse(path.read_text())):
            if not isinstance(scope, ast.ClassDef | ast.Module):
                continue
            name = scope.name if isinstance(scope, ast.ClassDef) else path.stem
            for each in scope.body:
                if isinstance(each, ast.FunctionDef) and (each.name == "__init__" or not each.name.startswith("_")):
                    arguments = [*each.args.args, *each.args.kwonlyargs]
                    if any(argument.arg == "seed" for argument in arguments):
                        found.add((name, each.name))
    return found


def test_no_entry_point_is_left_out():
    assert declared() == set(ENTRIES) | PASSED_ON
    for name, solver in specs.solver_specs().items():
        if solver.kind == "searcher":
            kinds = [kind.__name__ for kind in type(specs.make_searcher(name)).__mro__]
            assert any((kind, "search") in ENTRIES for kind in kinds), name


@pytest.mark.parametrize("entry", sorted(ENTRIES), ids=".".join)
def test_a_bad_seed_is_named_and_a_good_one_taken(entry):
    take = ENTRIES[entry]
    for bad in BAD:
        with pytest.raises(ParameterError, match=NAMED):
            take(bad)
    for good in (0, 2**64 - 1, np.uint64(2**63), np.int8(3)):
        take(good)


def test_a_seed_of_numpy_is_the_same_seed():
    search = searching("mcts")
    one, other = search(5), search(np.int64(5))
    assert repr((one.action, one.values, one.actions)) == repr((other.action, other.values, other.actions))  # with nan


def test_a_long_seed_is_cut_short_in_the_message():
    for seed, says in ((10**4000, "got 1000"), (2**20000, "got a whole number of 20001 bits")):
        with pytest.raises(ParameterError, match=says) as caught:
            check_seed(seed)
        assert len(str(caught.value)) < 200
