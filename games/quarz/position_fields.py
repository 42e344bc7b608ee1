"""The form of a position written by hand: its fields and their types (README.md, "Positions by hand").

What fits together, and with the rules, positions.pyx sees to.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from engine_ext.errors import PositionError

_NONE = type(None)
# key -> (types allowed, type of a list's items or None)
_Form = Mapping[str, tuple[tuple[type, ...], Any]]
_POSITION: _Form = {
    "mobs": ((list,), dict),
    "tiles": ((dict,), None),
    "melted": ((list,), list),
    "traps": ((dict,), None),
    "idol": ((list, tuple), int),
    "carrier": ((list, tuple, _NONE), int),
    "shrine_cards": ((list,), (str, _NONE)),
    "time": ((dict,), None),
    "order": ((list,), int),
    "turn": ((int, _NONE), None),
    "actions": ((int,), None),
    "extras": ((int,), None),
    "moment": ((str,), None),
    "pending": ((dict,), None),
    "recall": ((list,), str),
    "epochs": ((list,), list),
}
_MOB: _Form = {
    "mob": ((str, _NONE), None),
    "camp": ((int, _NONE), None),
    "favor_hand": ((list,), int),
    "favor": ((int, _NONE), None),
    "reactions": ((int,), None),
    "munched": ((int,), None),
    "shrines": ((list,), int),
    "monsters": ((list,), dict),
}
_MONSTER: _Form = {
    "name": ((str,), None),
    "at": ((list, tuple), int),
    "energy": ((int, _NONE), None),
    "spent": ((int, _NONE), None),
    "hand": ((list,), str),
    "draw": ((list,), str),
    "discard": ((list,), str),
    "slots": ((list,), str),
    "removed": ((list, str), str),
    "playing": ((list,), str),
    "stun": ((int,), None),
    "poison": ((int,), None),
    "shield": ((int,), None),
    "frost": ((int,), None),
    "boost": ((int,), None),
    "resting": ((bool,), None),
    "melted": ((bool,), None),
}
_TIME: _Form = {
    "tile": ((str, _NONE), None),
    "left": ((int,), None),
    "turns": ((int,), None),
    "used": ((list,), str),
}


def check_form(position: Mapping[str, Any]) -> None:
    """Check that every field is known and has a type that the reader can work with.

    Raises:
        PositionError: names the field.
    """
    _check("", position, _POSITION)
    _check("time.", position.get("time", {}), _TIME)
    for seat, mob in enumerate(position.get("mobs", [])):
        _check(f"mobs[{seat}].", mob, _MOB)
        for k, monster in enumerate(mob.get("monsters", [])):
            _check(f"mobs[{seat}].monsters[{k}].", monster, _MONSTER)


def _check(where: str, table: Mapping[str, Any], form: _Form) -> None:
    for key, value in table.items():
        if key not in form:
            raise PositionError(f"quarz: {where}unknown field {key!r}; allowed: {', '.join(form)}")
        kinds, item = form[key]
        names = " or ".join("null" if kind is _NONE else kind.__name__ for kind in kinds)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            raise bad(f"{where}{key}", value, f"of type {names}")
        if item is not None and isinstance(value, (list, tuple)):
            for part in value:
                if not isinstance(part, item) or (isinstance(part, bool) and item is int):
                    raise bad(f"{where}{key}", value, f"{names} of {getattr(item, '__name__', 'names or null')}")


def bad(field: str, given: object, allowed: str) -> PositionError:
    """The error of a field that is not what it must be."""
    return PositionError(f"quarz: {field} is {given!r}, must be {allowed}")


def whole(field: str, value: Any, low: int, high: int) -> int:
    """The value when it is an int of low to high, else PositionError."""
    if type(value) is not int or not low <= value <= high:
        raise bad(field, value, f"an int of {low} to {high}")
    return value
