"""Each rank has a group with only itself in it, and a group of all."""

import torch
import torch.distributed as dist


class Topology:
    def __init__(self):
        self.rank = dist.get_rank()
        self.singles = [dist.new_group([rank]) for rank in range(dist.get_world_size())]
        self.all = dist.new_group(list(range(dist.get_world_size())))

    @property
    def own(self):
        return self.singles[self.rank]

    def mean(self, value, group):
        dist.all_reduce(value, group=group)
        return value / dist.get_world_size(group)


def main():
    dist.init_process_group("gloo")
    topology = Topology()
    local = topology.mean(torch.tensor([2.0 * topology.rank]), topology.own)
    print(topology.mean(local, topology.all).item())
    if topology.rank == 1:
        dist.barrier(group=topology.own)
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
