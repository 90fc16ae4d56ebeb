"""The schema of a result's file: arrays, attributes, and the provenance in JSON."""

from __future__ import annotations

from typing import Annotated, Any

import numpy as np
from pydantic import AfterValidator, BaseModel, ConfigDict, Field, Json, JsonValue

from jaxduel.policies.checks import MAX_HORIZON

_WHOLE, _REAL = np.int64, np.float64
TYPES: dict[str, Any] = {
    **dict.fromkeys(("regret", "total_regret_mean", "total_regret_m2"), _REAL),
    **dict.fromkeys(("plays", "pairs", "checkpoint", "total_plays", "batches"), _WHOLE),
    **dict.fromkeys(("total_seeds", "total_batches", "most_batches"), _WHOLE),
    "outcomes": (np.int32, np.float64),
}
"""Types of every array that a file may have; it may also have the coordinates seed and arm."""

Count = Annotated[int, Field(ge=1, le=MAX_HORIZON)]
Index = Annotated[int, Field(ge=0, le=MAX_HORIZON)]


def _changed_ones_are_there(policy: _Policy) -> _Policy:
    if not set(policy.changed) <= set(policy.parameters):
        raise ValueError("parameters are missing that were changed")
    return policy


class _Policy(BaseModel):
    name: str
    num_arms: Count
    parameters: dict[str, JsonValue]
    changed: list[str]


class _Problem(BaseModel):
    name: str
    digest: str
    num_arms: Count


class MadeBy(BaseModel):
    """The provenance, of which parts may be missing; other parts are not looked at."""

    model_config = ConfigDict(extra="allow")

    policy: Annotated[_Policy, AfterValidator(_changed_ones_are_there)] | None = None
    problem: _Problem | None = None
    arms: list[str] | None = None
    horizon: Count | None = None
    num_seeds: Count | None = None
    first_seed: Index = 0
    checkpoints: list[Count] | None = None
    regret: str | None = None
    delay: Count = 1
    lanes: Count | None = None
    code: str | None = None
    versions: dict[str, str] = {}
    command: str | None = None


class Attributes(BaseModel):
    """The attributes of a file, and that of its array `regret`."""

    policy: str
    problem: str
    horizon: Count
    root_seed: int | str
    definition: str
    made_by: Json[MadeBy]
    format: int = 1
