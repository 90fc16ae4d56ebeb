"""Provenance: everything that determines a result, as plain values that survive JSON."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

import jax
import numpy as np

from jaxduel.policies import registry
from jaxduel.policies.arms.grids import BatchGrid
from jaxduel.runs import variant_name
from jaxduel.simulation import checkpoints, regret
from jaxduel.simulation.identity import code_digest, problem_digest, versions
from jaxduel.simulation.keys import is_key

if TYPE_CHECKING:
    from jaxduel.problems import Problem
    from jaxduel.simulation.checking import Settings

_ARMS = ("num_arms", "active_arms")
_NOT_ASKED_FOR = ("arms", "versions", "code", "command")
_LONGEST = 40


def request_of(
    policy: Any, problem: Problem, horizon: int, settings: Settings, times: Any = None
) -> dict[str, Any]:
    """The request of a simulation: all arguments, defaults included; `times` replaces the
    checkpoints of `settings`.

    Returns:
      Strings, numbers, booleans, None, and lists and dictionaries of them: `policy` (its name, its
      `parameters` by name, and which of these are `changed` from their defaults), `problem` (its
      name, `digest` and number of arms), `arms` (their names, if any), and the arguments of
      `jaxduel.simulate` by their names.
    """
    times = settings.checkpoints if times is None else times
    return {
        "policy": policy_record(policy),
        "problem": {
            "name": problem.name,
            "digest": problem_digest(problem),
            "num_arms": problem.num_arms,
        },
        **({"arms": list(arms)} if (arms := getattr(problem, "arms", None)) else {}),
        "horizon": int(horizon),
        "num_seeds": int(settings.num_seeds),
        "seed": _seed(settings.seed),
        "first_seed": int(settings.first_seed),
        "checkpoints": checkpoints.resolve(times, horizon, problem).tolist(),
        "regret": settings.regret or regret.default_of(problem),
        "shuffle_arms": bool(settings.shuffle_arms),
        "delay": int(settings.delay),
        "ties": settings.ties,
        "skip_quiet": skips if isinstance(skips := settings.skip_quiet, str) else bool(skips),
        "prng": settings.prng,
        "record_pairs": settings.record_pairs,
        "record_outcomes": settings.record_outcomes,
        "lanes": None if settings.lanes is None else int(settings.lanes),
    }


def policy_record(policy: Any) -> dict[str, Any]:
    """The policy of a request: name, num_arms, parameters, and names of changed parameters."""
    parameters, changed = _parameters(registry.to_32_bits(policy))
    return {
        "name": registry.name_of(policy),
        "num_arms": int(policy.num_arms),
        "parameters": parameters,
        "changed": changed,
    }


def provenance(request: Mapping[str, Any], lanes: int) -> dict[str, Any]:
    """A request and how it was carried out: `lanes`, `versions`, `code` (a digest), and `command`,
    which is None until a command line sets it."""
    made = {"lanes": lanes, "versions": dict(versions()), "code": code_digest(), "command": None}
    return {**request, **made}


def same_request(made: Mapping[str, Any], other: Mapping[str, Any]) -> bool:
    """True if two provenances ask for the same numbers, whatever the version of the code and the
    names of arms; lanes of None agree with any number."""
    one, two = (
        {key: value for key, value in some.items() if key not in _NOT_ASKED_FOR}
        for some in (json.loads(json.dumps(made)), json.loads(json.dumps(other)))
    )
    if one.get("lanes") is None or two.get("lanes") is None:
        one["lanes"] = two["lanes"] = None
    return one == two


def seed_numbers(made: Mapping[str, Any], number: int) -> np.ndarray:
    """The numbers of the first seeds of a run: (number,) int64."""
    return made.get("first_seed", 0) + np.arange(number)


def changed_parameters(made: Mapping[str, Any]) -> dict[str, str]:
    """The policy's parameters that are not at their defaults, as text."""
    policy = made.get("policy", {})
    return {name: text_of(policy["parameters"][name]) for name in policy.get("changed", ())}


def policy_text(policy: str, made: Mapping[str, Any]) -> str:
    """A policy with its parameters that are not at their defaults: pcomp[num_batches=8]."""
    return variant_name(policy, changed_parameters(made))


def changed_settings(made: Mapping[str, Any]) -> dict[str, str]:
    """The settings that change the law or the draws of a run and are not at their defaults, as
    text."""
    plain = {
        "delay": 1,
        "ties": "coin",
        "shuffle_arms": True,
        "skip_quiet": True,
        "prng": "threefry2x32",
    }
    return {
        name: text_of(made[name]) for name, value in plain.items() if made.get(name, value) != value
    }


def all_changed(made: Mapping[str, Any]) -> dict[str, str]:
    """Parameters and settings that are not at their defaults, as text."""
    return {**changed_parameters(made), **changed_settings(made)}


def text_of(value: Any) -> str:
    """A plain value as text: lower case for booleans, long lists by their length."""
    if isinstance(value, dict):
        return " ".join(text_of(item) for item in value.values() if item is not None)
    if isinstance(value, list) and len(str(value)) > _LONGEST:
        return f"{len(value)} values"
    if isinstance(value, float):
        return f"{value:.6g}"
    return str(value).lower() if isinstance(value, bool) else str(value)


def _parameters(policy: Any) -> tuple[dict[str, Any], list[str]]:
    """All parameters of a policy by name, and the names of parameters not at their defaults."""
    if not dataclasses.is_dataclass(policy):
        return {}, []
    values, changed = {}, []
    for field in dataclasses.fields(policy):
        if field.name in _ARMS:
            continue
        values[field.name] = _plain(getattr(policy, field.name))
        if field.name != "horizon" and not _is_default(policy, field):
            changed.append(field.name)
    return values, changed


def _is_default(policy: Any, field: dataclasses.Field[Any]) -> bool:
    """True if a parameter equals the value that the policy makes from the field's default."""
    default: Any = field.default
    if field.default_factory is not dataclasses.MISSING:
        default = field.default_factory()
    if default is dataclasses.MISSING or not field.init:
        return False
    usual = registry.to_32_bits(dataclasses.replace(policy, **{field.name: default}))
    return _plain(getattr(usual, field.name)) == _plain(getattr(policy, field.name))


def _plain(value: Any) -> Any:
    """A parameter as plain values for JSON: numbers of 32 bits by their shortest decimals, infinite
    ones and NaN as text."""
    if isinstance(value, np.floating | float):
        number = float(str(value))
        return number if np.isfinite(number) else str(number)
    if value is None or isinstance(value, bool | int | str):
        return value
    if isinstance(value, BatchGrid):
        return _plain(value.given)
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_plain(item) for item in value]
    if isinstance(value, np.ndarray | np.generic | jax.Array):
        array = np.asarray(value)
        if array.dtype.kind in "biuf":
            items = [_plain(x) if x.dtype.kind == "f" else x.item() for x in array.ravel()]
            return np.array(items, object).reshape(array.shape).tolist()
    return repr(value)


def _seed(seed: Any) -> Any:
    """A root seed; a key by its generator and numbers."""
    if not is_key(seed):
        return int(seed)
    data = jax.random.key_data(seed)
    return {"generator": str(jax.random.key_impl(seed)), "key": np.asarray(data).ravel().tolist()}
