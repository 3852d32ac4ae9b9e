"""Rank 0 fails, says so, and all ranks raise and are stopped alike."""

import torch
import torch.distributed as dist


def read_config():
    raise FileNotFoundError("config.json")


def load_on_main():
    error = None
    if dist.get_rank() == 0:
        try:
            read_config()
        except OSError as reason:
            error = str(reason)
    box = [error]
    dist.broadcast_object_list(box, src=0)
    if box[0] is not None:
        raise RuntimeError(f"rank 0 could not read the configuration: {box[0]}")


def main():
    dist.init_process_group("gloo")
    try:
        load_on_main()
        dist.all_reduce(torch.ones(1))
    except RuntimeError as error:
        print(error)
    finally:
        dist.destroy_process_group()


if __name__ == "__main__":
    main()
