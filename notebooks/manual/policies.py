"""A page for each policy, from its docstring and its entry in the registry, and their index."""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterator
from importlib import import_module
from typing import Any

import jaxduel as jd
from jaxduel.policies import arguments, registry, report
from notebooks.manual import docstrings, papers, pictures
from notebooks.manual.pages import policy_page, table, toctree, write

_ROOT = "jaxduel.policies."
_DOCSTRING = re.compile(r'\n    """.*?"""\n', re.DOTALL)
_NO_NUMBERS = "*There are no measured numbers of this policy yet.*"


def write_pages() -> list[str]:
    """Writes all pages; returns their names in Sphinx."""
    played = papers.panels_by_policy()
    lines = pictures.lines()
    numbers = pictures.draw_all(lines)
    values = {name: jd.theory.bounds(problem, *_AT) for name, problem in _instances(lines)}
    pages = [
        write(policy_page(name).partition("/")[2], *_page(name, numbers.get(name), values, played))
        for name in jd.policies.names()
    ]
    return [*pages, write("policies/index", *_index(set(numbers)))]


_AT = (100_000, 16)
"""T and B at which bounds are shown that depend on them."""


def _instances(lines: Any) -> Iterator[tuple[str, Any]]:
    shipped = {entry.name for entry in jd.problems.entries() if not entry.downloaded}
    for name in dict.fromkeys(problem for problem, _ in lines):
        if name in shipped:
            yield name, jd.problems.load(name)


def _page(name: str, picture: str | None, values: Any, played: Any) -> Iterator[str]:
    policy_class: Any = registry.policy_class(name)
    docstring = inspect.getdoc(policy_class) or ""
    facts = jd.policies.describe(name)
    yield f"# {jd.policies.label(name)}"
    parts = docstrings.sections(docstring)
    title, _, rest = parts[0].text.partition("\n\n")
    yield docstrings.prose(title)
    yield picture or _NO_NUMBERS
    needed = [f"{each.name}=..." for each in facts.parameters if each.default is None]
    rows = [
        ("make it", f"`jd.policies.make({', '.join([repr(name), 'num_arms=K', *needed])})`"),
        ("plays", facts.plays or ""),
        ("assumes", ", ".join(facts.assumes) or "nothing of the instance"),
        ("can", ", ".join(facts.can)),
        ("cannot", ", ".join(facts.cannot)),
        ("cost", facts.cost or ""),
        ("in figures of", "; ".join(played.get(name, ()))),
        ("defined in", f"`{policy_class.__module__.replace('.', '/')}.py`"),
    ]
    yield table(("", ""), [row for row in rows if row[1]])
    others = [part.text for part in parts[1:] if not part.head]
    if rest or others:
        yield "## The algorithm, and what was decided"
        yield docstrings.prose("\n\n".join([rest, *others]).strip())
    yield "## Parameters"
    yield (
        "Beside `num_arms`, K, and `active_arms`, the arms that exist. `jd.simulate_many` can vary "
        "all that are not static in one program."
    )
    yield _parameters(name, policy_class, facts.parameters)
    yield from _bounds(name, values)
    for part in parts:
        if part.head == "Example":
            yield f"## Example\n\n```pycon\n{part.text}\n```"
    yield "## As code"
    source = _DOCSTRING.sub("\n", inspect.getsource(policy_class), count=1)
    yield f"``````{{dropdown}} {policy_class.__name__}\n```python\n{source}```\n``````"


def _parameters(name: str, policy_class: Any, known: tuple[report.Parameter, ...]) -> str:
    fields = policy_class.__dataclass_fields__
    meanings = report.meanings(policy_class)
    points = []
    for each in known:
        field = fields[each.name]
        kind = arguments.annotation_of(field).replace(" | jax.Array", "")
        fixed = ", static" if field.metadata.get("static") else ""
        default = "must be given" if each.default is None else f"{each.default} by default"
        meaning = meanings.get(each.name, each.meaning).removesuffix(".")
        taken = f". Takes: {each.taken}" if each.taken else ""
        points.append(f"- `{each.name}` ({kind}{fixed}; {default}): {meaning}{taken}.")
    return "\n".join(points) or "No others."


def _bounds(name: str, values: Any) -> Iterator[str]:
    proved = jd.theory.proved(name)
    if not proved:
        return
    yield "## What is proved of its regret"
    yield "\n".join(f"- {each}" for each in proved)
    rows = [
        (problem, bound.name, f"{bound.value:,.4g}", f"{bound.regret} regret, {bound.unit}")
        for problem, found in values.items()
        for bound in found.bounds
        if bound.value is not None and f"{bound.name}: {bound.source}" in proved
    ]
    if rows:
        yield table(("instance", "bound", "value", "of"), rows)
    yield "Other instances: `jaxduel bounds --problem NAME`; formulas: `jaxduel.theory`."


def _index(drawn: set[str]) -> Iterator[str]:
    yield "# Policies"
    yield (
        "All policies by family. The pictures show mean regret against time on the first instance "
        "of the policy's page, both on logarithmic axes; in grey, all other policies."
    )
    families: dict[str, list[str]] = {}
    for name in jd.policies.names():
        module = registry.policy_class(name).__module__
        families.setdefault(module.removeprefix(_ROOT).partition(".")[0], []).append(name)
    for family, members in sorted(families.items()):
        text = inspect.getdoc(import_module(_ROOT + family)) or family
        title = docstrings.first_paragraph(text).partition(":")[0].removesuffix(".")
        yield f"## {title}"
        yield "``````{grid} 2 2 3 3\n:gutter: 2"
        for name in members:
            yield _card(name, drawn)
        yield "``````"
        yield toctree(map(policy_page, members), title)


def _card(name: str, drawn: set[str]) -> str:
    label = jd.policies.label(name)
    link = f":link: /{policy_page(name)}\n:link-type: doc\n:link-alt: {label}"
    image = f":img-top: {pictures.thumbnail(name)}\n:img-alt: Regret of {label}\n"
    return (
        f"`````{{grid-item-card}} {label}\n{link}\n{image if name in drawn else ''}\n{name}\n`````"
    )
