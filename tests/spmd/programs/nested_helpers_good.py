"""Three calls below, rank 0 writes; all went there and wait."""

import torch
import torch.distributed as dist


def is_primary():
    return dist.get_rank() == 0


def flush(path, lines):
    if is_primary():
        with open(path, "w") as file:
            file.writelines(lines)
    dist.barrier()


def report(metrics):
    flush("report.txt", [f"{name}: {value}\n" for name, value in metrics.items()])


def finish_epoch(epoch, metrics):
    metrics["epoch"] = epoch
    report(metrics)


def main():
    dist.init_process_group("gloo")
    for epoch in range(3):
        loss = torch.tensor(1.0 / (epoch + 1))
        dist.all_reduce(loss)
        if epoch > 0:
            finish_epoch(epoch, {"loss": loss.item()})
    dist.destroy_process_group()


if __name__ == "__main__":
    main()
