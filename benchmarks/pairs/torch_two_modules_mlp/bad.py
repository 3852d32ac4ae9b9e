"""Predicts a robot's next state with the dynamics model in layers.py."""
import torch

from layers import DynamicsModel, rollout

STATE, ACTION = 6, 2


def expert(states):
    return torch.tanh(states[:, :ACTION])


def main(steps=4):
    torch.manual_seed(0)
    model = DynamicsModel(input_size=STATE, output_size=STATE)
    start = torch.zeros(5, STATE)
    path = rollout(model, start, expert, steps)  # bug: states and actions together are 8 wide
    print("path", tuple(path.shape))
    drift = (path[-1] - path[0]).norm(dim=-1)
    for index, value in enumerate(drift.tolist()):
        print(f"robot {index} moved {value:.3f}")


if __name__ == "__main__":
    main()
