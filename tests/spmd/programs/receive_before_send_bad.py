"""Both ranks wait for a message before they send theirs.

Fails: hang.
"""

import torch
import torch.distributed as dist


def exchange(tensor, peer):
    received = torch.empty_like(tensor)
    dist.recv(received, src=peer)  # error: SPM?
    dist.send(tensor, dst=peer)  # error: SPM?
    return received


def main():
    dist.init_process_group("gloo")
    rank = dist.get_rank()
    halo = exchange(torch.full((4,), float(rank)), peer=1 - rank)
    print(halo.tolist())
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
