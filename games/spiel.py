"""The OpenSpiel face, written once: Game, State and Observer over any `Position`.

`register(spec)` makes one subclass of `Game` for a game and registers it. It must be a class:
a registered function or closure aborts the interpreter at exit. It must also be an attribute of
this module, or a Game could not be pickled.

What OpenSpiel 2.0 asks of a Python game and where it bends:

* Cloning a state makes a new initial state and deep-copies every attribute, so a State has one
  attribute, the Position (and `start` only where the game began from a hand-made position).
* Python callers are served by Python overrides of `legal_actions` and `is_chance_node`; without
  them each call crosses the binding three times.
* OpenSpiel does not check legality in `apply_action`; the Position does, and its named error
  passes through unchanged.
* `resample_from_infostate` is called by OpenSpiel's Python IS-MCTS; the C++ one cannot reach it.
* The C++ `MCTSBot.step` and `ISMCTSBot.step` drop the GIL and crash on any Python game;
  `pyspiel.Bot.step(bot, state)` and `mcts_search` work (docs/openspiel.md).
"""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pyspiel

from engine_ext.errors import IllegalActionError, ParameterError, PositionError
from engine_ext.position import Position
from engine_ext.rng import Stream
from games.spec import GameSpec, ParameterValue

_CHANCE = pyspiel.PlayerId.CHANCE


def _game_type(spec: GameSpec, *, hidden: bool, zero_sum: bool) -> pyspiel.GameType:
    kinds = pyspiel.GameType
    return kinds(
        short_name=spec.name,
        long_name=spec.long_name,
        dynamics=kinds.Dynamics.SEQUENTIAL,
        chance_mode=kinds.ChanceMode.EXPLICIT_STOCHASTIC if spec.has_chance else kinds.ChanceMode.DETERMINISTIC,
        information=kinds.Information.IMPERFECT_INFORMATION if hidden else kinds.Information.PERFECT_INFORMATION,
        utility=kinds.Utility.ZERO_SUM if zero_sum else kinds.Utility.GENERAL_SUM,
        reward_model=kinds.RewardModel.TERMINAL,
        max_num_players=spec.players[1],
        min_num_players=spec.players[0],
        provides_information_state_string=True,
        provides_information_state_tensor=spec.provides_recall_tensor,
        provides_observation_string=True,
        provides_observation_tensor=spec.provides_tensor,
        provides_factored_observation_string=False,
        parameter_specification=dict(spec.all_parameters),
        default_loadable=True,
    )


class Game(pyspiel.Game):
    """Any game as a `pyspiel.Game`; each registered game is a subclass with its own `spec`.

    Attributes:
        spec: the game's `GameSpec`.
        rules: the `Rules` object for these parameters.
    """

    spec: GameSpec

    def __init__(self, params: Mapping[str, ParameterValue] | None = None) -> None:
        params = dict(params or {})
        for key, value in params.items():
            if isinstance(value, str) and ("," in value or "=" in value):
                raise ParameterError(
                    f"{self.spec.name}: parameter {key} is {value!r}; OpenSpiel's game strings cannot hold ',' or '='"
                )
        self.rules = self.spec.make_rules(params)
        rules = self.rules
        info = pyspiel.GameInfo(
            num_distinct_actions=rules.num_distinct_actions(),
            max_chance_outcomes=rules.max_chance_outcomes(),
            num_players=rules.num_players(),
            min_utility=rules.min_utility(),
            max_utility=rules.max_utility(),
            utility_sum=0.0 if rules.zero_sum else None,
            max_game_length=rules.max_game_length(),
        )
        kind = _game_type(self.spec, hidden=rules.hidden_information, zero_sum=rules.zero_sum)
        super().__init__(kind, info, params)

    def new_initial_state(self, start: Any = None) -> State:
        """A state at the start of the game, or at a hand-made position.

        Args:
            start: a dict as `to_dict` writes it, or the same as JSON text.

        Raises:
            PositionError: the position contradicts itself; the message names the field.
        """
        return State(self, start)

    def max_chance_nodes_in_history(self) -> int:
        """Bound on the chance nodes of one game."""
        return self.rules.max_chance_nodes_in_history()

    def make_py_observer(self, iig_obs_type: Any = None, params: Any = None) -> Observer:
        """OpenSpiel's hook for observers; default is the observation without perfect recall."""
        return Observer(self, iig_obs_type or pyspiel.IIGObservationType(perfect_recall=False), params)

    def position_of(self, state: pyspiel.State) -> Position:
        """The native position behind one of this game's states."""
        return state.position


class State(pyspiel.State):
    """Any game's state as a `pyspiel.State`.

    Attributes:
        position: the native `Position`; changing it behind OpenSpiel's back breaks the history.
    """

    position: Position

    def __init__(self, game: Game, start: Any = None) -> None:
        super().__init__(game)
        if start is None:
            self.position = game.rules.initial_position()
            return
        if isinstance(start, str):
            try:
                start = json.loads(start)
            except (ValueError, RecursionError) as error:
                raise PositionError(f"{game.spec.name}: the position is not JSON: {error}") from error
        if not isinstance(start, dict):
            raise PositionError(f"{game.spec.name}: a position is a dict, not {type(start).__name__}")
        self.position = game.rules.from_dict(start)
        self.start = json.dumps(start, sort_keys=True)

    # ---- what OpenSpiel asks ---------------------------------------------------------------

    def current_player(self) -> int:
        """Seat to move, or pyspiel.PlayerId.CHANCE or TERMINAL."""
        return self.position.current_player()

    def is_chance_node(self) -> bool:
        """Whether chance is to move."""
        return self.position.is_chance_node()

    def is_terminal(self) -> bool:
        """Whether the game is over."""
        return self.position.is_terminal()

    def legal_actions(self, player: int | None = None) -> list[int]:
        """Ascending ids of the decision or chance node; [] for a player who is not to move."""
        return self.position.legal_actions(player)

    def _legal_actions(self, player: int) -> list[int]:
        return self.position.legal_actions(player)

    def chance_outcomes(self) -> list[tuple[int, float]]:
        """[(outcome, probability)] of a chance node."""
        return self.position.chance_outcomes()

    def _apply_action(self, action: int) -> None:
        self.position.apply_action(action)

    def _action_to_string(self, player: int, action: int) -> str:
        return self.position.action_to_string(player, action)

    def returns(self) -> list[float]:
        """Utility per seat; zeros before the end."""
        return self.position.returns()

    def rewards(self) -> list[float]:
        """The same as returns: rewards come at the end only."""
        return self.position.returns()

    def __str__(self) -> str:
        return str(self.position)

    # ---- information -----------------------------------------------------------------------

    def recall(self, player: int) -> str:
        """The player's information state, with perfect recall.

        With perfect information that is the history, after the start where it was hand-made;
        otherwise what the position says.
        """
        if self.position.rules.hidden_information:
            return self.position.information_state_string(player)
        start: str = getattr(self, "start", "")
        return start + self.history_str()

    def resample_from_infostate(self, player: int, sampler: Callable[[], float]) -> State:
        """A state the player cannot tell from this one.

        Args:
            player: the observer's seat.
            sampler: returns uniform floats in [0, 1).
        """
        state = self.clone()
        state.position = self.position.resample(player, Stream(int(sampler() * 2**53)))
        return state

    # ---- structs: to_dict, to_json, apply_action_struct ---------------------------------------

    def _to_struct(self) -> dict[str, Any]:
        return self.position.to_dict()

    def _to_observation_struct(self, player: int) -> dict[str, Any]:
        return {"observation": self.position.observation_string(player)}

    def _action_to_struct(self, player: int, action: int) -> dict[str, Any]:
        return {"action": self.position.action_to_string(player, action)}

    def _struct_to_actions(self, struct: Mapping[str, Any]) -> list[int]:
        text = str(struct.get("action"))
        if self.position.is_chance_node():
            for outcome, _ in self.position.chance_outcomes():
                if self.position.action_to_string(_CHANCE, outcome) == text:
                    return [outcome]
            raise IllegalActionError(f"{text!r} names no outcome of this chance node")
        return [self.position.string_to_action(text)]


class Observer:
    """OpenSpiel's observer over any game.

    With private information the player's own view (`SINGLE_PLAYER`) or the whole state
    (`ALL_PLAYERS`). The games do not split their views into public and private parts, so an
    observer of public information alone is refused.

    Attributes:
        tensor: float32 array, flat; zeros where the game offers no tensor.
        dict: {"observation": the tensor in its shape}.
    """

    def __init__(self, game: Game, iig_obs_type: Any, params: Any) -> None:
        if params:
            raise ParameterError(f"{game.spec.name}: observers take no parameters, got {params}")
        self._recall = bool(iig_obs_type.perfect_recall)
        self._whole = iig_obs_type.private_info == pyspiel.PrivateInfoType.ALL_PLAYERS
        alone = iig_obs_type.private_info == pyspiel.PrivateInfoType.SINGLE_PLAYER
        if game.rules.hidden_information and not (self._whole or alone):
            raise ParameterError(f"{game.spec.name}: an observer of public information alone is not offered")
        rules = game.rules
        wanted = game.spec.provides_recall_tensor if self._recall else game.spec.provides_tensor
        shape = (rules.recall_tensor_shape() if self._recall else rules.tensor_shape()) if wanted else []
        self._has_tensor = bool(shape)
        self.tensor = np.zeros(int(np.prod(shape)) if shape else 0, dtype=np.float32)
        self.dict = {"observation": self.tensor.reshape(shape)} if shape else {}

    def set_from(self, state: State, player: int) -> None:
        """Fill `tensor` with what the player sees of the state."""
        if not self._has_tensor:
            return
        self.tensor.fill(0)
        rules = state.position.rules
        if self._recall:
            rules.recall_tensor(state.position, player, self.tensor)
        else:
            rules.observe_tensor(state.position, player, self.tensor)

    def string_from(self, state: State, player: int) -> str:
        """What the player sees of the state, as text."""
        if self._whole:
            return str(state.position)
        if self._recall:
            return state.recall(player)
        return state.position.observation_string(player)


def register(spec: GameSpec) -> None:
    """Make the game's subclass of `Game` and register it with OpenSpiel."""
    name = f"Game_{spec.name}"
    made = type(name, (Game,), {"spec": spec, "__module__": __name__, "__doc__": f"{spec.long_name} for OpenSpiel."})
    setattr(sys.modules[__name__], name, made)
    kind = _game_type(spec, hidden=spec.hidden_information, zero_sum=spec.players == (2, 2))
    pyspiel.register_game(kind, made)
