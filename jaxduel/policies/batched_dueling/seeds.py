"""Seeds of SCOMP and SCOMP2: their sampling, and the switch to PCOMP.

Paper: Agarwal, Ghuge and Nagarajan, "Batched Dueling Bandits" (ICML 2022), Section 3.2.

Regret at T = 1e5 with B = 16 in each reading of the switch and of SCOMP2's candidate (500 runs,
mean +- standard error), and how many of the paper's eight claims on its Figures 1 and 2 come out:

    switch, width, candidate    six rankers  sushi        SYN-BTL      SYN-CD          claims
    SCOMP2
    elimination, 3/5, kept      1,101 +- 96    778 +- 97  5,421 +- 155  3,595 +- 211   6
    elimination, 3/5, redrawn   1,122 +- 94  1,232 +- 157 5,693 +- 128  5,471 +- 304   5
    elimination, 1, kept        1,731 +- 116 2,565 +- 263 4,075 +- 117  3,716 +- 224   4
    elimination, 1, redrawn     1,745 +- 113 3,302 +- 296 4,288 +- 130  5,464 +- 303   4
    hoeffding, 3/5, kept          352 +- 30  1,160 +- 37  6,772 +- 117 22,592 +- 1,300 4
    hoeffding, 3/5, redrawn       331 +- 27  1,264 +- 42  7,410 +- 101 22,570 +- 1,302 4
    SCOMP
    elimination, 1/3              505 +- 56    641 +- 32  9,544 +- 104 13,109 +- 633
    elimination, 1                953 +- 82    844 +- 69  9,475 +- 108 13,068 +- 631
    hoeffding, 1/3                361 +- 36    926 +- 19  9,693 +- 105 23,126 +- 1,304

The first is the default: most claims, by a rule that was fixed before they were measured. That
hardly tells the candidates apart: with 8,192 runs on sushi the first has 704 +- 23 and the second
815 +- 25, both below RUCB's 1,038, which is the claim that the second lacks above. With K in place
of |A'| in PCOMP (`threshold`) no number differs by more than 9 %, and no reading has more than 5
claims. On the six rankers, which are not SST, an early switch may lose the best arm: the first
reading's median there is 142.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import ClassVar

import jax
import jax.numpy as jnp

from jaxduel.errors import unknown_name
from jaxduel.numerics import count_true, masked_choice
from jaxduel.numerics.threefry import uniforms
from jaxduel.policies.base import Key
from jaxduel.policies.batched_dueling.rounds import (
    BatchedSettings,
    Terms,
    above,
    kl_threshold,
)
from jaxduel.policies.checks import require

SWITCHES = ("elimination", "hoeffding")


@dataclass(frozen=True, kw_only=True)
class SeededSettings(BatchedSettings):
    """`BatchedSettings` with the sampling of seeds and the switch to PCOMP.

    The text defines the switch twice. Section 3.2: it is made when some arm "eliminates" the
    candidate (SCOMP: all seeds), and section 5 replaces what elimination is. The pseudo-code
    prints margins of gamma_r, and section 5 does not name them among the lines that it replaces.

    Attributes:
      switch: what makes PCOMP take over. An arm must do it to the candidate (SCOMP: to each seed).
        "elimination": it must eliminate, by the criterion in use; under a KL criterion N and p_hat
        are cumulative (section 3.2).
        "hoeffding": the lines as printed, SCOMP's 9 and 10 and SCOMP2's 11 and 12: p_hat of that
        round alone above 1/2 + 3 gamma_r (SCOMP2: 5 gamma_r). With K = 100, T = 1e5 and B = 16
        SCOMP2 cannot do it before r = 10, after 2.5e5 comparisons: never.
        Where elimination is "hoeffding" the two are the same.
      width: the share of the switch's lead that joins A'; None: 1/3 (SCOMP) or 3/5 (SCOMP2). From 0
        (all arms that are ahead) to 1 (those that switch); None is as printed, in SCOMP's lines 9
        and 10 and SCOMP2's 11 and 12. A lead counts in margins of gamma_r, or in roots of KL
        evidence, so that the threshold is multiplied by its square. That evidence has these shares
        too is ours: the text has no second bar for it, and 1 adds none.
      seed_probability: chance of each arm to be a seed, 1 / sqrt(K) if None. That is Theorem 3.2;
        K^(-2/3) gives SCOMP the worst-case bound of Theorem 3.3. An empty sample is replaced by one
        uniform arm.

    PCOMP is called with A' and what is left of T (SCOMP's line 15, SCOMP2's 17), and its line 2
    takes K, and T in delta, from them: a KL threshold of 2 log |A'|. A `threshold` or a `delta`
    that is given holds in both phases: threshold = 2 log K is the reading in which section 5's
    delta = 1 / (T K^2) does not change. Batches go on with those of the whole run, q^r, ..., q^B.
    """

    switch: str = field(default="elimination", metadata={"static": True})
    width: float | jax.Array | None = None
    seed_probability: float | jax.Array | None = None

    assumes: ClassVar[tuple[str, ...]] = ("sst", "sti")

    def validate(self) -> None:
        """Raises InputError for parameters out of range."""
        BatchedSettings.validate(self)
        name = type(self).__name__.lower()
        if self.switch not in SWITCHES:
            raise unknown_name("switch", self.switch, SWITCHES)
        require(self.width, lambda w: (w >= 0) & (w <= 1), f"{name}: width must be in [0, 1]")
        require(
            self.seed_probability,
            lambda p: (p >= 0) & (p <= 1),
            f"{name}: seed_probability must be in [0, 1]",
        )


def switches_by_kl(settings: SeededSettings) -> bool:
    """True if the switch is tested by KL evidence, not by gamma_r."""
    return settings.switch == "elimination" and settings.elimination != "hoeffding"


def leads(
    settings: SeededSettings,
    terms: Terms,
    lead: jax.Array,
    gamma: jax.Array,
    printed: tuple[float, float],
) -> tuple[jax.Array, jax.Array]:
    """The leads that make the switch, and those that are enough to be in A'.

    Args:
      settings: of the policy.
      terms: K and T.
      lead: float32 of any shape, of some arms over others: evidence that these lose to them, or,
        unless `switches_by_kl`, p_hat of the round.
      gamma: () float32, gamma_r.
      printed: the printed margins of the two, in gamma_r.

    Returns:
      Two bool of the shape of `lead`.
    """
    switching, joining = printed
    if switches_by_kl(settings):
        threshold = kl_threshold(settings, terms)
        share = joining / switching if settings.width is None else jnp.float32(settings.width)
        return above(lead, threshold), above(lead, share**2 * threshold)
    joining = joining if settings.width is None else settings.width * switching
    return lead > 0.5 + switching * gamma, lead > 0.5 + joining * gamma


def sample_seeds(settings: SeededSettings, key: Key) -> jax.Array:
    """The seed set S, never empty (line 3): (K,) bool."""
    active = jnp.asarray(settings.active_arms)
    size = count_true(active).astype(jnp.float32)
    given = settings.seed_probability
    probability = 1.0 / jnp.sqrt(size) if given is None else jnp.asarray(given, jnp.float32)
    u = uniforms(key, settings.num_arms + 1)
    sampled = active & (u[:-1] < probability)
    one = jnp.arange(settings.num_arms, dtype=jnp.int32) == masked_choice(active, u[-1])
    return jnp.where(jnp.any(sampled), sampled, one)


def terms_after(
    terms: Terms, seeding: jax.Array, seeds: jax.Array, active: jax.Array, remaining: jax.Array
) -> Terms:
    """K and T of the phase to come: once no seed is left, |A| and the rest of T at that moment.

    Args:
      terms: before the round.
      seeding: () bool, there were seeds before the round.
      seeds, active: (K,) bool, after it.
      remaining: () int32, after it.
    """
    called = seeding & ~jnp.any(seeds)
    return Terms(
        arms=jnp.where(called, count_true(active), terms.arms),
        horizon=jnp.where(called, jnp.maximum(remaining, 1), terms.horizon),
    )
