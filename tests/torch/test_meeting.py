"""Ranks find each other, and not what an earlier start of the job has left."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
import torch.distributed as dist

from flexicase.torch._distributed import RankLostError, agree_on_prefix, detect_lost_rank

pytestmark = pytest.mark.skipif(not dist.is_available(), reason="this build of PyTorch has no torch.distributed")


def names(store, ranks, world_size):
    with ThreadPoolExecutor(len(ranks)) as threads:
        patience = timedelta(seconds=20)
        return list(threads.map(lambda rank: agree_on_prefix(store, rank, world_size, patience), ranks))


@pytest.mark.parametrize("ranks", [[0, 1, 2], [2, 1, 0]])
def test_all_ranks_of_a_start_know_one_name_and_the_next_start_has_another(ranks):
    store = dist.HashStore()
    found = [names(store, ranks, 3) for _ in range(3)]
    assert all(len(set(start)) == 1 for start in found)
    assert len({start[0] for start in found}) == 3


@pytest.mark.parametrize("left", [[0], [1], [2, 1]])
def test_ranks_that_came_alone_and_died_confuse_nobody(left):
    store = dist.HashStore()
    for rank in left:
        with pytest.raises(RankLostError, match="not all of the 3 ranks came within 0 s"):
            agree_on_prefix(store, rank, 3, timedelta(seconds=0.05))
    assert len(set(names(store, [2, 0, 1], 3))) == 1


def test_the_reason_is_told_without_places_in_other_sources():
    with (
        pytest.raises(RankLostError, match=r"^contact with another rank was lost: Connection closed by peer$"),
        detect_lost_rank(),
    ):
        raise RuntimeError("[/a/b/pair.cc:553] Connection closed by peer. This is typically so.\nMore")
