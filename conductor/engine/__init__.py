"""Who executes runs, and who takes them up again after a crash.

``local`` runs them as tasks of this process; ``recorded`` also writes them down with DBOS Transact. Which
process executes a run is decided by ``claims``, and what has been done already by the stored events.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from conductor.engine.local import Executes
    from conductor.settings import Settings


class Engine(Protocol):
    """Starts, cancels and resumes runs. Every method may be called again without harm."""

    name: str

    @property
    def problems(self) -> tuple[str, ...]:
        """What does not work, in words, for the health page."""
        ...

    def claim(self, run_id: str) -> bool:
        """Makes a run this process's own before it is stored; ``False``: another process has it."""
        ...

    def give_back(self, run_id: str) -> None:
        """Lets go of a run that was claimed and not started."""
        ...

    def start(self, run_id: str) -> None:
        """Begins to execute a stored run at once; does nothing when that is under way."""
        ...

    async def cancel(self, run_id: str) -> None:
        """Ends a run as cancelled; returns when that is stored, or after 2 seconds."""
        ...

    async def resume_unfinished(self) -> tuple[str, ...]:
        """Takes up every unfinished run that no living process executes; returns their ids."""
        ...

    async def stop(self) -> None:
        """Ends execution. Unfinished runs stay unfinished and are resumed by the next process."""
        ...


def open_engine(
    settings: Settings, runner: Executes, unfinished: Callable[[], Awaitable[Sequence[str]]]
) -> Engine:
    """The engine that the settings ask for, its files beside the database."""
    from conductor.engine.claims import Claims
    from conductor.engine.recorded import RecordedEngine

    claims = Claims(settings.db.with_name(f"{settings.db.name}-claims"))
    return RecordedEngine(runner, unfinished, claims, settings.db.with_name(f"{settings.db.name}-engine"))
