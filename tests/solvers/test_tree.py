"""solvers/tree.pyx and tree_rules.pyx: flat trees hold the whole game, and TreeRules plays it."""

from __future__ import annotations

import pickle

import numpy as np
import open_spiel.python.games  # noqa: F401  (registers OpenSpiel's Python games)
import pyspiel
import pytest
from open_spiel.python.algorithms import expected_game_score
from open_spiel.python.policy import UniformRandomPolicy
from scipy.stats import chisquare

import games
from engine_ext.errors import ParameterError, PositionError, SavedStateError, TooLargeError, UnsuitableGameError
from engine_ext.rng import Stream
from solvers import declared, extraction, game_source, openspiel_walk
from solvers.best_response import backward_induction, best_response, expected_values
from solvers.cfr import CFRSolver
from solvers.extraction import as_game, declared_rules, estimate_size, extract, prepare_views
from solvers.linear_program import SequenceFormSolver
from solvers.mccfr import TreeMCCFR
from solvers.policies import TabularPolicy
from solvers.tree import FlatTree
from solvers.tree_rules import TreeRules

SMALL = [
    "kuhn_poker",
    "kuhn_poker(players=3)",
    "leduc_poker",
    "liars_dice(dice_sides=3)",
    "python_kuhn_poker",
    "goofspiel(num_cards=3)",
    "matrix_pd",
    "blotto(coins=3,fields=2)",
    "quandary_kuhn",
    "cliff_walking(horizon=5)",
    "tiny_bridge_2p",
    "first_sealed_auction(max_value=4)",
]


def uniform_values(tree: FlatTree) -> np.ndarray:
    """Value per player when everyone plays uniformly, by a plain backward pass over the arrays."""
    values = np.zeros((tree.n_nodes, tree.n_players))
    arrays = tree.arrays
    for node in reversed(range(tree.n_nodes)):
        kind, first, count = arrays["player"][node], arrays["first"][node], arrays["count"][node]
        if kind == -4:
            values[node] = arrays["utility"][arrays["infoset"][node]]
        else:
            weights = arrays["prob"][first : first + count] if kind == -1 else np.full(count, 1 / count)
            values[node] = weights @ values[first : first + count]
    return values[0]


@pytest.mark.parametrize("name", SMALL)
def test_uniform_play_has_the_value_openspiel_gives_it(name):
    tree = extract(name)
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    state = game.new_initial_state()
    expected = expected_game_score.policy_value(state, [UniformRandomPolicy(game)] * game.num_players())
    assert uniform_values(tree) == pytest.approx(expected, abs=1e-12)


# Sizes from OpenSpiel's own documentation and tests: histories and information sets.
@pytest.mark.parametrize(
    ("name", "nodes", "infosets"),
    [
        ("kuhn_poker", 58, 12),
        ("quandary_kuhn", 58, 12),
        ("python_kuhn_poker", 58, 12),
        ("leduc_poker", 9457, 936),
        ("kuhn_poker(players=3)", 617, 48),
    ],
)
def test_known_sizes(name, nodes, infosets):
    tree = extract(name)
    assert (tree.n_nodes, tree.n_infosets) == (nodes, infosets)


@pytest.mark.parametrize("name", SMALL)
def test_layout(name):
    tree = extract(name)
    a = tree.arrays
    nodes = np.arange(tree.n_nodes)
    assert a["parent"][0] == -1
    assert np.all(a["parent"][1:] < nodes[1:])  # parents before children
    inner = a["count"] > 0
    assert np.all(a["count"][inner] >= 2)  # forced moves are no nodes
    for node in nodes[inner]:
        children = slice(a["first"][node], a["first"][node] + a["count"][node])
        assert np.all(a["parent"][children] == node)  # children side by side
        assert np.all(np.diff(a["action"][children]) > 0)  # ascending, unique
        assert a["prob"][children].sum() == pytest.approx(1.0 if a["player"][node] == -1 else a["count"][node])
    assert np.array_equal(np.unique(a["infoset"][a["player"] == -4]), np.arange(tree.n_terminals))
    # Information sets: a player's own last sequence is the same in all members, and lies before.
    assert all(tree.perfect_recall)
    own = np.full((tree.n_nodes, tree.n_players), -1)
    for node in nodes[1:]:
        parent = a["parent"][node]
        own[node] = own[parent]
        if a["player"][parent] >= 0:
            own[node, a["player"][parent]] = a["info_first"][a["infoset"][parent]] + node - a["first"][parent]
    for infoset in range(tree.n_infosets):
        members = tree.infoset_nodes(infoset)
        player = tree.infoset_player(infoset)
        assert np.all(a["player"][members] == player)
        assert np.all(own[members, player] == a["info_parent"][infoset])
        assert a["info_parent"][infoset] < a["info_first"][infoset]


def test_the_native_road_and_the_openspiel_road_give_the_same_tree():
    native = extract("quandary_kuhn")
    other = extract("kuhn_poker")
    assert native.native
    assert not other.native
    for key in ("player", "parent", "first", "count", "infoset", "prob", "info_player", "info_parent"):
        assert np.array_equal(native.arrays[key], other.arrays[key]), key
    assert np.array_equal(native.arrays["utility"], other.arrays["utility"])


def test_a_tree_can_start_anywhere():
    state = pyspiel.load_game("kuhn_poker").new_initial_state()
    state.apply_action(2)
    state.apply_action(0)
    tree = extract(state)
    assert tree.n_nodes == 9
    position = games.spec("kuhn").make_rules().from_dict({"cards": [2, 0], "bids": ""})
    assert extract(position).n_nodes == 9


def test_labels_name_information_sets():
    tree = extract("leduc_poker")
    labels = {tree.infoset_label(i) for i in range(tree.n_infosets)}
    assert len(labels) == 936
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in (0, 3, 1):
        state.apply_action(action)
    (infoset,) = tree.infosets_of(state.information_state_string(1))
    assert tree.infoset_player(infoset) == 1
    assert tree.infoset_actions(infoset) == state.legal_actions()
    assert tree.node_of(state) in tree.infoset_nodes(infoset)
    assert tree.history(tree.node_of(state)) == state.history()
    native = extract("quandary_kuhn")
    position = games.spec("kuhn").make_rules().from_dict({"cards": [2, 0], "bids": "p"})
    (infoset,) = native.infosets_of(position.info_key(1))
    assert native.infoset_player(infoset) == 1


def test_imperfect_recall_is_seen():
    # Pig's positions do not remember how they came about; (own last sequence, key) does.
    rules = games.spec("pig").make_rules({"goal": 6})
    assert extract(rules, depth=8).perfect_recall == (True, True)
    assert extract(rules, depth=8, information="key").perfect_recall == (False, False)


def test_a_cut_tree_ends_with_the_games_estimate():
    rules = games.spec("pig").make_rules({"goal": 10})
    tree = extract(rules, depth=2)  # roll and its six outcomes, or hold and the next seat's choice
    assert tree.n_nodes == 1 + 2 + 6 + 2
    position = rules.initial_position().child(0).child(3)  # a four is rolled
    leaf = tree.child(tree.child(0, 0), 3)
    assert tree.arrays["utility"][tree.arrays["infoset"][leaf]].tolist() == position.estimate()


@pytest.mark.parametrize("merge", ["exact", "key"])
def test_merging_equal_states_changes_no_value(merge):
    rules = games.spec("pig").make_rules({"goal": 8})
    tree = extract(rules, depth=9)
    graph = extract(rules, depth=9, merge=merge)
    assert graph.merged
    assert graph.n_nodes < tree.n_nodes / 5
    # Every way through the graph is a way through the tree.
    ways = np.zeros(graph.n_nodes)
    ways[0] = 1
    a = graph.arrays
    for node in range(graph.n_nodes):
        targets = a["target"][a["first"][node] : a["first"][node] + a["count"][node]]
        assert np.all(targets > node)
        np.add.at(ways, targets, ways[node])
    assert ways.sum() == tree.n_nodes
    best, policy = backward_induction(graph)
    assert best == pytest.approx(backward_induction(tree)[0], abs=1e-12)
    assert expected_values(policy) == pytest.approx(best, abs=1e-12)
    assert best[0] == pytest.approx(best_response(TabularPolicy(tree, backward_induction(tree)[1].probabilities), 0)[0])
    # Random play is worth the same, and the graph plays as a game.
    assert expected_values(TabularPolicy.uniform(graph)) == pytest.approx(
        expected_values(TabularPolicy.uniform(tree)), abs=1e-12
    )
    steps, _ = TreeRules(graph).initial_position().playouts(200, Stream(1))
    assert 200 < steps <= 200 * 9
    assert FlatTree.__reduce__(graph)[0](*FlatTree.__reduce__(graph)[1]).digest == graph.digest


def test_solvers_of_trees_name_merged_states():
    graph = extract(games.spec("pig").make_rules({"goal": 8}), depth=5, merge="exact")
    for use in (CFRSolver, TreeMCCFR, SequenceFormSolver):
        with pytest.raises(UnsuitableGameError, match="merged"):
            use(graph)
    with pytest.raises(UnsuitableGameError, match="merged"):
        best_response(TabularPolicy.uniform(graph), 0)
    with pytest.raises(UnsuitableGameError, match="merged"):
        graph.history(1)


@pytest.mark.parametrize(
    ("source", "options", "error", "text"),
    [
        ("quandary_pig", {}, UnsuitableGameError, "may come again"),
        ("quandary_kuhn", {"depth": 2}, UnsuitableGameError, "estimate"),
        ("kuhn_poker", {"depth": 2}, ParameterError, "cut at a depth"),
        ("kuhn_poker", {"max_nodes": 0}, ParameterError, "max_nodes"),
        ("kuhn_poker", {"information": "none"}, ParameterError, "information"),
        ("no_such_game", {}, ParameterError, "no_such_game"),
        (7, {}, ParameterError, "int"),
        ("mfg_crowd_modelling", {}, UnsuitableGameError, "mean-field game"),
        ("kuhn_poker", {"max_nodes": 57}, TooLargeError, "58"),
        ("kuhn_poker", {"merge": "exact"}, UnsuitableGameError, "no key"),
        ("quandary_kuhn", {"merge": "exact"}, UnsuitableGameError, "hides information"),
        ("kuhn_poker", {"merge": "yes"}, ParameterError, "merge"),
    ],
)
def test_refusals_name_the_reason(source, options, error, text):
    with pytest.raises(error, match=text):
        extract(source, **options)


@pytest.mark.parametrize("name", ["backgammon", "go", "2048"])
def test_huge_games_are_refused_with_an_estimate(name):
    with pytest.raises(TooLargeError, match=r"about .* nodes") as caught:
        extract(name)
    assert caught.value.estimate.log10_nodes > 100
    assert caught.value.estimate.seconds < 10


class SlowClock:
    """Goes on by a step whenever somebody looks: a machine on which everything takes its time."""

    def __init__(self, step_s):
        self.now_s, self.step_s = 1000.0, step_s

    def perf_counter(self):
        self.now_s += self.step_s
        return self.now_s


@pytest.mark.parametrize("step_s", [1e-4, 0.01, 0.1])
@pytest.mark.parametrize("waited_s", [0.0, 3.0])
def test_a_refusal_comes_within_ten_seconds_however_slow_the_machine(step_s, waited_s, monkeypatch):
    """Ten seconds from when somebody began to wait. A game of chess has hundreds of moves: on the slower ones
    not one probe comes to its end, and the estimate says so."""
    clock = SlowClock(step_s)
    for module in (declared, extraction, game_source, openspiel_walk):
        monkeypatch.setattr(module, "time", clock)
    began = clock.now_s
    clock.now_s += waited_s
    rules = declared_rules("chess", began)
    assert rules.survey.games >= 1
    with pytest.raises(TooLargeError, match=r"chess: its tree has (at least )?about \S+ nodes") as caught:
        extract("chess", max_nodes=10**9, began=began)
    assert clock.now_s - began < 10
    assert caught.value.estimate.whole == ("at least" not in str(caught.value))
    assert caught.value.estimate.whole == (step_s < 0.01)
    assert caught.value.estimate.log10_nodes > 9


def test_what_a_walk_meets_is_told_once_and_may_end_it():
    """liars_dice_ir remembers four bids only; prisoners' utilities have no sum; 100 coins are shared among 3 fields in
    102 * 101 / 2 ways. Liar's dice, Kuhn poker and rock, paper, scissors have nothing of that."""
    told = []
    extract("liars_dice_ir", check=told.append)
    assert [(found.recalls, found.zero_sum) for found in told] == [(False, True)]

    def stop(found):
        raise KeyError(found)

    with pytest.raises(KeyError) as stopped:
        extract("matrix_pd", check=stop)
    assert not stopped.value.args[0].zero_sum
    with pytest.raises(KeyError) as stopped:
        extract("blotto(coins=100,fields=3)", check=stop, max_nodes=20_000)
    assert stopped.value.args[0].most_legal == 102 * 101 // 2
    for name in ("liars_dice(dice_sides=4)", "kuhn_poker", "matrix_rps"):
        extract(name, check=stop)


def test_perfect_recall_is_known_before_extraction():
    for name, recalls in (
        ("liars_dice_ir", False),
        ("dark_hex_ir(board_size=2)", False),
        ("phantom_ttt_ir", False),
        ("liars_dice", True),
        ("leduc_poker", True),
        ("goofspiel(num_cards=3)", True),  # told apart by what a seat did, where texts forget it
        ("tic_tac_toe", True),
    ):
        assert declared_rules(name).perfect_recall == recalls


def test_estimates_bracket_a_known_size():
    # Knuth's probes are unbiased; on Leduc they vary little, so the range must hold 9457 nodes.
    for source in ("leduc_poker", as_game("leduc_poker")):
        estimate = estimate_size(source, probes=1000, seed=1)
        assert estimate.probes == 1000
        assert estimate.low < 9457 < estimate.high
        assert estimate.low < estimate.nodes < estimate.high
    assert estimate_size("leduc_poker", seed=1) != estimate_size("leduc_poker", seed=2)


def test_long_extractions_report_progress():
    seen = []
    tree = extract("leduc_poker", progress=lambda done, expected: seen.append((done, expected)))
    assert seen == []  # too short to be worth a word
    tree = extract("liars_dice(dice_sides=5)", progress=lambda done, expected: seen.append((done, expected)))
    assert seen[-1] == (tree.n_nodes, tree.n_nodes)
    assert [done for done, _ in seen] == sorted(done for done, _ in seen)


def test_save_load_and_pickle(tmp_path):
    for name in ("leduc_poker", "quandary_kuhn"):
        tree = extract(name)
        tree.save(tmp_path / "tree")
        for other in (FlatTree.load(tmp_path / "tree"), pickle.loads(pickle.dumps(tree))):
            assert other.digest == tree.digest
            assert other.name == tree.name
            assert (other.names, other.start, other.rules_identity) == (tree.names, tree.start, tree.rules_identity)
            assert [other.infoset_label(i) for i in range(9)] == [tree.infoset_label(i) for i in range(9)]
            assert other.action_names == tree.action_names
            assert other.infosets_of(tree.infoset_label(5)) == [5]
    (tmp_path / "tree").write_bytes(b"QNDYFILE" + bytes(100))
    with pytest.raises(SavedStateError):
        FlatTree.load(tmp_path / "tree")


def test_perfect_information_needs_no_texts(tmp_path):
    """OpenSpiel's tic-tac-toe: every decision is an information set, named by its history; the tree of a file
    plays its game again."""
    tree = extract("tic_tac_toe")
    decided = np.flatnonzero(tree.arrays["player"] >= 0)
    assert tree.n_infosets == len(decided)
    assert tree.names == "history"
    assert all(tree.perfect_recall)
    tree.save(tmp_path / "tree")
    for made in (tree, FlatTree.load(tmp_path / "tree")):
        for node in (0, int(decided[777]), int(decided[-1])):
            infoset = int(tree.arrays["infoset"][node])
            state = made.state_at(node)
            assert state.current_player() == tree.arrays["player"][node]
            assert state.legal_actions() == tree.infoset_actions(infoset)
            assert made.infoset_label(infoset) == ", ".join(map(str, state.history()))
            assert made.infosets_of(made.infoset_label(infoset)) == [infoset]
            assert made.infosets_at(state, state.current_player()) == [infoset]
    assert tree.infosets_of("0, 0") == tree.infosets_of("no history") == tree.infosets_of(3) == []


def test_a_loaded_tree_of_a_game_that_cannot_be_made_again_says_so(tmp_path):
    tree = extract(pyspiel.create_matrix_game(np.eye(2), -np.eye(2)))
    assert "player" in tree.infoset_label(0).lower() or tree.infoset_label(0)
    tree.save(tmp_path / "tree")
    loaded = FlatTree.load(tmp_path / "tree")
    assert loaded.infosets_of(tree.infoset_label(1)) == [1]
    with pytest.raises(UnsuitableGameError, match="OpenSpiel does not load its game"):
        loaded.infoset_label(0)
    assert "information set" in TreeRules(loaded).initial_position().observation_string(0)


@pytest.mark.parametrize(
    "more", ["", ",points_order=descending", ",imp_info=True", ",players=3,points_order=descending"]
)
def test_goofspiel_remembers(more):
    """With bids shown, OpenSpiel's information states tell hands and who won what, not the order of one's own bids;
    players know it all the same, since nothing past is hidden."""
    tree = extract(f"goofspiel(num_cards=3{more})")
    assert all(tree.perfect_recall)


def test_simultaneous_games_without_information_states_go_by_what_is_observed():
    """One round of soccer: chance gives the ball to one of two, each has five moves, and chance says who is first."""
    tree = extract("markov_soccer(horizon=2)")
    assert tree.names == "observation"
    assert tree.n_nodes == 1 + 2 * (1 + 5 + 25 + 50)
    assert tree.n_infosets == 4
    assert all(tree.perfect_recall)
    # Seat 1 does not know what seat 0 has just chosen.
    assert sorted(len(tree.infoset_nodes(infoset)) for infoset in range(4)) == [1, 1, 5, 5]


# ---- what others know -----------------------------------------------------------------------------


@pytest.mark.parametrize("name", ["leduc_poker", "kuhn_poker(players=3)", "goofspiel(num_cards=3)", "quandary_kuhn"])
def test_views_tell_apart_what_the_games_own_texts_do(name, tmp_path):
    """At every decision, for each seat that is not to move: equal views where, and only where, OpenSpiel's
    information-state strings are equal; and none is taken for an information set."""
    rules = as_game(name)
    tree = rules.tree
    prepare_views(tree)
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    text_of: dict[int, str] = {}
    view_of: dict[str, int] = {}
    own = {rules.position(node).info_key(rules.position(node).current_player()) for node in decisions(tree)}
    stack = [(game.new_initial_state(), 0)]
    while stack:
        state, node = stack.pop()
        while not state.is_terminal() and len(state.legal_actions()) == 1:
            state.apply_action(state.legal_actions()[0])
        if state.is_terminal():
            continue
        if not state.is_chance_node():
            for seat in range(tree.n_players):
                if seat != state.current_player():
                    view = rules.position(node).info_key(seat)
                    text = f"{seat} {state.information_state_string(seat)}"
                    assert text_of.setdefault(view, text) == text
                    assert view_of.setdefault(text, view) == view
        stack += [(state.child(action), tree.child(node, action)) for action in state.legal_actions()]
    assert len(view_of) > tree.n_players
    assert own.isdisjoint(text_of)
    tree.save(tmp_path / "tree")
    again = FlatTree.load(tmp_path / "tree")
    prepare_views(again)  # it came along
    assert np.array_equal(again.arrays["view"], tree.arrays["view"])


def decisions(tree):
    return [node for node in range(tree.n_nodes) if tree.arrays["player"][node] >= 0]


def test_what_is_known_before_extraction():
    for name, players, hidden in (("leduc_poker", 2, True), ("kuhn_poker(players=3)", 3, True), ("go", 2, False)):
        rules = declared_rules(name)
        assert (rules.num_players(), rules.hidden_information) == (players, hidden)
        assert rules.initial_position().is_terminal()
        assert name.partition("(")[0] in rules.name


# ---- the tree as a game ---------------------------------------------------------------------------


@pytest.mark.parametrize("name", SMALL)
def test_tree_rules_walk_like_the_game(name):
    rules = as_game(name)
    game = pyspiel.load_game(name)
    if game.get_type().dynamics == pyspiel.GameType.Dynamics.SIMULTANEOUS:
        game = pyspiel.convert_to_turn_based(game)
    stream = Stream(3)
    for _ in range(30):
        position, state = rules.initial_position(), game.new_initial_state()
        while True:
            while not state.is_terminal() and len(state.legal_actions()) == 1:
                state.apply_action(state.legal_actions()[0])
            assert position.current_player() == state.current_player()
            assert position.legal_actions() == sorted(state.legal_actions())
            assert position.returns() == (state.returns() if state.is_terminal() else [0] * game.num_players())
            if state.is_terminal():
                break
            assert position.chance_outcomes() == (sorted(state.chance_outcomes()) if state.is_chance_node() else [])
            assert rules.tree.node_of(state) == rules.node(position)
            action = position.sample(stream) if position.is_chance_node() else position.random_action(stream)
            if position.is_player_node():
                assert position.string_to_action(position.action_to_string(action)) == action
            position.apply_action(action)
            state.apply_action(action)


def test_the_fused_playout_equals_the_generic_one():
    position = as_game("leduc_poker").initial_position()
    count = 40_000
    steps, totals = position.playouts(count, Stream(1))
    generic_steps, generic_totals = position.playouts(count, Stream(2), generic=True)
    # Standard deviations are about 1.6 steps and 4.2 chips a game: 5 sigma of the difference.
    assert abs(steps - generic_steps) / count < 5 * 1.6 * (2 / count) ** 0.5
    assert abs(totals - generic_totals).max() / count < 5 * 4.2 * (2 / count) ** 0.5


def test_sample_agrees_with_outcomes():
    rules = as_game("first_sealed_auction(max_value=4)")
    position = rules.initial_position()
    outcomes = position.chance_outcomes()
    stream = Stream(5)
    counts = {outcome: 0 for outcome, _ in outcomes}
    for _ in range(4000):
        counts[position.sample(stream)] += 1
    assert chisquare(list(counts.values()), [4000 * prob for _, prob in outcomes]).pvalue > 1e-4


def test_resample_draws_members_by_chance_reach():
    rules = as_game("leduc_poker")
    state = pyspiel.load_game("leduc_poker").new_initial_state()
    for action in (0, 3, 1, 1, 5):  # cards 0 and 3, call, call, public card 5
        state.apply_action(action)
    node = rules.tree.node_of(state)
    position = rules.position(node)
    members = rules.tree.infoset_nodes(rules.tree.arrays["infoset"][node]).tolist()
    assert len(members) == 4  # the rival holds any of the other four cards
    counts = dict.fromkeys(members, 0)
    stream = Stream(8)
    for _ in range(4000):
        drawn = position.resample(0, stream)
        assert drawn.info_key(0) == position.info_key(0)
        assert drawn.info_bytes(0) == position.info_bytes(0)
        counts[rules.node(drawn)] += 1
    assert chisquare(list(counts.values())).pvalue > 1e-4


def test_stages_of_simultaneous_choices_are_found_in_trees():
    """Goofspiel bids in secret, each seat once, before anything is shown: every decision of the
    turn-based view belongs to a stage. Kuhn poker hides cards but no choice; nor does leduc."""
    rules = as_game("goofspiel(num_cards=3,players=3,points_order=descending)")
    assert "rewind" in rules.abilities
    tree = rules.tree
    for node in np.flatnonzero(tree.arrays["player"] >= 0):
        start, taken_back = rules.position(int(node)).rewind()
        assert taken_back == tree.arrays["player"][node]
        assert start.current_player() == 0
        for _ in range(taken_back):
            node = tree.arrays["parent"][node]
        assert rules.node(start) == node
    for name in ("kuhn_poker", "leduc_poker"):
        assert "rewind" not in as_game(name).abilities


def test_positions_of_a_tree_save_name_and_refuse():
    rules = as_game("kuhn_poker")
    position = rules.position(7)
    assert pickle.loads(pickle.dumps(position)) == position
    assert rules.from_dict(position.to_dict()) == position
    assert str(position).startswith("node 7: ")
    with pytest.raises(PositionError, match="node"):
        rules.from_dict({"node": 58})
    with pytest.raises(PositionError, match="field"):
        rules.from_dict({"card": 1})
    with pytest.raises(SavedStateError):
        as_game("leduc_poker").from_bytes(position.to_bytes())


def test_nodes_too_wide_for_searchers_are_refused():
    game = pyspiel.create_matrix_game(np.zeros((2500, 2)), np.zeros((2500, 2)))
    with pytest.raises(UnsuitableGameError, match="a node has 2500 actions"):
        TreeRules(extract(game))


@pytest.mark.soak
def test_ten_million_nodes_fit():
    import resource

    rules = games.spec("pig").make_rules({"goal": 20})
    before_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    tree = extract(rules, depth=15)
    grown_bytes = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 - before_bytes
    assert tree.n_nodes > 10_000_000
    assert grown_bytes / tree.n_nodes < 100
