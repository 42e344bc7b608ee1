"""`quandary serve`: play in the browser, with the bot's odds beside every move.

Plain pages from the server: no script, nothing to build, nothing fetched from elsewhere. The
table is the same picture that the terminal draws, and a board is drawn. Games are kept in memory;
an address like /game/3f... is the only key to one. Every form carries the number of steps that had
happened when its page was made, so that a move from an old page is refused instead of being made
in another position.
"""

from __future__ import annotations

from experiments.web.app import make_app
from experiments.web.server import serve

__all__ = ["make_app", "serve"]
