"""Asking a server in the words it knows: a 400 that names a parameter is answered once without it.

What was learnt counts for this worker's address and model as long as the process lives, and is told on every
step it changes.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

import httpx2

from conductor.providers.base import Worker
from conductor.providers.failures import Said, failure
from conductor.providers.profiles import Adaptation, adapted

MOST_ADAPTATIONS = 4
"""Parameters one call gives up; a server that complains of more of them gets no further request."""


class Refused(Exception):
    """The server answered with an error status."""

    def __init__(self, said: Said) -> None:
        super().__init__(said.message)
        self.said = said


Post = Callable[[Mapping[str, Any]], Awaitable[httpx2.Response]]
"""Sends one body. Raises ``Refused`` for an error status, ``WorkerError`` when nothing came back."""


class Adaptations:
    """What the servers of one provider have taught this process."""

    def __init__(self) -> None:
        self._learnt: dict[tuple[str | None, str], Adaptation] = {}

    def learnt(self, worker: Worker) -> tuple[str, ...]:
        """What the worker's server has refused so far, in words."""
        return self._learnt.get((worker.base_url, worker.model), Adaptation()).described

    async def send(
        self, worker: Worker, body: Mapping[str, Any], post: Post
    ) -> tuple[httpx2.Response, tuple[str, ...]]:
        """The response, and notes on what of ``body`` was changed. Raises ``WorkerError``."""
        place = (worker.base_url, worker.model)
        for turn in range(MOST_ADAPTATIONS + 1):
            learnt = self._learnt.get(place, Adaptation())
            asked = learnt.apply(body)
            try:
                return await post(asked), learnt.told(body)
            except Refused as refused:
                # Another call may have learnt the same meanwhile: then this one is asked again as it says.
                now = self._learnt.get(place, Adaptation())
                better = now if now.apply(body) != asked else adapted(refused.said, asked, now)
                if better is None or turn == MOST_ADAPTATIONS:
                    raise failure(worker, refused.said) from refused.__cause__
                self._learnt[place] = better
        raise AssertionError("unreachable")
