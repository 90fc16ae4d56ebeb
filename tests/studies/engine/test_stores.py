"""Several stores as one."""

from contextlib import ExitStack
from types import SimpleNamespace
from typing import Any

from jaxduel.studies.engine.stores import Stores


class Store:
    """A store of keys."""

    def __init__(self, *finished):
        self.there, self.claimed = set(finished), set()

    def finished(self):
        return self.there

    def claim(self, key):
        if key in self.claimed | self.there:
            return None
        self.claimed.add(key)
        claim = ExitStack()
        claim.callback(self.claimed.discard, key)
        return claim

    def has_ended(self, keys):
        return bool(self.there & set(keys)) or not set(keys) <= self.claimed

    def add(self, block, seconds):
        self.there.add(block.key)


def stores(*wanted: tuple[Store, str]) -> Any:
    some: Any = [(store, [SimpleNamespace(key=key) for key in keys]) for store, keys in wanted]
    return Stores(some)


def test_a_task_is_finished_when_all_have_it_and_stored_where_it_is_missing():
    first, second = Store("a"), Store()
    both = stores((first, "ab"), (second, "ac"))
    assert both.finished() == set()
    assert list(both.of("a")) == [first, second]
    for key in "abc":
        with both.claim(key):
            both.add(SimpleNamespace(key=key))
    assert (first.there, second.there) == ({"a", "b"}, {"a", "c"})
    assert both.finished() == {"a", "b", "c"}
    assert both.claim("b") is None


def test_a_task_that_another_process_has_in_one_store_is_left_to_it():
    first, second = Store(), Store()
    both = stores((first, "a"), (second, "a"))
    with second.claim("a"):
        assert both.claim("a") is None
        assert not first.claimed  # given back
        first.there.add("a")  # by that process, which goes on with the second store
        assert not both.has_ended(["a"])
    assert both.has_ended(["a"])
