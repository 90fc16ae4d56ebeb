"""Facts about a policy at a glance: the text of `jaxduel describe`.

All of it is read from the class: its docstring (the first paragraph, the attributes, what a step
costs), its fields, its methods, and what `make` says of values out of range.
"""

from __future__ import annotations

import dataclasses
import inspect
import re
from typing import Any

from jaxduel.display import Facts, Report
from jaxduel.errors import InputError
from jaxduel.policies import arguments, registry
from jaxduel.problems.assumptions import assumption_title

_PLAYS = {
    "Duel": "one comparison at a time",
    "Batch": "batches of comparisons",
    "Pull": "one pull at a time, of arms with rewards",
    "PullBatch": "batches of pulls of arms with rewards",
}
_WIDTH = 8
_OTHERS = "others"
"""Kind of plays where `act` does not say what it returns."""
_ABILITIES = {
    "learn": "learn late (delay)",
    "quiet": "skip quiet runs",
    "from_wins": "start from win counts (state_from_wins)",
    "answer": "stop and name an arm (identify)",
}
"""Abilities by the method that each needs."""
_ASKED = {
    "Duel": tuple(_ABILITIES),
    "Pull": ("learn", "quiet", "answer"),
    "PullBatch": ("answer",),
}
"""Methods whose abilities are said, by the class of plans."""
_SENTENCE = re.compile(r"(?<=\.)\s+(?=[A-Z\"])")
_YEAR = re.compile(r".*?\b(19|20)\d\d\)")
_COST = re.compile(r"(\b[Aa] step( \w+)* costs .*?|\bO\([^.]*\) a step.*?)(?=\. |\.?$)")
_ENTRY = re.compile(r"(\w+): (.*)", re.DOTALL)
_REFUSALS = (
    re.compile(r".*\bmust (?:be )?(?P<taken>.*), not .*\.", re.DOTALL),
    re.compile(r"unknown .*: known are (?P<taken>.*?)(;.*|\.)", re.DOTALL),
)
_IMPOSSIBLE = {"int": -1, "float": float("nan")}
"""A value that every parameter of a kind refuses; for other kinds a text stands for it."""
_EXAMPLE = {"num_arms": 2, "horizon": 1_000, "num_batches": 2, "gap": 0.5}
"""Parameters of a small example of any policy."""


@dataclasses.dataclass(frozen=True)
class Parameter:
    """A parameter of a policy."""

    name: str
    """The name by which it is set."""
    default: str | None
    """The default as it is written; None if a value must be given."""
    meaning: str
    """The first sentence of its entry in the docstring."""
    taken: str
    """The values that are taken, in words; empty where all numbers are, or the meaning says it."""

    def text(self) -> str:
        """The meaning and the values that are taken, in a line."""
        taken = f" [{self.taken}]" if self.taken else ""
        return f"{self.meaning}{taken}"


@dataclasses.dataclass(frozen=True, repr=False)
class PolicyReport(Report):
    """Facts about a registered policy.

    Example:
      >>> import jaxduel as jd
      >>> report = jd.policies.describe("pure-dts")
      >>> report.title
      'Pure D-TS, Wu and Liu (NIPS 2016), appendix D.2.4: D-TS that eliminates no arm.'
      >>> report.cannot
      ('skip quiet runs', 'stop and name an arm (identify)')
    """

    name: str
    """The name by which it is registered."""
    title: str
    """The first paragraph of its docstring: the algorithm and its paper."""
    plays: str | None
    """Its kind of plays, in words; None where its `act` does not say what it returns."""
    assumes: tuple[str, ...]
    """Assumptions of its guarantee, in words."""
    can: tuple[str, ...]
    """Abilities that the policy has, of the abilities that its kind of plays can have."""
    cannot: tuple[str, ...]
    """Abilities that it lacks."""
    cost: str | None
    """Cost of a step, where the docstring says it."""
    parameters: tuple[Parameter, ...]
    """All parameters but the arms."""

    def facts(self) -> Facts:
        """The facts that are shown."""
        labels = (
            each.name if each.default is None else f"{each.name}={each.default}"
            for each in self.parameters
        )
        texts = (each.text() for each in self.parameters)
        heading = "parameters (--set NAME=VALUE), in brackets what they take:"
        return Facts(
            f"{self.name}: {self.title}",
            [
                ("plays", self.plays),
                ("assumes", ", ".join(self.assumes) or "nothing of the instance"),
                ("can", ", ".join(self.can) or None),
                ("cannot", ", ".join(self.cannot) or None),
                ("cost", self.cost),
                Facts(heading, list(zip(labels, texts, strict=True)))
                if self.parameters
                else "no parameters",
            ],
            width=_WIDTH,
        )


def describe(name: str) -> PolicyReport:
    """Facts about a policy: its paper, its assumptions, its parameters.

    Args:
      name: one of `names()`.

    Returns:
      The report, which is shown as text.

    Raises:
      InputError: if there is no such policy; it suggests the nearest name.

    Example:
      >>> import jaxduel as jd
      >>> jd.policies.describe("rucb").assumes
      ('a Condorcet winner',)
    """
    policy_class = registry.policy_class(name)
    asked = _ASKED.get(_plan_of(policy_class), ())
    able = {method: hasattr(policy_class, method) for method in asked}
    return PolicyReport(
        name=name,
        title=title(name),
        plays=_PLAYS.get(_plan_of(policy_class)),
        assumes=_assumptions(name, policy_class),
        can=tuple(_ABILITIES[method] for method, has in able.items() if has),
        cannot=tuple(_ABILITIES[method] for method, has in able.items() if not has),
        cost=_cost(policy_class),
        parameters=tuple(_parameters(name, policy_class)),
    )


def title(name: str) -> str:
    """The first paragraph of a policy's docstring, or the name of its class."""
    policy_class = registry.policy_class(name)
    if _is_generated(policy_class):
        return policy_class.__name__
    return _one_line((inspect.getdoc(policy_class) or "").partition("\n\n")[0])


def by_paper() -> dict[str, dict[str, list[str]]]:
    """The names of all policies by their kind of plays, in words, and by their paper."""
    kinds: dict[str, dict[str, list[str]]] = {kind: {} for kind in (*_PLAYS.values(), _OTHERS)}
    for name in registry.names():
        kind = kinds[_PLAYS.get(_plan_of(registry.policy_class(name)), _OTHERS)]
        kind.setdefault(_paper(name), []).append(name)
    return {kind: papers for kind, papers in kinds.items() if papers}


def _paper(name: str) -> str:
    """The beginning of a policy's title, to the year of its paper, without the algorithm's name
    before the first comma."""
    whole = title(name)
    year = _YEAR.match(whole.partition(", ")[2]) or _YEAR.match(whole)
    return whole.removesuffix(".") if year is None else year[0]


def _plan_of(policy_class: Any) -> str:
    """The name of the class of its plans, by the annotation of `act`; empty without one."""
    plan = inspect.signature(policy_class.act).return_annotation
    if plan is inspect.Signature.empty:
        return ""
    return plan if isinstance(plan, str) else getattr(plan, "__name__", "")


def _assumptions(name: str, policy_class: Any) -> tuple[str, ...]:
    """Its assumptions in words; where they depend on parameters, those of the defaults."""
    assumed = getattr(policy_class, "assumes", ())
    if isinstance(assumed, property):
        assumed = _made(name).assumes
    return tuple(map(assumption_title, assumed))


def _cost(policy_class: Any) -> str | None:
    """The docstring's words on the cost of a step, to the end of that sentence."""
    text = _one_line((inspect.getdoc(policy_class) or "").partition("\nAttributes:")[0])
    found = [_COST.search(sentence) for sentence in _SENTENCE.split(text)]
    return next((each[0] for each in found if each is not None), None)


def _parameters(name: str, policy_class: Any) -> list[Parameter]:
    """All parameters, those that must be given first."""
    texts, defaults = meanings(policy_class), registry.parameters(name)
    found = []
    for field in dataclasses.fields(policy_class):
        if field.name in defaults:
            required = defaults[field.name] is dataclasses.MISSING
            meaning = _SENTENCE.split(texts.get(field.name, ""))[0].removesuffix(".")
            taken = "" if field.name == "horizon" else _taken(name, field)
            if _plain(taken) in _plain(meaning) or taken == "True or False":
                taken = ""
            default = None if required else str(defaults[field.name])
            found.append(Parameter(field.name, default, meaning, taken))
    return sorted(found, key=lambda each: each.default is not None)


def meanings(policy_class: Any) -> dict[str, str]:
    """Meanings of attributes by name, from the docstrings of the class and of its bases."""
    found: dict[str, str] = {}
    for base in reversed(policy_class.__mro__):
        section = inspect.cleandoc(base.__doc__ or "").partition("\nAttributes:\n")[2]
        block = re.match(r"(?:  .*\n?|\n)*", section)
        entries = re.split(r"\n  (?=\S)", f"\n{block[0]}" if block else "")
        matches = [_ENTRY.fullmatch(entry) for entry in entries]
        found |= {each[1]: _one_line(each[2]) for each in matches if each is not None}
    return found


def _taken(name: str, field: dataclasses.Field[Any]) -> str:
    """The values that a parameter takes, read from the error for one that it refuses."""
    kind = arguments.annotation_of(field).partition(" ")[0]
    try:
        _made(name, **{field.name: _IMPOSSIBLE.get(kind, "?")})
    except InputError as refusal:
        found = [pattern.fullmatch(str(refusal)) for pattern in _REFUSALS]
        taken = next((each["taken"] for each in found if each is not None), "")
        return taken.replace("not be ", "not ")
    return ""


def _made(name: str, **values: Any) -> Any:
    """A small example of a policy."""
    known = {"num_arms", *registry.parameters(name)}
    usual = {key: value for key, value in _EXAMPLE.items() if key in known}
    return registry.make(name, **{**usual, **values})


def _is_generated(policy_class: Any) -> bool:
    """True if the docstring is the signature that `dataclass` puts where there is none."""
    return (policy_class.__doc__ or "").startswith(f"{policy_class.__name__}(")


def _one_line(text: str) -> str:
    return " ".join(text.split())


def _plain(text: str) -> str:
    """The words without quotation marks, to compare by."""
    return re.sub(r"['\"]", "", text)
