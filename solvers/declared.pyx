"""What is known of a game before it is extracted, for checks before the work."""
import time

import numpy as np

from engine_ext.game cimport TERMINAL
from solvers.openspiel_walk cimport Labels
from solvers.tree cimport FlatTree
from solvers.tree_builder cimport Builder
from solvers.tree_rules cimport TreeRules

from solvers.contract import HIDING, SIMULTANEOUS
from solvers.game_source import SURVEY_GAMES, SURVEY_SECONDS, WALKED_SECONDS, Source, Survey, named_errors
from solvers.openspiel_walk import openspiel_steps
from solvers.tree import openspiel_identity, take_forced
from solvers.tree_rules import require_width
from solvers.tree_size import FREE_NODES, default_max_nodes


cdef class DeclaredRules(TreeRules):
    """What is known of an OpenSpiel game before it is extracted, for checks before the work.

    Its name, its players and what it hides are declared by the game; what it does not declare is
    looked up in a `Survey` of random games, made when first asked for. The game of these rules is
    over at once.
    """
    cdef object game_source
    cdef object found
    cdef object learnt         # a Survey: what a walk has met

    @property
    def survey(self):
        """Survey"""
        if self.found is None:
            self.found = self.game_source.survey()
        return self.found

    @property
    def zero_sum(self):
        """Whether the game declares that utilities sum to 0; where it does not, whether they did in
        every game of the survey."""
        return self.game_source.declared_zero_sum or self.learnt.zero_sum and self.survey.zero_sum

    @property
    def perfect_recall(self):
        """Whether no seat forgot its own past, in the survey or in the beginning of the tree."""
        if not self.game_source.by_key:    # then a walk tells sets apart by what their seats did
            return True
        if self.learnt.recalls and self.survey.recalls and not self.survey.walked:
            self.survey.recalls, self.survey.walked = recalls_at_first(self.game_source), True
        return self.learnt.recalls and self.survey.recalls

    @property
    def abilities(self):
        names = TreeRules.abilities.__get__(self)   # those of the game that is over at once: no stages
        return (*names, "rewind") if self.hidden_information and self.survey.stages else names

    @property
    def starts_with_chance(self):
        """Whether the first thing that is not forced is left to chance."""
        state = self.game_source.state.clone()
        with named_errors(self.game_source.called):
            take_forced(state)
            return not state.is_terminal() and state.is_chance_node()

    def require_searchable(self):
        """Raise UnsuitableGameError where a node is known to be too wide for searchers."""
        require_width(self.name, max(self.learnt.most_legal, self.survey.most_legal),
                      max(self.learnt.most_outcomes, self.survey.most_outcomes), self.instead)

    def learn(self, found):
        """Take note of what a walk has met: a Survey, as `extract` gives to its `check`."""
        self.learnt = found

    @property
    def secrecy(self):
        """What it is that a seat does not know: see `contract.require_open`."""
        if not self.game_source.simultaneous:
            return TreeRules.secrecy.__get__(self)
        return f"{SIMULTANEOUS}, and {HIDING}" if self.game_source.imperfect else SIMULTANEOUS

    def instead(self, advice):
        """The advice to use another solver; where the tree is too large for any, what OpenSpiel has."""
        source = self.game_source
        estimate = source.probe(SURVEY_GAMES, 0, SURVEY_SECONDS)
        if estimate.nodes <= default_max_nodes(source.n_players):
            return advice
        return f"no other solver of ours applies, since its tree has {estimate}; {source.elsewhere()}"


def declared_rules(source, began=None):
    """What is known of a game before any work: the rules of a native one, else `DeclaredRules`.

    Args:
        source: as for `extract`.
        began: likewise.
    """
    source = Source(source, None, whole=False, began=began)
    if source.position is not None:
        return source.position.rules
    cdef FlatTree tree = FlatTree.__new__(FlatTree)
    tree.name, tree.native, tree.names, tree.start, tree.source = source.name, False, "history", [], source.game
    tree.rules_identity, tree.hidden_information = openspiel_identity(source.game), source.hidden
    tree.n_actions = tree.n_outcomes = 0
    tree.action_names, tree.outcome_names = {}, {}
    tree.arrays = {
        "player": np.array([TERMINAL], np.int8), "parent": np.array([-1], np.int32), "first": np.zeros(1, np.int32),
        "count": np.zeros(1, np.int32), "infoset": np.zeros(1, np.int32), "action": np.array([-1], np.int32),
        "prob": np.ones(1), "utility": np.zeros((1, source.n_players)), "info_player": np.zeros(0, np.int8),
        "info_first": np.zeros(1, np.int32), "info_parent": np.zeros(0, np.int32), "info_key": np.zeros(0, np.uint64),
    }
    tree._bind()
    cdef DeclaredRules rules = DeclaredRules(tree)
    rules.game_source, rules.learnt = source, Survey()
    return rules


def recalls_at_first(source):
    """Whether no seat forgets its own past in the beginning of the tree, a second's walk at most.

    A walk comes to one information state by ways that lie close together, which random games seldom do."""
    cdef Builder builder = Builder(source.n_players, True)
    walk = openspiel_steps(source, builder, Labels(source.called, source.observe))
    next(walk)
    deadline = source.until(SURVEY_SECONDS, WALKED_SECONDS)
    while not builder.forgets and not walk.send((FREE_NODES, deadline)):
        if not builder.news and (builder.player.size >= FREE_NODES or time.perf_counter() > deadline):
            break
        builder.news = False
    return not builder.forgets
