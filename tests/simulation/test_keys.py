"""Keys of a block: numbers folded into all of them on the host."""

import jax
import numpy as np
import pytest

from jaxduel.simulation import keys


@pytest.mark.parametrize("prng", keys.GENERATORS)
@pytest.mark.parametrize("shape", [(3,), (2, 3)])
@pytest.mark.parametrize("number", [0, 7, ~7])
def test_a_number_is_folded_into_each_key(prng, shape, number):
    given = jax.random.split(keys.root_key(5, prng), shape)
    expected = jax.vmap(lambda key: jax.random.fold_in(key, np.int32(number)))(given.ravel())
    found = keys.folded(given, number)
    assert found.shape == shape
    np.testing.assert_array_equal(
        jax.random.key_data(found.ravel()), jax.random.key_data(expected), strict=True
    )
