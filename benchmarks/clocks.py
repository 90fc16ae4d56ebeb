"""The clock of benchmarks that count work."""

import time

import jax


def work_seconds():
    """Processor time on a CPU, which does not count what other programs take; else wall time."""
    return time.process_time() if jax.devices()[0].platform == "cpu" else time.perf_counter()
