"""The reference: a page for each room, with all public names and their examples."""

from __future__ import annotations

import ast
import inspect
from collections.abc import Iterator
from functools import cache, cached_property
from importlib import import_module
from pathlib import Path
from typing import Any

from sphinx.pycode import ModuleAnalyzer
from sphinx.util import inspect as sphinx_inspect

from jaxduel.policies import registry
from notebooks.manual import docstrings, public
from notebooks.manual.pages import policy_link, table, toctree, write


@cache
def targets() -> dict[str, str]:
    """By every full public name, the full name under which it is documented."""
    first = {thing: f"{room}.{name}" for room, name, thing in public.functions_and_classes()}
    found = {}
    for room in public.ROOMS:
        found[room] = room
        for name, thing in public.names(room).items():
            full = f"{room}.{name}"
            found[full] = first[thing] if public.is_documented(thing) else full
            if inspect.isclass(thing):
                found |= {f"{full}.{m}": f"{found[full]}.{m}" for m in _members(thing)}
    return found


def write_pages() -> list[str]:
    """Writes all pages; returns their names in Sphinx."""
    pages = [write(f"api/{room}", *_page(room)) for room in public.ROOMS]
    rows = [(f"`{room}`", _summary(import_module(room))) for room in public.ROOMS]
    index = (
        "# API reference",
        "Every public name, with an example that the tests run.",
        table(("", ""), rows),
        toctree(pages),
    )
    return [*pages, write("api/index", *index)]


def _page(room: str) -> Iterator[str]:
    module = import_module(room)
    yield f"# {room}"
    yield f"```{{py:module}} {room}\n```"
    yield docstrings.markdown(inspect.getdoc(module) or "")
    things = public.names(room)
    constants = _constants(room)
    summaries = {
        name: _summary(thing) if public.is_documented(thing) else constants.get(name, "")
        for name, thing in things.items()
    }
    rows = [(f"`{name}`", text.partition("\n\n")[0]) for name, text in summaries.items()]
    yield table(("name", ""), rows)
    for name, thing in things.items():
        if not public.is_documented(thing):
            yield _directive("py:data", name, constants.get(name, ""))
        elif targets()[f"{room}.{name}"] == f"{room}.{name}":
            yield _entry(name, thing)


def _summary(thing: Any) -> str:
    return docstrings.first_paragraph(inspect.getdoc(thing) or "")


def _entry(name: str, thing: Any) -> str:
    if inspect.isroutine(thing):
        return _directive("py:function", name + _signature(thing), _text(thing))
    policy = registry.registered_name(thing)
    if policy is not None:
        more = f"Its page: {policy_link(policy, registry.label(policy))}."
        examples = [s for s in docstrings.sections(inspect.getdoc(thing) or "") if s.head]
        shown = docstrings.written(examples[-1])
        return _directive("py:class", name, f"{_summary(thing)}\n\n{more}\n\n{shown}")
    protocol = getattr(thing, "_is_protocol", False)
    signature = "" if protocol or issubclass(thing, Exception) else _signature(thing)
    parts = [_text(thing), *_fields(thing), *map(_member, _members(thing).items())]
    return _directive("py:class", name + signature, "\n\n".join(parts), fence=8)


def _text(thing: Any) -> str:
    return docstrings.markdown(inspect.getdoc(thing) or "")


def _fields(thing: Any) -> Iterator[str]:
    """Fields that are documented one by one, as a list."""
    found = _attributes(thing.__module__)
    points = [
        f"- `{name}`: {' '.join(' '.join(lines).split())}"
        for (owner, name), lines in found.items()
        if owner == thing.__qualname__
    ]
    if points:
        yield "**Attributes**\n\n" + "\n".join(points)


@cache
def _attributes(module: str) -> dict[tuple[str, str], list[str]]:
    return ModuleAnalyzer.for_module(module).find_attr_docs()


def _members(thing: Any) -> dict[str, Any]:
    """Public methods and properties with docstrings of their own."""
    return {
        name: member
        for name, member in vars(thing).items()
        if name[0] != "_" and isinstance(member, _METHODS) and inspect.getdoc(getattr(thing, name))
    }


_METHODS = (type(lambda: 0), classmethod, staticmethod, property, cached_property)


def _member(item: tuple[str, Any]) -> str:
    name, member = item
    if isinstance(member, property | cached_property):
        return _directive("py:property", name, _text(member))
    function = getattr(member, "__func__", member)
    kinds = {classmethod: "py:classmethod", staticmethod: "py:staticmethod"}
    signature = _signature(function, bound=not isinstance(member, staticmethod))
    return _directive(kinds.get(type(member), "py:method"), name + signature, _text(function))


def _signature(thing: Any, bound: bool = False) -> str:
    try:
        signature = sphinx_inspect.signature(thing, bound_method=bound)
    except (TypeError, ValueError):
        return ""
    text = sphinx_inspect.stringify_signature(
        signature,
        show_return_annotation=not inspect.isclass(thing),
        unqualified_typehints=True,
    )
    return text.replace("<factory>", "...")


def _directive(kind: str, signature: str, body: str, fence: int = 6) -> str:
    ticks = "`" * fence
    return f"{ticks}{{{kind}}} {signature}\n{body}\n{ticks}"


def _constants(room: str) -> dict[str, str]:
    """Descriptions of constants, from below their definitions, here or where they come from."""
    path = Path(inspect.getfile(import_module(room)))
    found = {name: lines for (owner, name), lines in _attributes(room).items() if not owner}
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.module and node.module.startswith("jaxduel"):
            known = _attributes(node.module)
            for name in (alias.name for alias in node.names):
                if ("", name) in known:
                    found[name] = known["", name]
    return {name: "\n".join(lines).strip() for name, lines in found.items()}
