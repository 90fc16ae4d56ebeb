"""No two files import each other, not even lazily or for types, but for those that may."""

from tests import house


def test_the_only_circles_are_those_with_a_reason():
    assert set(house.circles(house.edges())) == house.ALLOWED


def test_the_count_finds_circles_and_lone_importers():
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": set(), "f": {"d"}}
    assert house.circles(graph) == [frozenset("abc")]
    assert house.single(graph) == {"a": "c", "b": "a", "c": "b", "e": "d"}
