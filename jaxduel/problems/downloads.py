"""Third-party files, which are not shipped: found in a folder or the cache, or downloaded.

A file is looked for in the folder named by the environment variable `JAXDUEL_DATA`, then in the
user's cache (`pooch.os_cache("jaxduel")`), and at last downloaded into that cache from its public
place.

- MSLR: three 136 x 136 matrices derived from Microsoft's Learning to Rank data by Zoghi et al.
  (2015), in the GitHub repository nightingal3/duelling-bandits (data/MSLR_*_PMat.npz, key PMat);
  checked by sha256.
- Sushi: 16 x 16, derived from the preference data of Kamishima (2003), in the GitHub repository
  zw-cao/dueling_bandits (datasets/real/sushi16.npy). What is checked is the content: its entries,
  rounded to 3 decimals, as little-endian float64 in C order, against a sha256 of those numbers. So
  `sushi16.csv`, the same matrix as text, is accepted in the folder as well, and both give the same
  bits.
- Chatbot Arena: counts of the battles of 129 models published on 14 August 2024, in the GitHub
  repository suquark/leaderbot (leaderbot/data/chatbotarena_20240814.json); checked by sha256.
"""

from __future__ import annotations

import hashlib
import math
import os
import time
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import numpy as np

from jaxduel.errors import InputError
from jaxduel.files import why
from jaxduel.problems.files import read_matrix

DATA_VARIABLE = "JAXDUEL_DATA"
"""The environment variable that names a folder with the files."""

_GITHUB = "https://raw.githubusercontent.com"
_MSLR_PLACE = (
    f"{_GITHUB}/nightingal3/duelling-bandits/cd17008ba0241c74100db965d34a87e1622c4a57/data"
)
_SUSHI_PLACE = (
    f"{_GITHUB}/zw-cao/dueling_bandits/fb5bece1ddf56b4666b46f92dae40194e468d892/datasets/real"
)
_ARENA_PLACE = (
    f"{_GITHUB}/suquark/leaderbot/b9a8e16dff01960f9f9706effa23b37a9d1f621d/leaderbot/data"
)
_MSLR_SHA256 = {
    "Informational": "ef05eca2b7b27f63faaa292b0e88b17311560bf76124693354d953c702b7e9da",
    "Navigational": "302f4d88cba0bcace47a0e7a6e5bebdd8961b2ad912db9b682b3f2a9a05c3a94",
    "Perfect": "5a8ea50334af26d1efc7c2a9731dc9336d96dbbc3ec8d741509e25b3324b55a5",
}
_ARENA_SHA256 = "25dfb900a5f61ad87c3b4bc29d1cf9d8b1bd80fb3fe0463c68943246f21d532d"
_SUSHI_CONTENT_SHA256 = "3ec3cae4e398981aae737abe9cc14a4b153a8e776795bd511a89718ed124f2c7"


_CONNECT_SECONDS, _READ_SECONDS = 1.5, 30.0
"""Longest waits for an address of a host, which may have two, and for the host's next bytes."""
_AGAIN_SECONDS = 60.0
"""Time after a failure to reach a host in which the host is not tried again."""
_unreached: dict[str, float] = {}


def mslr_matrix(click_model: str) -> np.ndarray:
    """The MSLR matrix of a click model.

    Args:
      click_model: "Informational", "Navigational" or "Perfect".

    Returns:
      (136, 136) float64.

    Raises:
      InputError: the file can neither be found nor downloaded, or is not the one expected.
    """
    file, expected = f"MSLR_{click_model}_PMat.npz", _MSLR_SHA256[click_model]
    return read_matrix(_checked(file, _MSLR_PLACE, expected, "the MSLR matrix"), key="PMat")


def sushi_matrix() -> np.ndarray:
    """The sushi matrix, rounded to 3 decimals whatever it was read from.

    Returns:
      (16, 16) float64.

    Raises:
      InputError: the file can neither be found nor downloaded, or holds other numbers.
    """
    place = f"{_SUSHI_PLACE}/sushi16.npy"
    path = _in_folder("sushi16.npy") or _in_folder("sushi16.csv")
    if path is None:
        path = _downloaded("sushi16.npy", place, None)
    matrix = read_matrix(path)
    if matrix.dtype.kind != "f" or _content_sha256(matrix) != _SUSHI_CONTENT_SHA256:
        raise InputError(
            f"file '{path}' is not the sushi matrix that is expected (its numbers differ): "
            f"delete it or replace it by {place}."
        )
    return np.round(matrix.astype(np.float64), 3)


def arena_file() -> Path:
    """The file with the Chatbot Arena's counts, checked.

    Raises:
      InputError: it can neither be found nor downloaded, or is not the one expected.
    """
    return _checked("chatbotarena_20240814.json", _ARENA_PLACE, _ARENA_SHA256, "the arena's file")


def _checked(file: str, place: str, sha256: str, what: str) -> Path:
    """A file that has this sha256, from the folder, the cache or its public place."""
    path = _in_folder(file)
    if path is None:
        return _downloaded(file, f"{place}/{file}", sha256)
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(f"file '{path}' cannot be read: {why(error)}.") from None
    if hashlib.sha256(content).hexdigest() != sha256:
        raise InputError(
            f"file '{path}' is not {what} that is expected (its sha256 differs): "
            f"replace it by {place}/{file}, or unset {DATA_VARIABLE}."
        )
    return path


def _content_sha256(matrix: np.ndarray) -> str:
    rounded = np.round(matrix.astype(np.float64), 3)
    return hashlib.sha256(rounded.astype("<f8").tobytes(order="C")).hexdigest()


def _in_folder(file: str) -> Path | None:
    folder = os.environ.get(DATA_VARIABLE)
    if not folder:
        return None
    path = Path(folder).expanduser() / file
    return path if path.is_file() else None


def _downloaded(file: str, url: str, sha256: str | None) -> Path:
    import pooch  # here: in a notebook without widgets its progress bar warns when it is imported
    from requests.exceptions import ConnectionError as Unreached

    host = urlsplit(url).netloc
    rests = time.monotonic() - _unreached.get(host, -math.inf) < _AGAIN_SECONDS
    cache = pooch.create(
        path=pooch.os_cache("jaxduel"),
        base_url="",
        registry={file: None if sha256 is None else f"sha256:{sha256}"},
        urls={file: url},
    )
    try:
        if rests:
            raise Unreached
        waits = _CONNECT_SECONDS, _READ_SECONDS
        get: Any = pooch.HTTPDownloader(timeout=waits)
        return Path(cache.fetch(file, downloader=get))
    except OSError as error:  # the network's errors and the disk's
        if isinstance(error, Unreached) and not rests:
            _unreached[host] = time.monotonic()
        raise InputError(
            f"{file} is not on this machine and cannot be downloaded from {url} "
            f"({type(error).__name__}): connect to the network, or set {DATA_VARIABLE} to a folder "
            "that holds it."
        ) from None
    except ValueError:
        raise InputError(
            f"{file} as downloaded from {url} is not the file that is expected "
            f"(its sha256 differs): set {DATA_VARIABLE} to a folder that holds the right one."
        ) from None
