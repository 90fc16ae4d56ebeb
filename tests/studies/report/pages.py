"""A page as its elements: for tests."""

import itertools
from html.parser import HTMLParser

VOID = {"meta", "link", "img", "input", "br", "hr"}


class Elements(HTMLParser):
    """The elements of a page, in order: tag, attributes, and text inside."""

    def __init__(self, text: str) -> None:
        super().__init__(convert_charrefs=True)
        self.all: list[tuple[str, dict[str, str], list[str]]] = []
        self._open: list[tuple[str, dict[str, str], list[str]]] = []
        self.feed(text)
        self.close()
        assert not self._open, f"not closed: {[tag for tag, *_ in self._open]}"

    def handle_starttag(self, tag, attrs):
        element = (tag, {key: value or "" for key, value in attrs}, [])
        self.all.append(element)
        if tag not in VOID:
            self._open.append(element)

    def handle_endtag(self, tag):
        if tag in VOID | {"path", "circle"}:
            return
        last = self._open.pop()
        assert last[0] == tag, f"<{last[0]}> is closed by </{tag}>"

    def handle_data(self, data):
        for _, _, text in self._open:
            text.append(data)

    def of(self, tag: str, **wanted: str) -> list[tuple[dict[str, str], str]]:
        """Attributes and texts of the elements of a tag with some attributes."""
        return [
            (attributes, " ".join("".join(text).split()))
            for name, attributes, text in self.all
            if name == tag and wanted.items() <= attributes.items()
        ]


def require_sound(text: str) -> Elements:
    """The elements of a page, once it is known to fetch nothing, and to be whole and accessible."""
    page = Elements(text)
    ids = [attributes["id"] for _, attributes, _ in page.all if "id" in attributes]
    assert len(ids) == len(set(ids))
    for tag, attributes, _ in page.all:
        for name in ("src", "srcset", "data", "poster", "action"):
            assert attributes.get(name, "data:").startswith("data:"), (tag, attributes)
        link = attributes.get("href", "#main")
        assert "://" not in link
        if link.startswith("#"):
            assert link[1:] in ids, link
        for reference in attributes.get("aria-labelledby", "").split():
            assert reference in ids
        if tag == "img":
            assert len(attributes["alt"]) > 20
            assert int(attributes["width"]) > 0
        if tag == "th":
            assert attributes["scope"] in ("row", "col")
    assert "url(" not in text.partition("</style>")[0]
    heads = [int(tag[1]) for tag, *_ in page.all if len(tag) == 2 and tag[0] == "h" and tag != "hr"]
    assert heads.count(1) == 1
    assert heads[0] == 1
    assert all(after <= before + 1 for before, after in itertools.pairwise(heads))
    return page
