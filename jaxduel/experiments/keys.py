"""Random keys derived from names."""

from __future__ import annotations

import hashlib

import jax


def named_key(seed: int, *names: str) -> jax.Array:
    """The key of a data set's runs, from the seed and names alone.

    It does not depend on the number or the order of data sets.

    Args:
      seed: root of all randomness.
      names: names that identify the data set within the reproduction.

    Returns:
      A typed key: that of the seed, folded with the first 32 bits of the SHA-256 of the names.
    """
    digest = hashlib.sha256("\n".join(names).encode()).digest()
    return jax.random.fold_in(jax.random.key(seed), int.from_bytes(digest[:4], "big"))
