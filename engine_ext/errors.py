"""The named errors of the whole project.

Every error that bad input can cause is a `QuandaryError`, and every `QuandaryError` is a
`ValueError`. A message says what was given, what is allowed, and where (file, key, field).
The state, file or folder concerned is left as it was.
"""


class QuandaryError(ValueError):
    """Root of all errors that bad input can cause."""


class IllegalActionError(QuandaryError):
    """An action or chance outcome that the position does not allow."""


class ParameterError(QuandaryError):
    """A game parameter that is unknown, of the wrong type, or out of range."""


class DataError(QuandaryError):
    """A data file (deck, card set, board, scenario) that is malformed; names file and key."""


class PositionError(QuandaryError):
    """A position set up by hand that contradicts itself; names the field."""


class SavedStateError(QuandaryError):
    """Saved bytes or a saved file that is damaged, of another game, or of another version."""


class SpecError(QuandaryError):
    """A bot or solver spec that does not parse, or names an unknown bot or parameter."""


class LimitError(QuandaryError):
    """A search limit that is missing, contradictory or out of range."""


class UnsuitableGameError(QuandaryError):
    """A solver was asked to solve a game whose properties rule it out; names the property."""


class TooLargeError(QuandaryError):
    """A game, tree or table would not fit; carries the estimate."""


class DiceError(QuandaryError):
    """A bag, roll, draw or multiset that cannot be: counts, sizes or ranks out of range."""


class AttackError(QuandaryError):
    """An attack total, list of defences or order of defence that cannot be."""


class BoardError(QuandaryError):
    """A hex board, cell or edge that cannot be; names the cell or edge."""


class ConfigError(QuandaryError):
    """An experiment config that is malformed; names file and key."""


class ResultsError(QuandaryError):
    """A run folder or results file that is damaged or belongs to another config."""


def reason(error: BaseException) -> str:
    """What went wrong in few words, for a message that names the file itself: an OSError says it again."""
    return error.strerror if isinstance(error, OSError) and error.strerror else str(error)


def quoted(text: object, most: int = 80) -> str:
    """What was given, for a message: as Python writes it, and where it is long its beginning and its length."""
    if isinstance(text, str) and len(text) > most:
        return f"{text[:most]!r}… ({len(text)} characters)"
    try:
        written = repr(text)
    except ValueError:  # Python writes no whole numbers of more than some thousand digits
        return f"a whole number of {text.bit_length()} bits" if isinstance(text, int) else f"a {type(text).__name__}"
    return written if isinstance(text, str) or len(written) <= most else f"{written[:most]}…"
