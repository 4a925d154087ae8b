"""The tables and keys that the 9x9 contraction rests on."""

from __future__ import annotations

import numpy as np

from gpusudoku.contraction.nine.tables import tables
from gpusudoku.kernels.contraction.nine.keys import pack, partition_at


class TestTables:
    def test_every_partition_is_orthogonal_to_36(self) -> None:
        orthogonal = tables().orthogonal
        assert orthogonal.shape == (280, 36)
        assert all(x in orthogonal[y] for x in range(280) for y in orthogonal[x])

    def test_bits_and_lists_say_the_same(self) -> None:
        bits = np.unpackbits(tables().orthogonal_bits.view(np.uint8), axis=1, bitorder="little")
        listed = np.zeros_like(bits)
        np.put_along_axis(listed, tables().orthogonal.astype(np.int64), 1, axis=1)
        assert (bits == listed).all()

    def test_swaps_keep_orthogonality(self) -> None:
        swap, orthogonal = tables().swaps[2, 7], tables().orthogonal
        for x in (0, 17, 279):
            assert set(swap[orthogonal[x]]) == set(orthogonal[swap[x]])
        assert (tables().swaps[2, 7][swap] == np.arange(280)).all()


class TestKeys:
    def test_partitions_come_out_of_a_key_as_they_went_in(self) -> None:
        for partitions in [(0, 0, 0), (279, 0, 17), (1, 279, 278), (279, 279, 279)]:
            key = pack(*partitions)
            assert key.dtype == np.int32
            assert tuple(partition_at(key, place) for place in range(3)) == partitions

    def test_keys_are_in_the_order_of_their_partitions(self) -> None:
        triples = [(0, 0, 279), (0, 1, 0), (0, 279, 279), (1, 0, 0), (279, 0, 0)]
        keys = [pack(*triple) for triple in triples]
        assert keys == sorted(keys)
