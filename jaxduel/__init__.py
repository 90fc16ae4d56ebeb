"""jaxduel: vectorized simulation of dueling and batched bandits, exactly, for thousands of seeds at
once.

Names are imported when they are first used: the command line answers an interrupt while the rest is
still being imported. What takes long to import (SciPy, optax, matplotlib, xarray) is imported where
it is used, so that `simulate` and what it needs add a quarter to the time of importing JAX.

Terms:

- Duel, comparison: two arms are played and one wins. An arm may meet itself, which teaches nothing.
- Informative comparison: one of two different arms, whose outcome may change what a policy does.
- Quiet run: comparisons of an arm with itself, or pulls of an arm, one after the other, that change
  nothing but the clock. The simulator skips them: `jaxduel.policies.SupportsSkip`.
- Round, batch: plays that are committed to at once; their outcomes are drawn as sums.
- Seed: one independent run, by its number; `seed=` is the root of the randomness of all.
- Lane: the place of a seed in the arrays of a program; `vmap` adds the axis.
- Block: the seeds, as many as there are lanes, that run as one: what is compiled, placed on a
  device, stored and resumed.
- Cell: a policy with its parameters on an instance up to a horizon; what a sweep has many of.
- Checkpoint: a time at which plays are recorded.
"""

import time
from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from jaxduel import gradients as gradients
    from jaxduel import plotting as plotting
    from jaxduel import policies as policies
    from jaxduel import problems as problems
    from jaxduel import stats as stats
    from jaxduel import theory as theory
    from jaxduel import votes as votes
    from jaxduel.errors import AssumptionWarning as AssumptionWarning
    from jaxduel.errors import InputError as InputError
    from jaxduel.errors import SolverError as SolverError
    from jaxduel.simulation import Result as Result
    from jaxduel.simulation import join as join
    from jaxduel.simulation import load_result as load_result
    from jaxduel.simulation import simulate as simulate
    from jaxduel.simulation import simulate_many as simulate_many
    from jaxduel.simulation.compilation_cache import (
        use_compilation_cache as use_compilation_cache,
    )
    from jaxduel.simulation.conformance.suite import check_policy as check_policy
    from jaxduel.simulation.devices import use_all_cores as use_all_cores
    from jaxduel.studies.papers import reproduce as reproduce
    from jaxduel.studies.sweep import Grid as Grid
    from jaxduel.studies.sweep import open_sweep as open_sweep
    from jaxduel.studies.sweep import run_sweep as run_sweep
    from jaxduel.votes import identify as identify
    from jaxduel.votes import identify_many as identify_many

    __version__: str

IMPORTED_AT = time.time()
"""Seconds since 1970: what was changed later may not be what runs."""

_ROOMS = ("gradients", "plotting", "policies", "problems", "stats", "theory", "votes")
_NAMES = {
    "AssumptionWarning": "errors",
    "Grid": "studies.sweep",
    "InputError": "errors",
    "Result": "simulation",
    "SolverError": "errors",
    "check_policy": "simulation.conformance.suite",
    "identify": "votes",
    "identify_many": "votes",
    "join": "simulation",
    "load_result": "simulation",
    "open_sweep": "studies.sweep",
    "reproduce": "studies.papers",
    "run_sweep": "studies.sweep",
    "simulate": "simulation",
    "simulate_many": "simulation",
    "use_all_cores": "simulation.devices",
    "use_compilation_cache": "simulation.compilation_cache",
}

_MEANT = {
    "bernoulli": "problems.bernoulli",
    "fit": "votes.fit",
    "from_matrix": "problems.from_matrix",
    "gaussian": "problems.gaussian",
    "load": "problems.load",
    "make": "policies.make",
    "run": "simulate",
    "sweep": "run_sweep",
}
"""Names that are tried at first, and what they are called."""


def __getattr__(name: str) -> Any:
    """A public name, imported when it is first asked for."""
    if name in _ROOMS:
        return import_module(f"jaxduel.{name}")
    if name == "__version__":
        value = import_module("importlib.metadata").version("jaxduel")
    elif name in _NAMES:
        value = getattr(import_module(f"jaxduel.{_NAMES[name]}"), name)
    else:
        meant = f"; jaxduel.{_MEANT[name]} is meant" if name in _MEANT else ""
        raise AttributeError(f"module 'jaxduel' has no attribute '{name}'{meant}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    """The public names."""
    return sorted(["__version__", *_ROOMS, *_NAMES])
