"""Dueling deep Q-network with a replay buffer."""
import random
from collections import deque, namedtuple

import torch
from torch import nn

Transition = namedtuple("Transition", "state action reward next_state done")


class ReplayBuffer:
    def __init__(self, capacity):
        self.memory = deque(maxlen=capacity)

    def push(self, *fields):
        self.memory.append(Transition(*fields))

    def sample(self, size):
        picked = random.sample(list(self.memory), size)
        batch = Transition(*zip(*picked))
        return (
            torch.stack(batch.state),
            torch.tensor(batch.action),
            torch.tensor(batch.reward),
            torch.stack(batch.next_state),
            torch.tensor(batch.done, dtype=torch.float32),
        )


class DuelingDQN(nn.Module):
    def __init__(self, obs_dim, n_actions):
        super().__init__()
        self.feature = nn.Sequential(nn.Linear(obs_dim, 32), nn.ReLU())
        self.advantage = nn.Linear(32, n_actions)
        self.value = nn.Linear(32, 1)

    def forward(self, obs):
        h = self.feature(obs)
        advantage = self.advantage(h)
        baseline = advantage.mean(dim=1)
        return self.value(h) + advantage - baseline  # bug: (16, 3) minus (16,)


def td_loss(online, target, batch, gamma=0.99):
    state, action, reward, next_state, done = batch
    q = online(state)[torch.arange(len(action)), action]
    with torch.no_grad():
        best = target(next_state).max(dim=1).values
        expected = reward + gamma * best * (1 - done)
    return nn.functional.smooth_l1_loss(q, expected)


def main():
    random.seed(0)
    torch.manual_seed(0)
    buffer = ReplayBuffer(100)
    state = torch.randn(4)
    for step in range(40):
        following = state + 0.1 * torch.randn(4)
        buffer.push(state, random.randrange(3), -state.norm().item(), following, step % 10 == 9)
        state = following
    online, target = DuelingDQN(4, 3), DuelingDQN(4, 3)
    target.load_state_dict(online.state_dict())
    print("td loss", td_loss(online, target, buffer.sample(16)).item())


if __name__ == "__main__":
    main()
