"""Choices that a paper's text leaves open, as axes on which its claims are measured."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from jaxduel.plotting import Scale
from jaxduel.runs import Runs
from jaxduel.studies.tables import short
from jaxduel.studies.wanted import Competitor, Wanted


@dataclass(frozen=True)
class Choice:
    """A choice that a text leaves open: an axis, and what each of its values changes.

    Attributes:
      name: the choice in words, such as "alpha of CCB".
      values: the values tried, numbers in increasing order or names; `stated` is among them.
      stated: the value behind the claim's verdict. Its runs are those of the paper's figures.
      change: the runs wanted at another value, from those wanted at the stated one; the same object
        if the choice does not concern them.
      symbol: the letter in "holds for alpha >= 0.8"; the name if empty.
      scale: scale of the axis.
      read: the regret in the unit of the claim, from the runs at another value that `change`
        changed.
      found: finds the stated value in runs wanted at it, where it depends on what is asked for,
        such as T.

    Example:
      >>> from jaxduel.studies.choices import parameter
      >>> choice = parameter("alpha of CCB", "alpha", (0.51, 1.0), 0.51, "ccb", symbol="alpha")
      >>> choice.categorical, choice.words(0.51)
      (False, '0.51')
    """

    name: str
    values: tuple[Any, ...]
    stated: Any
    change: Callable[[Wanted, Any], Wanted]
    symbol: str = ""
    scale: Scale = "linear"
    read: Callable[[Runs, Any], Runs] = lambda runs, value: runs
    found: Callable[[Wanted], Any] | None = None

    @property
    def categorical(self) -> bool:
        """True if the values are names."""
        return any(isinstance(value, str) for value in self.values)

    def settled(self, stated: Sequence[Wanted]) -> Choice:
        """The choice with the stated value of these runs among its values."""
        if self.found is None or not stated:
            return self
        value = self.found(stated[0])
        return replace(self, stated=value, values=tuple(sorted({*self.values, value})))

    def wanted(self, one: Wanted, value: Any) -> Wanted:
        """The runs wanted at a value; `one` itself, or runs with a key of their own."""
        changed = one if value == self.stated else self.change(one, value)
        if changed is one:
            return one
        mark = f"[{self.name}={value}]"
        own = replace(changed.competitor, name=one.competitor.name + mark)
        where = one.where if changed.draws is one.draws else one.where + mark
        return replace(changed, where=where, competitor=own)

    def words(self, value: Any) -> str:
        """A value as text."""
        return value if isinstance(value, str) else short(value)

    def where(self, some: Sequence[Any]) -> str:
        """Some of the values, in increasing order, in words: "alpha >= 0.8", "0.2 and 0.5"."""
        if self.categorical:
            return _listed(list(some))
        symbol, last = self.symbol or self.name, len(self.values) - 1
        pieces: list[list[int]] = []
        for at in (self.values.index(value) for value in some):
            if pieces and pieces[-1][-1] == at - 1:
                pieces[-1].append(at)
            else:
                pieces.append([at])
        said = []
        for first, end in ((piece[0], piece[-1]) for piece in pieces):
            low, high = self.words(self.values[first]), self.words(self.values[end])
            if first == end and 0 < first < last:
                said.append(f"{symbol} = {low}")
            elif first == 0 and end == last:
                said.append(f"{low} <= {symbol} <= {high}")
            elif first == 0:
                said.append(f"{symbol} <= {high}")
            elif end == last:
                said.append(f"{symbol} >= {low}")
            else:
                said.append(f"{low} <= {symbol} <= {high}")
        return _listed(said)

    def sentence(self, verdicts: Sequence[str]) -> str:
        """Where a claim holds, from its verdict at each value.

        Example:
          >>> from jaxduel.studies.choices import parameter
          >>> choice = parameter("T_1", "commit_pulls", (100, 200, 500), 200, "detc")
          >>> choice.sentence(["not confirmed", "confirmed", "confirmed"])
          'holds for T_1 >= 200, not for T_1 <= 100'
        """
        by_verdict = {
            name: [v for v, own in zip(self.values, verdicts, strict=True) if own == name]
            for name in ("confirmed", "undecided", "not confirmed", "not measured")
        }
        yes, open_, no, unknown = by_verdict.values()
        every = len(self.values)
        if len(yes) == every:
            return f"the open choice does not matter: holds for {self.where(yes)}"
        if len(no) == every:
            none = f"for none of {_listed(list(no))}" if self.categorical else ""
            return f"holds {none or f'nowhere in {self.where(no)}'}"
        parts = [f"holds for {self.where(yes)}"] if yes else []
        parts += [f"undecided for {self.where(open_)}"] if open_ else []
        parts += [f"{'not' if parts else 'does not hold'} for {self.where(no)}"] if no else []
        parts += [f"not measured for {self.where(unknown)}"] if unknown else []
        return ", ".join(parts)


def parameter(
    name: str,
    argument: str,
    values: tuple[Any, ...],
    stated: Any,
    *policies: str,
    symbol: str = "",
    scale: Scale = "linear",
) -> Choice:
    """A parameter of some policies, named as they are registered."""

    def change(one: Wanted, value: Any) -> Wanted:
        if one.competitor.policy not in policies:
            return one
        return with_parameters(one, {argument: value})

    return Choice(name, values, stated, change, symbol, scale)


def horizons(values: tuple[int, ...], stated: int) -> Choice:
    """T: one run to the longest, read at each; for claims that only read regret, of policies that
    do not know T."""

    def change(one: Wanted, value: int) -> Wanted:
        times = np.union1d(one.checkpoints, np.array(values))
        return replace(one, horizon=max(values), checkpoints=times[times <= max(values)])

    return Choice(
        "horizon T", values, stated, change, "T", "log", Runs.until, lambda one: one.horizon
    )


def separate_horizons(values: tuple[int, ...], stated: int) -> Choice:
    """T: separate runs to each horizon."""

    def change(one: Wanted, value: int) -> Wanted:
        times = one.checkpoints[one.checkpoints < value]
        return replace(one, horizon=value, checkpoints=np.append(times, value))

    return replace(horizons(values, stated), change=change, read=lambda runs, value: runs)


def rivals(stated: str, others: Sequence[str], choices: Sequence[Competitor]) -> Choice:
    """Whom a policy is compared with: all of `others`, by their names, or one of `choices`.

    Args:
      stated: words for all of the others.
      others: names of the competitors that the claim compares with.
      choices: competitors, each in place of all others.
    """
    by_label = {competitor.label: competitor for competitor in choices}

    def change(one: Wanted, value: Any) -> Wanted:
        if one.competitor.name not in others:
            return one
        return replace(one, competitor=by_label[value])

    return Choice("rivals", (stated, *by_label), stated, change)


def with_parameters(one: Wanted, parameters: dict[str, Any]) -> Wanted:
    """The same runs with other parameters of the policy."""
    own = replace(one.competitor, parameters={**one.competitor.parameters, **parameters})
    return replace(one, competitor=own)


def on_instance(one: Wanted, problem: Any) -> Wanted:
    """The same runs, with the same keys, on another instance in place of all."""
    return replace(one, draws=tuple(replace(draw, problem=problem) for draw in one.draws))


def _listed(words: list[str]) -> str:
    return " and ".join([", ".join(words[:-1]), words[-1]] if len(words) > 1 else words)
