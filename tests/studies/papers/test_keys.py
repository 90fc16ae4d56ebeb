"""Keys of data sets come from their names, not from their places among others."""

import jax

from jaxduel.studies.papers.paper import named_key


def numbers(key):
    return tuple(jax.random.key_data(key).tolist())


def test_names_and_seeds_tell_keys_apart_for_good():
    names = [("gap",), ("cyclic",), ("gap", "cyclic"), ("cyclic", "gap"), ("gapcyclic",)]
    keys = {numbers(named_key(seed, *name)) for seed in (0, 1) for name in names}
    assert len(keys) == 10
    assert numbers(named_key(0, "gap")) == numbers(
        jax.random.fold_in(jax.random.key(0), 0x54D5DBF0)  # printf gap | sha256sum
    )
