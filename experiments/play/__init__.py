"""`quandary play`: a game against bots, in the terminal."""

from __future__ import annotations

from experiments.play.screen import play

__all__ = ["play"]
