"""The vocabulary of Conductor Studio and the client of its API. Depends on pydantic and httpx only."""
