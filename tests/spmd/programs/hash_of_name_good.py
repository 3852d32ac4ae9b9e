"""A checksum is the same in every process."""

import zlib

import torch
import torch.distributed as dist


def sampled(name):
    return zlib.crc32(name.encode()) % 2 == 0


def main():
    dist.init_process_group("gloo")
    model = torch.nn.Sequential(*[torch.nn.Linear(2, 2) for _ in range(20)])
    for name, parameter in model.named_parameters():
        if sampled(name):
            norm = parameter.detach().norm()
            dist.all_reduce(norm)
    dist.barrier()
    print(zlib.adler32(b"done"))
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
