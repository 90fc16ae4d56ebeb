"""Programs that are compiled once: for all devices of a process, and for later processes.

JAX compiles a jitted function anew for every device. Here the first device that needs a program
compiles it while the others wait, and they load a copy. With `use_compilation_cache` it is kept on
disk, under a name that is known before the function is traced (`program_names`).
"""

from __future__ import annotations

import os
import pickle
import threading
import weakref
import zlib
from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from functools import cached_property, partial, update_wrapper, wraps
from typing import Any

import jax
import numpy as np
from jax.core import Tracer

from jaxduel.numerics.target import LOOPS_VARIABLE, TARGET_VARIABLE, tracing_for
from jaxduel.simulation import compilation_cache, executables
from jaxduel.simulation.compiler_options import known, wanted
from jaxduel.simulation.devices import Device, require_memory
from jaxduel.simulation.memory_maps import also_forget
from jaxduel.simulation.program_folder import ProgramFolder
from jaxduel.simulation.program_names import Foreign, name_of, name_of_text


class _Here(threading.local):
    device: Device | None = None


_here = _Here()
_functions: weakref.WeakSet[CompiledOnce] = weakref.WeakSet()


@contextmanager
def shared(device: Device) -> Iterator[None]:
    """Context in which, in this thread, functions that are `compiled_once` share programs.

    It has an effect where there is something to share with: other CPU devices, or a folder
    (`use_compilation_cache`); and on an accelerator, whose memory is then looked at before a
    program is run for the first time. It has none where JAX's own persistent cache is in use: a
    program that came from there breaks when it is serialized once more (jaxlib 0.10).

    Args:
      device: where all arguments are.
    """
    alone = device.platform == "cpu" and len(device.client.local_devices()) == 1
    alone = alone and compilation_cache.current() is None
    before = _here.device
    _here.device = None if alone or _jax_keeps() else device
    try:
        yield
    finally:
        _here.device = before


def _jax_keeps() -> bool:
    """True if JAX's own persistent cache is in use."""
    config: Any = jax.config
    return bool(config.jax_compilation_cache_dir) and config.jax_enable_compilation_cache


def _forget() -> None:
    """Forgets the programs that were compiled here."""
    for function in list(_functions):
        function.forget()


also_forget(_forget)


def compiled_once(
    function: Callable[..., Any] | None = None,
    *,
    name: str | None = None,
    lasting: bool = False,
    **options: Any,
) -> Any:
    """`jax.jit` whose programs are shared within the context `shared`; elsewhere plain `jax.jit`.

    Args:
      function: to be compiled; arguments that are not static are positional, static ones are
        keywords. It depends on nothing but its arguments, their classes, and the package's code.
      name: of the function among the package's; its qualified name if None.
      lasting: whether it may run for so long that it pays to compile it well.
      **options: those of `jax.jit`.
    """
    if function is None:
        return partial(compiled_once, name=name, lasting=lasting, **options)
    name = name or f"{function.__module__}.{function.__qualname__}"
    return CompiledOnce(function, name, lasting, options)


class CompiledOnce:
    """A function whose programs are shared, as `compiled_once` returns it."""

    def __init__(
        self, function: Callable[..., Any], name: str, lasting: bool, options: dict[str, Any]
    ) -> None:
        self._function, self._lasting, self._options = function, lasting, options
        self._identity = name, lasting, options
        self._jitted: dict[Hashable, Any] = {}
        self.forget()
        update_wrapper(self, function)
        _functions.add(self)

    @cached_property
    def brief(self) -> CompiledOnce:
        """The same function, compiled quickly for short use: on a CPU in half the time, to the same
        bits; elsewhere it is the same program."""
        name, _, options = self._identity
        brief = CompiledOnce(self._function, name, False, options)
        brief._jitted = self._jitted
        return brief

    @cached_property
    def _traced(self) -> Any:
        """The function under a trace, for shapes: JAX keeps what it has traced."""
        return jax.jit(self._function, **self._options)

    def on(self, platform: str) -> Any:
        """The function for JAX, with the options of a platform."""
        settings = wanted(platform, self._lasting)
        way = platform, settings, os.environ.get(TARGET_VARIABLE), os.environ.get(LOOPS_VARIABLE)
        if way not in self._jitted:

            @wraps(self._function)
            def function(*args: Any, **static: Any) -> Any:
                with tracing_for(platform):
                    return self._function(*args, **static)

            options = {**self._options, "compiler_options": dict(known(settings))}
            self._jitted[way] = jax.jit(function, **options)
        return self._jitted[way]

    def compile(self, *args: Any, **static: Any) -> None:
        """Compiles the function for calls with such arguments: arrays, or shapes on a device."""
        leaves, tree = jax.tree.flatten(args)
        device = _here.device
        if device is None or jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            self.on(_platform(leaves)).lower(*args, **static).compile()
        else:
            self._found(device, leaves, tree, static)

    def shapes(self, *args: Any, **static: Any) -> Any:
        """Shapes of the function's value for these arguments, arrays or shapes."""
        return self._traced.eval_shape(*args, **static)

    def forget(self) -> None:
        """Forgets the programs."""
        self._ready: dict[Hashable, Callable[..., Any]] = {}
        self._programs: dict[Hashable, _Program] = {}
        self._lock = threading.Lock()

    def __call__(self, *args: Any, **static: Any) -> Any:
        """The function's value for these arguments; by a shared program within `shared`."""
        leaves, tree = jax.tree.flatten(args)
        if any(isinstance(leaf, Tracer) for leaf in leaves):
            return self._traced(*args, **static)
        device = _here.device
        call = device, tree, tuple(map(_kind, leaves)), *static.items()
        run = self._ready.get(call)
        if device is None or jax.config.jax_disable_jit:  # type: ignore[attr-defined]
            if run is None:
                self._program(leaves, tree, static)
                self._ready[call] = self.on(_platform(leaves))
            return self.on(_platform(leaves))(*args, **static)
        if run is None:
            run = self._found(device, leaves, tree, static)
            _require_memory(run, device)
            self._ready[call] = run
        return run(*args)

    def is_at_hand(self, *args: Any, **static: Any) -> bool:
        """True if a call with such arguments, arrays or shapes on a device, compiles nothing: there
        was one before, or the program is kept."""
        leaves, tree = jax.tree.flatten(args)
        device, folder = _here.device, compilation_cache.current()
        if _key(leaves, tree, static) in self._programs:
            return True
        if device is None or folder is None:
            return False
        try:
            name = name_of(self._parts(device, leaves, tree, static), device)
        except Foreign:
            return False
        return folder.has(name)

    def _program(self, leaves: list[Any], tree: Any, static: dict[str, Any]) -> _Program:
        """The program for such arguments, found or not."""
        with self._lock:
            return self._programs.setdefault(_key(leaves, tree, static), _Program(self, static))

    def _parts(
        self, device: Device, leaves: list[Any], tree: Any, static: dict[str, Any]
    ) -> tuple[Any, ...]:
        """All that a program's name depends on; which options the compiler knows is no part, as its
        version is one."""
        settings = wanted(device.platform, self._lasting)
        return *self._identity, settings, static, tree, _texts(leaves)

    def _found(
        self, device: Device, leaves: list[Any], tree: Any, static: dict[str, Any]
    ) -> Callable[..., Any]:
        """The program for such arguments, on a device."""
        shapes = [
            jax.ShapeDtypeStruct(kind.shape, kind.dtype, weak_type=kind.weak_type)
            for kind in map(jax.typeof, leaves)
        ]
        parts = self._parts(device, leaves, tree, static)
        program = self._program(leaves, tree, static)
        return program.on(device, parts, jax.tree.unflatten(tree, shapes))


class _Program:
    """A program on all devices.

    Args:
      function: the function that it computes.
      static: the static arguments.
    """

    def __init__(self, function: CompiledOnce, static: dict[str, Any]) -> None:
        self._function, self._static = function, static
        self._lock = threading.Lock()
        self._loaded: dict[Device, Callable[..., Any]] = {}
        self._content: bytes | None = None
        self._cannot_be_shared = False

    def on(self, device: Device, parts: tuple[Any, ...], shapes: Any) -> Callable[..., Any]:
        """The program on a device: compiled by the first thread that needs it, loaded by others."""
        with self._lock:
            if device not in self._loaded:
                if self._content is None and not self._cannot_be_shared:
                    self._find(device, parts, shapes)
                if device not in self._loaded:
                    self._loaded[device] = self._copy(device, shapes)
            return self._loaded[device]

    def _copy(self, device: Device, shapes: Any) -> Callable[..., Any]:
        """The program from bytes; compiled by JAX itself if that fails."""
        if self._content is not None:
            try:
                return _loaded(self._content, device, shapes)
            except Exception:
                self._content, self._cannot_be_shared = None, True
        return partial(self._function.on(device.platform), **self._static)

    def _find(self, device: Device, parts: tuple[Any, ...], shapes: Any) -> None:
        """Reads the program from the folder, or compiles and keeps it."""
        folder = compilation_cache.current()
        lowered = name = None
        if folder is not None:
            try:
                name = name_of(parts, device)
            except Foreign:
                lowered = self._lowered(device, shapes)
                name = name_of_text(lowered.as_text(), device)
            if self._read(folder, name, device, shapes):
                return
        first = device.client.local_devices()[0]
        compiled = (lowered or self._lowered(device, shapes)).compile()
        self._loaded[first] = compiled
        if folder is None and len(device.client.local_devices()) == 1:
            return
        try:
            content = _dumped(compiled)
        except Exception:
            self._cannot_be_shared = True
            return
        if folder is not None and name is not None:
            folder.write(name, content)
        if len(device.client.local_devices()) > 1:
            self._content = content

    def _read(self, folder: ProgramFolder, name: str, device: Device, shapes: Any) -> bool:
        """Loads the program from the folder; True if it was there and could be loaded."""
        content = folder.read(name)
        if content is None:
            return False
        try:
            self._loaded[device] = _loaded(content, device, shapes)
        except Exception:
            folder.remove(name)
            return False
        self._content = content if len(device.client.local_devices()) > 1 else None
        return True

    def _lowered(self, device: Device, shapes: Any) -> jax.stages.Lowered:
        """The function traced for the platform's first device, whichever needs it."""
        before, _here.device = _here.device, None
        try:
            with jax.default_device(device.client.local_devices()[0]):
                return self._function.on(device.platform).lower(*shapes, **self._static)
        finally:
            _here.device = before


def _require_memory(run: Any, device: Device) -> None:
    """Raises JAX's error if a device has too little memory for a compiled program."""
    used = run.memory_analysis() if isinstance(run, jax.stages.Compiled) else None
    if used is not None:
        results = used.output_size_in_bytes - used.alias_size_in_bytes
        require_memory(results + used.temp_size_in_bytes, device)


def _platform(leaves: list[Any]) -> str:
    """The platform on which a function of these arguments is computed."""
    for leaf in leaves:
        if isinstance(leaf, jax.Array | jax.ShapeDtypeStruct) and leaf.sharding is not None:
            return next(iter(leaf.sharding.device_set)).platform
    return jax.default_backend()


def _kind(leaf: Any) -> Hashable:
    """Shape, dtype and other traits of an argument on which a program depends, found quickly."""
    if isinstance(leaf.dtype, np.dtype) and isinstance(leaf, jax.Array):
        return leaf.aval
    return leaf.shape, leaf.dtype  # NumPy's, or keys, whose `aval` is made anew each time


def _texts(leaves: list[Any]) -> tuple[str, ...]:
    """Shapes and dtypes of arguments."""
    return tuple(str(jax.typeof(leaf)) for leaf in leaves)


def _key(leaves: list[Any], tree: Any, static: dict[str, Any]) -> Hashable:
    """A program's place among those of its function."""
    return tree, _texts(leaves), *static.items()


def _dumped(compiled: jax.stages.Compiled) -> bytes:
    """A program as bytes, with the structure of what it returns as objects of their classes."""
    tree = compiled.out_tree
    objects = pickle.dumps(jax.tree.unflatten(tree, list(range(tree.num_leaves))))
    if jax.tree.structure(pickle.loads(objects)) != tree:
        raise ValueError("the structure of the results cannot be kept")
    return zlib.compress(pickle.dumps((executables.dump(compiled), objects)), 1)


def _loaded(content: bytes, device: Device, shapes: Any) -> jax.stages.Compiled:
    program, objects = pickle.loads(zlib.decompress(content))
    out_tree = jax.tree.structure(pickle.loads(objects))
    return executables.load(program, jax.tree.structure((shapes, {})), out_tree, device)
