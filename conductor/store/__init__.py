"""Where runs, answers, plans and workflows are kept: one SQLite file. Others know only ``Store``."""

from .deletion import UNDO_S
from .errors import NameTaken, StoreError
from .results import StoredResult
from .store import Store
from .texts import TextSoFar

__all__ = ["UNDO_S", "NameTaken", "Store", "StoreError", "StoredResult", "TextSoFar"]
