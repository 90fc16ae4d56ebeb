import functools
import http.server
import shutil
import threading
from pathlib import Path

import numpy as np
import pooch
import pytest

from jaxduel.errors import InputError
from jaxduel.problems import downloads
from jaxduel.problems.downloads import arena_file, mslr_matrix, sushi_matrix

FILE = "MSLR_Perfect_PMat.npz"
ARENA = "chatbotarena_20240814.json"


@pytest.fixture
def cache(tmp_path, monkeypatch):
    """An empty cache, no folder, and no network."""
    folder = tmp_path / "cache"
    monkeypatch.setattr(pooch, "os_cache", lambda project: folder)
    monkeypatch.setattr(downloads, "_unreached", {})
    monkeypatch.delenv("JAXDUEL_DATA", raising=False)
    for variable in ("HTTPS_PROXY", "https_proxy"):
        monkeypatch.setenv(variable, "http://127.0.0.1:9")
    return folder


class _Quiet(http.server.SimpleHTTPRequestHandler):
    def log_message(self, format, *args):
        pass


@pytest.fixture
def site(tmp_path, cache, monkeypatch):
    """The files' public places, served from a folder of this machine."""
    folder = tmp_path / "site"
    folder.mkdir()
    handler = functools.partial(_Quiet, directory=str(folder))
    with http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler) as server:
        thread = threading.Thread(target=server.serve_forever)
        thread.start()
        place = f"http://127.0.0.1:{server.server_port}"
        monkeypatch.setenv("NO_PROXY", "127.0.0.1")
        monkeypatch.setattr(downloads, "_MSLR_PLACE", place)
        monkeypatch.setattr(downloads, "_SUSHI_PLACE", place)
        monkeypatch.setattr(downloads, "_ARENA_PLACE", place)
        yield folder
        server.shutdown()
        thread.join()


@pytest.mark.usefixtures("cache")
def test_without_network_one_sentence_says_what_to_do():
    for load, file in (
        (lambda: mslr_matrix("Perfect"), FILE),
        (sushi_matrix, "sushi16.npy"),
        (arena_file, ARENA),
    ):
        with pytest.raises(InputError, match="connect to the network, or set JAXDUEL_DATA") as err:
            load()
        assert file in str(err.value)
        assert "\n" not in str(err.value)


@pytest.mark.usefixtures("cache")
def test_a_host_that_could_not_be_reached_is_not_tried_again_at_once(monkeypatch):
    tried = []
    fetch = pooch.Pooch.fetch
    monkeypatch.setattr(
        pooch.Pooch, "fetch", lambda *given, **more: tried.append(1) or fetch(*given, **more)
    )
    for _ in range(2):
        with pytest.raises(InputError, match="connect to the network"):
            sushi_matrix()
        with pytest.raises(InputError, match="connect to the network"):
            mslr_matrix("Perfect")
    assert len(tried) == 1
    (failed,) = downloads._unreached.values()
    with pytest.raises(InputError, match="connect to the network"):
        sushi_matrix()
    assert list(downloads._unreached.values()) == [failed]  # the minute began with the failure
    monkeypatch.setattr(downloads, "_AGAIN_SECONDS", 0.0)
    with pytest.raises(InputError, match="connect to the network"):
        sushi_matrix()
    assert len(tried) == 2


def test_the_folder_comes_first(data_folder, cache, monkeypatch):
    monkeypatch.setenv("JAXDUEL_DATA", str(data_folder))
    matrix = mslr_matrix("Perfect")
    assert matrix.shape == (136, 136)
    assert matrix.dtype == np.float64
    np.testing.assert_array_equal(matrix + matrix.T, 1.0)
    assert not cache.exists()


def test_a_wrong_file_in_the_folder_is_refused(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXDUEL_DATA", str(tmp_path))
    np.savez(tmp_path / FILE, PMat=np.full((136, 136), 0.5))
    with pytest.raises(InputError, match="not the MSLR matrix that is expected"):
        mslr_matrix("Perfect")
    np.save(tmp_path / "sushi16.npy", np.full((16, 16), 0.5))
    with pytest.raises(InputError, match="not the sushi matrix that is expected"):
        sushi_matrix()
    (tmp_path / ARENA).write_text('{"models": []}')
    with pytest.raises(InputError, match="not the arena's file that is expected"):
        arena_file()


@pytest.mark.skipif(not Path("/proc/self/mem").exists(), reason="no file that cannot be read")
def test_a_file_that_cannot_be_read_gets_a_sentence(cache, tmp_path, monkeypatch):
    monkeypatch.setenv("JAXDUEL_DATA", str(tmp_path))
    (tmp_path / ARENA).symlink_to("/proc/self/mem")
    with pytest.raises(InputError, match=r"cannot be read: Input/output error\.$"):
        arena_file()


def test_a_download_is_checked_and_kept_in_the_cache(data_folder, site, cache):
    shutil.copy(data_folder / FILE, site / FILE)
    first = mslr_matrix("Perfect")
    assert (cache / FILE).is_file()
    (site / FILE).unlink()
    np.testing.assert_array_equal(mslr_matrix("Perfect"), first)


def test_the_arenas_download_is_checked_and_kept(small_arena, site, cache):
    content = small_arena.rename(site / ARENA).read_bytes()
    assert arena_file() == cache / ARENA
    (site / ARENA).write_bytes(content.replace(b"60", b"61"))
    assert arena_file().read_bytes() == content
    (cache / ARENA).unlink()
    with pytest.raises(InputError, match=r"as downloaded from .* is not the file"):
        arena_file()
    assert not (cache / ARENA).exists()


def test_a_download_of_another_file_is_refused_and_not_kept(site, cache):
    np.savez(site / FILE, PMat=np.full((136, 136), 0.5))
    with pytest.raises(InputError, match=r"as downloaded from .* is not the file"):
        mslr_matrix("Perfect")
    assert not (cache / FILE).exists()


@pytest.mark.usefixtures("site")
def test_a_place_that_is_gone_is_reported():
    with pytest.raises(InputError, match="HTTPError"):
        mslr_matrix("Perfect")


def test_sushi_is_the_same_as_text_as_array_and_downloaded(
    data_folder, site, cache, tmp_path, monkeypatch
):
    monkeypatch.setenv("JAXDUEL_DATA", str(data_folder))
    as_text = sushi_matrix()
    assert as_text.shape == (16, 16)
    unrounded = as_text + np.triu(np.full((16, 16), 2e-4), 1) - np.tril(np.full((16, 16), 2e-4), -1)
    other = tmp_path / "other"
    other.mkdir()
    np.save(other / "sushi16.npy", unrounded)
    monkeypatch.setenv("JAXDUEL_DATA", str(other))
    np.testing.assert_array_equal(sushi_matrix(), as_text)
    monkeypatch.delenv("JAXDUEL_DATA")
    shutil.copy(other / "sushi16.npy", site)
    np.testing.assert_array_equal(sushi_matrix(), as_text)
    assert (cache / "sushi16.npy").is_file()


def test_sushi_of_other_numbers_is_refused_after_the_download(site):
    np.save(site / "sushi16.npy", np.full((16, 16), 0.5))
    with pytest.raises(InputError, match="its numbers differ"):
        sushi_matrix()
