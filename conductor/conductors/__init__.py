"""Conductors: whoever writes workflows. The protocol, the kinds there are, and how an id becomes one."""

from conductor.conductors.base import (
    Conductor,
    ConductorNotReady,
    ConductorRequest,
    EarlierRound,
    Refusal,
    UnknownConductor,
    Written,
)
from conductor.conductors.choosing import default_conductor, list_conductors, resolve

__all__ = [
    "Conductor",
    "ConductorNotReady",
    "ConductorRequest",
    "EarlierRound",
    "Refusal",
    "UnknownConductor",
    "Written",
    "default_conductor",
    "list_conductors",
    "resolve",
]
