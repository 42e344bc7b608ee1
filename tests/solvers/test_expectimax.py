"""Expectimax against plain references, itself without pruning, and known values."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from open_spiel.python.algorithms import minimax

import games
from engine_ext.errors import LimitError, SpecError, TooLargeError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers.contract import Limit
from solvers.expectimax import ExpectimaxSearcher
from solvers.specs import make_searcher
from tests.reference import exact
from tests.solvers.random_trees import random_tree

KINDS = ("none", "star1", "star2")

trees = st.builds(
    random_tree,
    st.integers(0, 10**6),
    levels=st.text("01c?", min_size=1, max_size=5),
    branching=st.sampled_from([(2, 2), (2, 4), (3, 3)]),
    cut=st.sampled_from([0.0, 0.2]),
    grades=st.sampled_from([None, 1, 3]),
)


@settings(deadline=None, max_examples=60)
@given(trees)
def test_pruning_never_changes_the_value(rules):
    start = rules.initial_position()
    expected = exact.expectimax(start)[0]
    for pruning in KINDS:
        for table, tree in ((0, 1 << 20), (0, 1), (0, 40), (1, 1), (64, 1), (1 << 12, 1)):
            result = ExpectimaxSearcher(depth=20, pruning=pruning, table=table, tree=tree).search(start)
            assert result.values[0] == pytest.approx(expected, abs=1e-12)
            assert result.exact
            if result.action is not None:
                after = exact.step(start, result.action)
                assert exact.expectimax(after)[0] == pytest.approx(expected, abs=1e-12)
    whole = ExpectimaxSearcher().search(start)
    assert whole.values[0] == pytest.approx(expected, abs=1e-12)


@settings(deadline=None, max_examples=30)
@given(st.integers(0, 10**6), st.text("012c?", min_size=1, max_size=4), st.integers(3, 4))
def test_many_players_maximise_their_own(seed, levels, n_players):
    rules = random_tree(seed, levels=levels, branching=(2, 3), n_players=n_players, cut=0.1)
    start = rules.initial_position()
    expected = exact.expectimax(start)
    for searcher in (ExpectimaxSearcher(), ExpectimaxSearcher(depth=20), ExpectimaxSearcher(depth=20, table=0)):
        result = searcher.search(start)
        assert result.values == pytest.approx(expected, abs=1e-12)
        assert result.exact


@pytest.mark.parametrize(
    ("levels", "branching", "grades", "n_trees"),
    [
        ("????", 6, None, 8),
        ("????", 8, 5, 4),
        ("0c1c", 6, None, 8),
        ("1c0c", 6, 10, 8),
        ("0c1c", 8, None, 4),
        ("0c1c", 12, None, 1),
        ("0c1c0", 6, None, 2),
        ("01c01", 6, 10, 2),
        ("c0c1c", 6, None, 2),
        ("c0101", 6, None, 2),
        ("c0c101", 6, None, 1),
        ("c01c01", 6, None, 1),
    ],
)
def test_star2_visits_under_half_of_the_plain_search(levels, branching, grades, n_trees):
    """Random two-player trees without a table, all trees of a kind together. Ballard (1983) reports more than half
    saved where players alternate with chance between them and the order of actions says nothing."""
    visited = dict.fromkeys(KINDS, 0)
    for seed in range(n_trees):
        rules = random_tree(seed, levels=levels, branching=(branching, branching), grades=grades)
        for pruning in KINDS:
            found = ExpectimaxSearcher(depth=20, pruning=pruning, table=0).search(rules.initial_position())
            visited[pruning] += found.nodes
    assert visited["star2"] < 0.5 * visited["none"]
    assert visited["star2"] < visited["star1"]


def best_first_nodes(start) -> int:
    """Nodes that the best-first search sees of a tree chance, max, chance, min, utilities at least -1.

    It reads a leaf only below the action whose upper bound is the highest now, and there below the outcome that can
    lower the bound most, so every action it touches had to be: a search of any order that knows as little must refute
    it, too.
    """
    total = 1
    for outcome, _ in start.chance_outcomes():
        total += 1
        actions = []
        for action in start.child(outcome).legal_actions():
            after = start.child(outcome).child(action)
            below = []
            for reply, probability in after.chance_outcomes():
                chooser = after.child(reply)
                unread = [chooser.child(answer).returns()[0] for answer in chooser.legal_actions()][::-1]
                below.append({"probability": probability, "unread": unread, "bound": 1.0, "seen": False})
            actions.append(below)
        opened = set()
        while True:
            bounds = [sum(node["probability"] * node["bound"] for node in below) for below in actions]
            best = bounds.index(max(bounds))
            unsure = [node for node in actions[best] if node["unread"]]
            if not unsure:
                break
            node = max(unsure, key=lambda node: node["probability"] * (node["bound"] + 1) ** 2)
            total += 1 + (best not in opened) + (not node["seen"])
            opened.add(best)
            node["seen"] = True
            node["bound"] = min(node["bound"], node["unread"].pop())
    return total


@pytest.mark.parametrize(("branching", "n_trees"), [(6, 6), (8, 2)])
def test_star2_below_a_chance_root_sees_hardly_more_than_the_best_first_search(branching, n_trees):
    """With chance at the root there is no window to prune with between its outcomes, and more than half of the nodes
    are needed at branching 6."""
    seen = needed = 0
    for seed in range(n_trees):
        start = random_tree(seed, levels="c0c1", branching=(branching, branching)).initial_position()
        needed += best_first_nodes(start)
        seen += ExpectimaxSearcher(depth=20, pruning="star2", table=0).search(start).nodes
    assert seen < 1.1 * needed


def test_star2_gives_back_what_lies_below_solved_nodes():
    """The outcomes of a chance root are solved one by one: room for one of them is room for all, so the search does not
    fall back to depth first, which visits more."""
    rules = random_tree(3, levels="c0c1c0", branching=(4, 4))
    start = rules.initial_position()
    roomy = ExpectimaxSearcher(depth=20, pruning="star2", table=0).search(start)
    one_outcome = (
        1 + 4 + sum(4**level for level in range(1, 6))
    )  # the root, its children, and what is below one of them
    tight = ExpectimaxSearcher(depth=20, pruning="star2", table=0, tree=one_outcome).search(start)
    assert roomy.nodes > one_outcome
    assert tight.nodes == roomy.nodes
    assert tight.values == roomy.values


@pytest.mark.parametrize("grades", [None, 2])
def test_no_node_is_visited_twice(grades):
    """Star2 without a table keeps what it found, so it never visits more than the plain search."""
    for seed in range(12):
        start = random_tree(seed, levels="?????", branching=(2, 4), cut=0.1, grades=grades).initial_position()
        plain, star2 = (ExpectimaxSearcher(depth=20, pruning=each, table=0).search(start) for each in ("none", "star2"))
        assert star2.nodes <= plain.nodes


@pytest.mark.parametrize(
    ("game", "parameters", "depth"),
    [("pig", {}, 7), ("pentaquest", {"scenario": "duel"}, 3), ("quarriors", {"scenario": "skirmish"}, 12)],
)
def test_pruning_and_table_change_nothing_at_a_horizon(game, parameters, depth):
    """Estimates at the horizon, positions that come again at other depths: the value stays the plain search's."""
    start = games.spec(game).make_rules(parameters).initial_position()
    start.run_chance(Stream(1))
    expected = ExpectimaxSearcher(depth=depth, pruning="none", table=0).search(start).values[0]
    for pruning in KINDS:
        for table in (0, 1 << 14):
            result = ExpectimaxSearcher(depth=depth, pruning=pruning, table=table).search(start)
            assert result.values[0] == pytest.approx(expected, abs=1e-12)


def test_agrees_with_openspiel():
    """OpenSpiel's expectiminimax on the same trees."""
    for seed in range(6):
        rules = random_tree(seed, levels="????", branching=(2, 4))
        theirs, action = minimax.expectiminimax(rules.tree.source.new_initial_state(), 99, None, 0)
        for pruning in KINDS:
            ours = ExpectimaxSearcher(depth=20, pruning=pruning).search(rules.initial_position())
            assert ours.values[0] == pytest.approx(theirs, abs=1e-12)
            assert ours.action == action


def test_pentaquest_scenario_against_the_plain_reference():
    rules = games.spec("pentaquest").make_rules({"scenario": "one_card"})
    start = rules.initial_position()
    expected = exact.expectimax(start)
    result = make_searcher("expectimax", rules).search(start, seed=0)
    assert result.exact
    assert result.values == pytest.approx(expected, abs=1e-12)
    for pruning in KINDS:
        limited = ExpectimaxSearcher(depth=40, pruning=pruning).search(start)
        assert limited.values == pytest.approx(expected, abs=1e-12)


def test_memo_is_kept_between_moves():
    rules = games.spec("pentaquest").make_rules({"scenario": "one_card"})
    searcher = ExpectimaxSearcher()
    position = rules.initial_position()
    first = searcher.search(position)
    for step in first.principal_variation:
        position.apply_action(step)
        result = searcher.search(position)
        assert result.nodes == 1
        if result.action is not None:
            assert result.values[0] == max(stats.value for stats in result.actions)


def test_iterative_deepening_stops_at_limits():
    start = games.spec("pig").make_rules().initial_position()
    nodes = ExpectimaxSearcher().search(start, limit=Limit(nodes=20_000))
    assert 10_000 < nodes.nodes <= 20_001
    assert nodes.reproducible
    assert nodes.action == 0
    timed = ExpectimaxSearcher(seconds=0.1).search(start)
    assert not timed.reproducible
    assert timed.seconds >= 0.1
    depths = [ExpectimaxSearcher(depth=depth).search(start) for depth in (2, 4, 6)]
    assert [len(result.principal_variation) for result in depths] == [2, 4, 6]
    assert depths[0].nodes < depths[1].nodes < depths[2].nodes


def test_every_action_gets_its_exact_value():
    start = games.spec("pig").make_rules({"goal": 20}).from_dict({"scores": [10, 12], "total": 5})
    every = ExpectimaxSearcher(depth=6, every_action=True).search(start)
    for stats in every.actions:
        child = exact.step(start, stats.action)
        below = ExpectimaxSearcher(depth=5, pruning="none").search(child)
        assert stats.value == pytest.approx(below.values[0], abs=1e-12)


def test_repeats_itself():
    start = games.spec("pentaquest").make_rules({"scenario": "small"}).initial_position()
    first, second = (ExpectimaxSearcher(depth=5).search(start) for _ in range(2))
    assert (first.values, first.nodes, first.actions) == (second.values, second.nodes, second.actions)


def test_what_is_refused():
    kuhn, pig = (games.spec(name).make_rules() for name in ("kuhn", "pig"))
    with pytest.raises(UnsuitableGameError, match=r"hides information.*ismcts"):
        make_searcher("expectimax", kuhn)
    with pytest.raises(UnsuitableGameError, match=r"cycles.*value_iteration"):
        ExpectimaxSearcher().search(pig.initial_position())
    blind = random_tree(1, levels="0c1c", branching=(2, 2))
    with pytest.raises(UnsuitableGameError, match="no estimate"):
        ExpectimaxSearcher(depth=2).search(blind.initial_position())
    tiny = games.spec("pentaquest").make_rules({"scenario": "tiny"})
    searcher = ExpectimaxSearcher(max_states=1000)
    for _ in range(2):
        with pytest.raises(TooLargeError, match="more than the 1000 states"):
            searcher.search(tiny.initial_position())
    with pytest.raises(LimitError):
        ExpectimaxSearcher(depth=0)
    with pytest.raises(SpecError, match="no parameter"):
        ExpectimaxSearcher(c=1)
