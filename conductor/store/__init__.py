"""Where runs, answers, plans and workflows are kept: one SQLite file. Others know only ``Store``."""

from .deletion import UNDO_S
from .errors import KeyTaken, NameTaken, StoreError
from .results import StoredResult
from .runs import Once
from .store import Store
from .texts import TextSoFar

__all__ = ["UNDO_S", "KeyTaken", "NameTaken", "Once", "Store", "StoreError", "StoredResult", "TextSoFar"]
