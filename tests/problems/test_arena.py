"""The Chatbot Arena's counts and instances, against facts found with another program."""

import hashlib
import json
from itertools import combinations

import numpy as np
import pytest

import jaxduel as jd
from jaxduel.problems.arena import counts
from jaxduel.problems.core import complete_core

CORE = {
    11: "claude-3-5-sonnet-20240620", 12: "claude-3-haiku-20240307", 13: "claude-3-opus-20240229",
    14: "claude-3-sonnet-20240229", 18: "command-r", 19: "command-r-plus", 21: "deepseek-coder-v2",
    29: "gemini-1.5-flash-api-0514", 31: "gemini-1.5-pro-api-0514", 33: "gemini-advanced-0514",
    38: "gemma-2-27b-it", 40: "gemma-2-9b-it", 45: "gpt-3.5-turbo-0125", 49: "gpt-4-0125-preview",
    51: "gpt-4-0613", 52: "gpt-4-1106-preview", 53: "gpt-4-turbo-2024-04-09",
    54: "gpt-4o-2024-05-13", 64: "llama-3-70b-instruct", 65: "llama-3-8b-instruct",
    72: "mistral-large-2402", 76: "mixtral-8x22b-instruct-v0.1", 80: "nemotron-4-340b-instruct",
    88: "phi-3-medium-4k-instruct", 92: "phi-3-small-8k-instruct", 103: "qwen2-72b-instruct",
    104: "reka-core-20240501", 109: "reka-flash-preview-20240611", 122: "yi-1.5-34b-chat",
    124: "yi-large", 125: "yi-large-preview",
}  # fmt: skip
"""The models of the core by their number among the 129."""
MODELS = list(CORE.values())
ARMS = np.array(list(CORE))


def sha256(table, dtype="<i4"):
    return hashlib.sha256(np.ascontiguousarray(table, dtype).tobytes()).hexdigest()


@pytest.fixture
def arena(data_folder):
    """The counts of the real file."""
    return counts()


@pytest.fixture
def arena31(data_folder):
    """The core's instance."""
    return jd.problems.load("arena31")


def test_a_small_file(small_arena):
    found = counts()
    assert found.models == ("Ada", "bea", "cyd", "dan")
    assert found.wins.tolist() == [[0, 60, 80, 0], [50, 0, 55, 0], [30, 45, 0, 4], [0, 0, 0, 0]]
    assert found.ties.tolist() == [[0, 7, 0, 0], [7, 0, 2, 0], [0, 2, 0, 5], [0, 0, 5, 0]]
    assert found.both_bad.tolist() == [[0, 3, 1, 0], [3, 0, 0, 0], [1, 0, 0, 0], [0, 0, 0, 0]]
    assert {table.dtype for table in found[1:]} == {np.dtype(np.int64)}
    problem = jd.problems.load("arena31")
    np.testing.assert_allclose(
        problem.preferences,
        [[0.5, 60 / 110, 80 / 110], [50 / 110, 0.5, 0.55], [30 / 110, 0.45, 0.5]],
        atol=1e-15,
    )
    assert jd.problems.load("arena31[3,1]").preferences[1, 0] == 80 / 110


def test_a_changed_file_is_refused(small_arena):
    small_arena.write_text(small_arena.read_text().replace("60", "61"))
    for load in (counts, jd.votes.arena, lambda: jd.problems.load("arena129[1,2]")):
        with pytest.raises(jd.InputError, match=r"is not the arena's file .* sha256 differs.*\.$"):
            load()


def test_the_files_rows(data_folder, arena):
    content = json.loads((data_folder / "chatbotarena_20240814.json").read_text())
    assert len(content["X"]) == len({tuple(pair) for pair in content["X"]}) == 3_460
    for row, pair, outcomes in ((0, [0, 1], [103, 94, 18, 85]), (-1, [126, 127], [32, 27, 16, 16])):
        assert (content["X"][row], content["Y"][row]) == (pair, outcomes)
        i, j = pair
        found = [arena.wins[i, j], arena.wins[j, i], arena.ties[i, j], arena.both_bad[i, j]]
        assert found == outcomes


def test_the_counts(arena):
    assert len(arena.models) == 129
    assert list(arena.models) == sorted(arena.models)
    assert arena.models[0] == "RWKV-4-Raven-14B"
    assert [int(table.sum()) for table in arena[1:]] == [1_093_875, 2 * 281_121, 2 * 295_254]
    assert int(np.triu(arena.wins).sum()) == 595_570
    assert int(np.tril(arena.wins).sum()) == 498_305
    assert np.count_nonzero(np.triu(arena.wins + arena.wins.T)) == 3_453
    assert arena.wins[0, :10].tolist() == [0, 103, 0, 0, 86, 0, 0, 0, 44, 7]
    assert arena.ties[0, :10].tolist() == [0, 18, 0, 0, 22, 0, 0, 0, 30, 5]
    for table in (arena.ties, arena.both_bad):
        np.testing.assert_array_equal(table, table.T)
    assert sha256(arena.wins) == "413d7403cd1b3653f0b9311427767407a3a8fe26190103bc9dd28ecb25caecb2"
    assert sha256(arena.ties) == "8122a58edb69028eddd7ce15698bc00f2ca3a2c96673f4ad29b0b2bcb55ca964"


def removals(decisive, at_least):
    """Arms removed, in turn, with the number of their pairs below; one by one, from the text."""
    left, removed = list(range(len(decisive))), []
    while True:
        below = {i: sum(decisive[i][j] < at_least for j in left if j != i) for i in left}
        votes = {i: sum(decisive[i][j] for j in left) for i in left}
        worst = min(left, key=lambda i: (-below[i], votes[i], i))
        if not below[worst]:
            return left, removed
        left.remove(worst)
        removed.append((worst, below[worst]))


def test_the_core(arena):
    decisive = arena.wins + arena.wins.T
    core = complete_core(decisive, 100)
    assert {int(arm): arena.models[arm] for arm in core} == CORE
    left, removed = removals(decisive.tolist(), 100)
    assert left == core.tolist()
    assert len(removed) == 98
    named = [(arena.models[arm], below) for arm, below in removed]
    assert named[:3] == [
        ("codellama-70b-instruct", 128),
        ("falcon-180b-chat", 127),
        ("dolphin-2.2.1-mistral-7b", 125),
    ]
    assert named[-3:] == [
        ("phi-3-mini-4k-instruct", 6),
        ("gemma-1.1-7b-it", 3),
        ("mixtral-8x7b-instruct-v0.1", 2),
    ]


def test_the_cores_votes(arena):
    wins, ties, both_bad = (table[np.ix_(ARMS, ARMS)] for table in arena[1:])
    assert sha256(wins) == "9a7581704c4dca00ad6fc11bad513406ac015f85b64eec5d9495b35a0afcb1bd"
    assert [int(t.sum()) for t in (wins, ties, both_bad)] == [438_463, 2 * 126_259, 2 * 112_483]
    per_pair = (wins + wins.T)[np.triu_indices(31, 1)]
    assert (per_pair.min(), np.median(per_pair), per_pair.max()) == (111, 552, 7_193)
    for left, right, *outcomes in (
        ("deepseek-coder-v2", "phi-3-small-8k-instruct", 76, 35),
        ("llama-3-70b-instruct", "llama-3-8b-instruct", 4_727, 2_466, 2_908, 3_048),
        ("gpt-4o-2024-05-13", "gemini-advanced-0514", 1_101, 1_037),
        ("gpt-4o-2024-05-13", "claude-3-5-sonnet-20240620", 1_941, 1_701),
        ("gpt-4o-2024-05-13", "gemini-1.5-pro-api-0514", 1_371, 1_174),
        ("deepseek-coder-v2", "mistral-large-2402", 74, 74),
        ("gpt-4-1106-preview", "gpt-4-0613", 2_552, 1_117, 1_289, 484),
        ("claude-3-opus-20240229", "gpt-4-turbo-2024-04-09", 1_912, 2_026, 1_318, 667),
        ("yi-large", "yi-large-preview", 77, 144, 128, 96),
        ("gpt-4-0613", "gpt-3.5-turbo-0125", 896, 446, 453, 343),
    ):
        i, j = MODELS.index(left), MODELS.index(right)
        found = [wins[i, j], wins[j, i], ties[i, j], both_bad[i, j]]
        assert found[: len(outcomes)] == outcomes


def test_arena31_is_the_share_of_decisive_votes(arena, arena31):
    wins = arena.wins[np.ix_(ARMS, ARMS)]
    for i, j in combinations(range(31), 2):
        share = wins[i, j] / (wins[i, j] + wins[j, i])
        assert arena31.preferences[i, j] == pytest.approx(share, abs=1e-15)
    np.testing.assert_array_equal(arena31.preferences + arena31.preferences.T, 1)
    np.testing.assert_array_equal(
        jd.problems.load("arena31[18,1,31]").preferences,
        arena31.preferences[np.ix_([17, 0, 30], [17, 0, 30])],
    )


def test_arena31_and_its_winner(arena31):
    winner = arena31.condorcet_winner
    margins = arena31.preferences[winner]
    nearest = sorted(set(range(31)) - {winner}, key=lambda arm: margins[arm])[:3]
    assert [MODELS[arm] for arm in (winner, *nearest)] == [
        *("gpt-4o-2024-05-13", "gemini-advanced-0514", "claude-3-5-sonnet-20240620"),
        "gemini-1.5-pro-api-0514",
    ]
    assert margins[nearest].round(3).tolist() == [0.515, 0.533, 0.539]
    gaps = arena31.gaps("average")
    assert (gaps.sum() / 30).round(5) == 0.18725
    assert gaps.mean().round(5) == 0.18121


def test_arena31_and_its_order(arena31):
    assert arena31.borda_winners == (MODELS.index("gpt-4o-2024-05-13"),)
    borda = np.sort(arena31.borda_scores)[::-1].round(4)
    assert borda[:4].tolist() == [0.6873, 0.6528, 0.6476, 0.6351]
    assert borda[-1] == 0.2845
    assert MODELS[int(arena31.borda_scores.argmin())] == "phi-3-small-8k-instruct"
    copeland = sorted(arena31.copeland_scores.tolist(), reverse=True)
    assert (copeland[:6], copeland[-2:]) == ([30, 28, 28, 28, 26, 25], [1, 0])
    beats = arena31.preferences > 0.5
    triples = list(combinations(range(31), 3))
    cyclic = [
        triple
        for triple in triples
        if any(beats[i, j] and beats[j, k] and beats[k, i] for i, j, k in (triple, triple[::-1]))
    ]
    assert (len(cyclic), len(triples)) == (6, 4_495)
    tied = [MODELS.index("deepseek-coder-v2"), MODELS.index("mistral-large-2402")]
    assert arena31.preferences[*tied] == 0.5
    distances = np.abs(arena31.preferences - 0.5)[np.triu_indices(31, 1)]
    assert ((distances == 0).sum(), (distances <= 0.01).sum()) == (1, 12)
    assert jd.problems.total_order_violation(arena31) is not None
    assert jd.problems.sst_violation(arena31) is not None


def test_arena129_is_the_mode_of_the_btl_posterior(arena):
    """There the gradient is 0: wins minus expected wins = strength / 2^2, by the definition."""
    problem = jd.problems.load("arena129")
    p = problem.preferences
    strengths = np.log(p / (1 - p)).mean(axis=1)
    decisive = arena.wins + arena.wins.T
    residuals = (arena.wins - decisive * p).sum(axis=1) - strengths / 4
    rounding = 1e-6 * (decisive * p * (1 - p)).sum(axis=1)  # of strengths, to 6 decimals
    assert (np.abs(residuals) < 1e-3 + rounding).all()  # 1e-3: Newton's last step
    assert arena.models[problem.condorcet_winner] == "chatgpt-4o-latest"
    assert jd.problems.sst_violation(problem) is None
    assert jd.problems.sti_violation(problem) is None
    np.testing.assert_allclose(strengths[:, None] - strengths, np.log(p / (1 - p)), atol=1e-8)
    assert sha256(p, "<f8") == "8b3c70e3d97e1f7628aa0534c5d799add73a43b4b3e74b76b097d01c0ab7bea3"
