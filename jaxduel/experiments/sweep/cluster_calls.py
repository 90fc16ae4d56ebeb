"""Calls that a worker of a cluster answers only if it has the same version of jaxduel."""

from __future__ import annotations

import pickle
from collections.abc import Callable, Sequence
from typing import Any

import jaxduel
from jaxduel.errors import InputError

WORKER = "jaxduel.experiments.sweep.cluster_worker"


def packed(function: str, *arguments: Any) -> tuple[Callable[..., Any], tuple[Any, ...]]:
    """A call of a function of `cluster_worker`, to be sent to a worker.

    Args:
      function: its name.
      *arguments: unpickled on the worker only once its version is known to be this one.

    Returns:
      A function and its arguments; its return value is for `unpacked`.
    """
    return _call(), (jaxduel.__version__, WORKER, function, pickle.dumps(arguments))


def unpacked(answer: tuple[str | None, Any]) -> Any:
    """The return value of a call made with `packed`.

    Args:
      answer: return value of the function from `packed`.

    Raises:
      InputError: if the worker refused it.
    """
    version, value = answer
    if version == jaxduel.__version__:
        return value
    raise InputError(
        f"the worker on {value} has {f'jaxduel {version}' if version else 'no jaxduel'}, and the "
        f"sweep is run by {jaxduel.__version__}: install the same version everywhere."
    )


def greetings(client: Any, workers: Sequence[str]) -> dict[str, dict[str, str]]:
    """Devices and versions of workers.

    Args:
      client: a `distributed.Client`.
      workers: their addresses.

    Returns:
      The result of `cluster_worker.greet` on each; those that have gone meanwhile are left out.

    Raises:
      InputError: if one has another version of jaxduel, or cannot run it.
    """
    if not workers:
        return {}
    call, arguments = packed("greet")

    async def aside(*arguments: Any) -> Any:  # a worker stays responsive while it loads JAX
        import asyncio

        return await asyncio.to_thread(call, *arguments)

    answers = client.run(aside, *arguments, workers=list(workers), on_error="return")
    found = {}
    for worker, answer in answers.items():
        if isinstance(answer, OSError):
            continue
        if isinstance(answer, BaseException):
            raise InputError(
                f"the worker {worker} cannot run jaxduel ({type(answer).__name__}: {answer}): "
                "install what this process has on all workers."
            )
        found[worker] = unpacked(answer)
    return found


def _call() -> Callable[..., tuple[str | None, Any]]:
    """The function that is sent. It is local, so that it is pickled as code: a worker that has
    another version of this module, or none, can run it."""

    def call(version: str, module: str, function: str, arguments: bytes) -> tuple[str | None, Any]:
        import importlib
        import importlib.metadata
        import pickle
        import socket

        try:
            here = importlib.metadata.version("jaxduel")
        except importlib.metadata.PackageNotFoundError:
            here = None
        if here != version:
            return here, socket.gethostname()
        return here, getattr(importlib.import_module(module), function)(*pickle.loads(arguments))

    return call
