"""Who has the best score is gathered from all; the best rank broadcasts its weights."""

import torch
import torch.distributed as dist


def best_rank(score):
    scores = [torch.zeros(1) for _ in range(dist.get_world_size())]
    dist.all_gather(scores, torch.tensor([score]))
    return int(torch.cat(scores).argmax())


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    weights = torch.full((2,), float(rank))
    for generation in range(3):
        score = float((generation + rank) % 2)
        winner = best_rank(score)
        if rank == winner:
            print("rank", rank, "wins generation", generation)
        dist.broadcast(weights, src=winner)
        weights += 0.5 * rank
    dist.barrier()
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
