"""Full-text search over what a run says: its prompt, its instructions, its outputs.

FTS5 with the ``unicode61`` tokenizer and a prefix match on every word, not trigrams: an index of words takes
a third of the space, ignores accents, and finds words of one or two letters, which trigrams cannot (and most
Chinese words have two). What it lacks, words in scripts without spaces, is added here: an invisible separator
stands around each such character in the index, so that any row of them is found as a phrase.

Outputs are indexed once, when the run has ended; at most ``MAX_INDEXED`` characters of each column.
"""

from __future__ import annotations

import re
import sqlite3
import unicodedata
from collections.abc import Sequence

from conductor_client.run_state import RunState

MAX_INDEXED = 200_000
"""Characters of each column that are searchable; an output of 20 MB would double the file otherwise."""
MAX_QUERY = 1_000
MAX_WORDS = 24
_MERGE_PAGES = 100
_GAP = "\u200b"
_UNSPACED = re.compile(
    "([\u0e00-\u0eff\u0f00-\u0fff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3105-\u312f\u31a0-\u31ff"
    "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\uff66-\uff9d\U00020000-\U0003ffff])"
)
_NOT_TEXT = {0: " ", ord("⟦"): "[", ord("⟧"): "]"}
"""Marks of ours never stand in the text itself; a NUL would end it for SQLite."""
_WORDS = re.compile(r'"([^"]*)"|([^\s"]+)')


def create(conn: sqlite3.Connection) -> None:
    """Makes the empty index; ``rowid`` is ``runs.id``."""
    conn.execute(
        "CREATE VIRTUAL TABLE search USING fts5"
        "(prompt, instructions, outputs, tokenize = 'unicode61 remove_diacritics 2', prefix = '2 3')"
    )


def index(conn: sqlite3.Connection, state: RunState) -> None:
    """Puts what a run says now in place of what it said before."""
    (row_id,) = conn.execute("SELECT id FROM runs WHERE run_id = ?", (state.run_id,)).fetchone()
    conn.execute("DELETE FROM search WHERE rowid = ?", (row_id,))
    conn.execute(
        "INSERT INTO search (rowid, prompt, instructions, outputs) VALUES (?, ?, ?, ?)",
        (row_id, *(spaced(text[:MAX_INDEXED]) for text in _said(state))),
    )


def begin_merge(conn: sqlite3.Connection) -> None:
    """Starts rewriting the index into one piece, without the words of runs that were removed.

    Not in the transaction that removed them: FTS5 would not see that yet.
    """
    conn.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (-_MERGE_PAGES,))


def merge_more(conn: sqlite3.Connection) -> bool:
    """Does a little of it (about 15 ms). Returns whether there is more to do."""
    before = conn.total_changes
    conn.execute("INSERT INTO search (search, rank) VALUES ('merge', ?)", (_MERGE_PAGES,))
    return conn.total_changes - before >= 2


def matching(query: str) -> str | None:
    """A person's words as an FTS5 query: all of them, each the beginning of a word; ``None`` = no words.

    A single letter is a whole word, since half of everything begins with it. Words in double quotes stand
    together. Nothing a person types is read as query syntax.
    """
    clean = literal(query)
    found = [phrase or word for phrase, word in _WORDS.findall(clean)]
    words = [word for word in found if any(letter.isalnum() for letter in word)]
    return " ".join(f'"{word}"*' if len(word) > 1 else f'"{word}"' for word in words[:MAX_WORDS]) or None


def literal(query: str) -> str:
    """What a person typed, in the form in which texts are indexed: for signs that belong to no word."""
    return spaced(query[:MAX_QUERY].encode("utf-8", "replace").decode("utf-8")).strip()


def snippets(conn: sqlite3.Connection, match: str, row_ids: Sequence[int]) -> dict[int, str]:
    """Where the words stand in these runs, with them between ``⟦`` and ``⟧``, by ``runs.id``."""
    marks = ",".join("?" * len(row_ids))
    rows = conn.execute(
        "SELECT rowid, snippet(search, -1, '⟦', '⟧', '…', 24) FROM search"
        # The plus keeps SQLite from searching anew for each row.
        f" WHERE search MATCH ? AND +rowid IN ({marks})",
        (match, *row_ids),
    )
    return {row_id: " ".join(text.replace(_GAP, "").split()) for row_id, text in rows}


def spaced(text: str) -> str:
    """Text as it is indexed: composed, without our marks, a gap around characters of unspaced scripts."""
    plain = unicodedata.normalize("NFC", text.translate(_NOT_TEXT))
    return _UNSPACED.sub(rf"{_GAP}\1{_GAP}", plain)


def _said(state: RunState) -> tuple[str, str, str]:
    workflows = [each.workflow for each in state.rounds if each.workflow is not None]
    instructions = (step.instruction for workflow in workflows for step in workflow.steps)
    outputs = (step.output or step.partial_text for step in state.steps.values()) if state.has_ended else ()
    return state.prompt, "\n".join(dict.fromkeys(instructions)), "\n".join(filter(None, outputs))
