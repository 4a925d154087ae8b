"""Integers that are too large for a machine word, as remainders modulo primes."""

from __future__ import annotations

from math import isqrt, prod

import numpy as np

from gpusudoku.contraction.general.maps import Words


def primes_above(bound: int) -> Words:
    """uint64: primes below 2^31 whose product is larger than a bound, the largest first."""
    primes: list[int] = []
    number = 1 << 31
    while prod(primes) <= bound:
        number -= 1
        if all(number % k for k in range(2, isqrt(number) + 1)):
            primes.append(number)
    return np.array(primes, np.uint64)


def combined(remainders: list[int], primes: list[int]) -> int:
    """The least natural number that has the given remainders modulo the primes."""
    number, modulus = 0, 1
    for remainder, prime in zip(remainders, primes, strict=True):
        number += modulus * ((remainder - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number
