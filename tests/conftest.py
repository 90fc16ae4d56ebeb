"""Two CPU devices for the whole test session, so that placement on devices can be tested."""

import jax

jax.config.update("jax_num_cpu_devices", 2)
