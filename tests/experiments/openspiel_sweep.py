"""Every game of OpenSpiel, every solver: what each pair comes to. `test_openspiel_sweep.py` runs it.

`python -m tests.experiments.openspiel_sweep GAME` prints one JSON object: what `quandary solve` says with
each solver at a small budget, with the extraction done once, and how its answers compare with those of
OpenSpiel's own code or of a plain recursion over OpenSpiel's states. `--list` prints the games, `--table`
the listing of docs/openspiel.md from the objects on the standard input, one a line.
"""

from __future__ import annotations

import functools
import json
import re
import resource
import sys
import time
import traceback

import pyspiel

from engine_ext.errors import QuandaryError
from experiments import gametext, ladder, solve
from solvers import extraction, specs
from solvers.best_response import expected_values, nash_conv
from solvers.cfr import CFRSolver
from solvers.contract import HIDING, SIMULTANEOUS
from solvers.linear_program import SequenceFormSolver
from solvers.tree_rules import TreeRules

MAX_BYTES = 3 << 30  # address space of a child
MAX_NODES = 300_000  # of a tree, so that a child is done in a minute
SMALL_NODES = 12_000  # up to which answers are compared with plain Python's
BUDGETS = {"simulations": "40", "iterations": "2", "seconds": "10"}

# Games whose default is far too large, or which need parameters, in a size that can be solved.
SMALL = (
    "add_noise(epsilon=0.1,seed=1,game=kuhn_poker())",
    "battleship(board_width=2,board_height=1,ship_sizes=[1],ship_values=[1],num_shots=2,allow_repeated_shots=false)",
    "blotto(coins=4,fields=3,players=3)",
    "breakthrough(rows=3,columns=3)",
    "cached_tree(game=kuhn_poker())",
    "catch(rows=4,columns=3)",
    "cliff_walking(height=3,width=3,horizon=5)",
    "clobber(rows=2,columns=3)",
    "connect_four(rows=3,columns=3,x_in_row=3)",
    "dark_hex(board_size=2)",
    "dark_hex_ir(board_size=2)",
    "dots_and_boxes(num_rows=1,num_cols=1)",
    "dots_and_boxes(num_rows=2,num_cols=1)",
    "first_sealed_auction(players=2,max_value=4)",
    "goofspiel(num_cards=3)",
    "goofspiel(num_cards=3,imp_info=True,points_order=descending)",
    "goofspiel(num_cards=3,players=3,points_order=descending)",
    "goofspiel(num_cards=4,returns_type=total_points,points_order=ascending)",
    "havannah(board_size=2)",
    "hex(board_size=2)",
    "kuhn_poker(players=3)",
    "laser_tag(horizon=1)",
    "leduc_poker(players=2,suit_isomorphism=true)",
    "liars_dice(dice_sides=3)",
    "liars_dice_ir(dice_sides=3)",
    "markov_soccer(horizon=2)",
    "misere(game=nim(pile_sizes=1;2;3))",
    "mnk(m=2,n=3,k=2)",
    "nim(pile_sizes=1;2;3)",
    "normal_form_extensive_game(game=matrix_rps())",
    "oshi_zumo(coins=4,size=1,horizon=4)",
    "pathfinding(horizon=3)",
    "pig(winscore=4,horizon=7)",
    "python_liars_poker(players=2,hand_length=1,num_digits=2)",
    "repeated_game(stage_game=matrix_pd(),num_repetitions=2)",
    "restricted_nash_response(game=kuhn_poker())",
    "sheriff(max_items=2,max_bribe=2,num_rounds=1)",
    "start_at(history=0;1,game=kuhn_poker())",
    "trade_comm(num_items=2)",
    "turn_based_simultaneous_game(game=goofspiel(num_cards=3))",
    "y(board_size=3)",
    "zerosum(game=matrix_pd())",
)


def games_to_sweep() -> list[str]:
    """Every registered name with its defaults, then the small ones."""
    # `pig` alone is ours.
    return ["pig(winscore=100)" if name == "pig" else name for name in gametext.openspiel_names()] + list(SMALL)


def solver_names() -> list[str]:
    """Every solver, and the name that stands for the strongest; what plays a file solves nothing."""
    return [*(name for name, spec in specs.solver_specs().items() if not spec.files), ladder.NAME]


def tiny(name: str) -> str:
    """A solver with a small budget."""
    if name in (ladder.NAME, "expectimax"):
        return name
    known = specs.solver_specs()[name].parameters
    given = next((f"({key}={value})" for key, value in BUDGETS.items() if key in known), "")
    return name + given


def sweep(text: str) -> dict:
    """What every solver comes to on one game."""
    extract = solve.extraction.extract
    trees: dict = {}

    @functools.wraps(extract)
    def once(source, **options):
        if not trees:
            try:
                trees["tree"] = extract(source, max_nodes=MAX_NODES)
            except QuandaryError as error:
                trees["error"] = error
        if "error" in trees:
            raise trees["error"]
        return trees["tree"]

    solve.extraction.extract = once
    found: dict = {"game": text, "solvers": {}}
    for name in solver_names():
        began = time.perf_counter()
        try:
            solution = solve.solve(text, tiny(name))
            result = {"value": solution.to_json()["value"], "exploitability": solution.exploitability}
        except QuandaryError as error:
            result = {"refused": type(error).__name__, "says": str(error)}
        except BaseException:
            result = {"crash": traceback.format_exc()}
        found["solvers"][name] = result | {"seconds": round(time.perf_counter() - began, 2)}
    tree = trees.get("tree")
    if tree is not None:
        found |= {"nodes": tree.n_nodes, "infosets": tree.n_infosets, "players": tree.n_players}
        found |= {
            "recall": all(tree.perfect_recall),
            "zero_sum": tree.zero_sum,
            "unknown": unknown(text) if tree.hidden_information else [],
        }
        if tree.n_nodes <= SMALL_NODES:
            found["compared"] = compare(tree)
    return found


def unknown(text: str) -> list[str]:
    """Why a seat of a game does not know all, in the words of the listing."""
    secrecy = extraction.declared_rules(solve.source_of(gametext.load(text))).secrecy
    words = ((SIMULTANEOUS, "simultaneous moves"), (HIDING, "hidden information"))
    return [word for reason, word in words if reason in secrecy]


def compare(tree) -> dict:
    """Our answers beside those of others: name to [ours, theirs]."""
    pairs: dict = {}
    if tree.native:
        return pairs
    if not tree.hidden_information:
        plain = best_play(tree.reopened(), tree.n_players)
        rules = TreeRules(tree)
        for name in ("expectimax", "value_iteration"):
            result = specs.make_searcher(name, rules).search(rules.initial_position(), seed=0)
            pairs[name] = [list(result.values), plain]
    game = tree.reopened().get_game()
    whole = not tree.start and all(tree.perfect_recall) and tree.names == "information state"
    # Where OpenSpiel's texts forget what players know, its tables cannot say all that a policy of ours does.
    keys = set(zip(tree.arrays["info_key"].tolist(), tree.arrays["info_player"].tolist(), strict=True))
    if whole and len(keys) == tree.n_infosets:
        policy = CFRSolver(tree, variant="cfr", form="tree")
        policy.run(3)
        mine = policy.average_policy()
        theirs = mine.to_openspiel()
        values = pyspiel.expected_returns(game.new_initial_state(), theirs, -1, True, 0.0)
        pairs["expected values"] = [list(expected_values(mine)), values]
        pairs["NashConv"] = [float(nash_conv(mine)), pyspiel.nash_conv(game, theirs, True)]
        if tree.n_players == 2 and tree.zero_sum:
            program = SequenceFormSolver(tree)
            program.run(1)
            equilibrium = program.average_policy().to_openspiel()
            pairs["NashConv of the linear program"] = [0.0, pyspiel.nash_conv(game, equilibrium, True)]
    return pairs


def best_play(state, n_players: int) -> list[float]:
    """Utility per seat when each plays best: plain recursion over OpenSpiel's states."""
    if state.is_terminal():
        return state.returns()
    if state.is_chance_node():
        values = [(prob, best_play(state.child(outcome), n_players)) for outcome, prob in state.chance_outcomes()]
        return [sum(prob * value[seat] for prob, value in values) for seat in range(n_players)]
    seat = state.current_player()
    return max((best_play(state.child(action), n_players) for action in state.legal_actions()), key=lambda v: v[seat])


def table(results: list[dict]) -> str:
    """What the sweep found, as markdown: games whose tree was extracted, and why others were not."""
    lines = ["| game | nodes | information sets | players | what rules solvers out |", "|---|---|---|---|---|"]
    reasons: dict[str, list[str]] = {}
    for found in results:
        name = found["game"].replace("|", " ")
        if "nodes" in found:
            traits = [
                word
                for word, given in (
                    ("general-sum", not found["zero_sum"]),
                    ("no perfect recall", not found["recall"]),
                )
                if given
            ]
            traits = [*found["unknown"], *traits]
            nodes, infosets = f"{found['nodes']:,}", f"{found['infosets']:,}"
            lines.append(f"| `{name}` | {nodes} | {infosets} | {found['players']} | {', '.join(traits) or 'nothing'} |")
        else:
            says = found["solvers"]["cfr"]["says"]
            size = re.search(r"about ([0-9.e+^]+) nodes", says)
            reasons.setdefault(_reason(says), []).append(f"{name} ({size.group(1)})" if size else name)
    for reason, names in sorted(reasons.items(), key=lambda pair: -len(pair[1])):
        lines += ["", f"{reason} ({len(names)}): {', '.join(names)}."]
    return "\n".join(lines)


def _reason(says: str) -> str:
    for word, reason in (
        ("nodes", f"More than {MAX_NODES:,} nodes, with the estimate"),
        ("information-state strings", "No information-state strings, so nobody can say what a seat knows"),
        ("only sampled", "Chance is sampled and never listed"),
        ("mean-field", "Mean-field games"),
        ("OpenSpiel refuses", "Need parameters of their own"),
        ("come again", "Cycles: `value_iteration` solves them without a tree"),
    ):
        if word in says:
            return reason
    return "Fail by themselves with their default parameters"


if __name__ == "__main__":
    if sys.argv[1] == "--list":
        print(json.dumps(games_to_sweep()))
    elif sys.argv[1] == "--table":
        print(table([json.loads(line) for line in sys.stdin]))
    else:
        resource.setrlimit(resource.RLIMIT_AS, (MAX_BYTES, MAX_BYTES))
        print(json.dumps(sweep(sys.argv[1])))
