"""One update of an actor-critic agent on a toy environment."""
import torch
from torch import nn
import torch.nn.functional as F


class ToyEnv:
    """Walks on a line; the observation is a one-hot position."""

    size = 7

    def reset(self):
        self.position = self.size // 2
        return self._observe()

    def _observe(self):
        return F.one_hot(torch.tensor(self.position), self.size).float()

    def step(self, action):
        self.position = max(0, min(self.size - 1, self.position + (1 if action == 1 else -1)))
        reward = 1.0 if self.position == self.size - 1 else -0.01
        return self._observe(), reward


class ActorCritic(nn.Module):
    def __init__(self, obs_dim, n_actions, hidden=32):
        super().__init__()
        self.body = nn.Sequential(nn.Linear(obs_dim, hidden), nn.Tanh())
        self.actor = nn.Linear(hidden, n_actions)
        self.critic = nn.Linear(hidden, 1)

    def forward(self, obs):
        h = self.body(obs)
        return self.actor(h), self.critic(h).squeeze(-1)


def rollout(env, net, steps=20):
    observations, actions, rewards = [], [], []
    obs = env.reset()
    for _ in range(steps):
        with torch.no_grad():
            logits, _ = net(obs)
        action = torch.multinomial(logits.softmax(-1), 1).item()
        observations.append(obs)
        actions.append(action)
        obs, reward = env.step(action)
        rewards.append(reward)
    return torch.stack(observations), torch.tensor(actions), torch.tensor(rewards)


def returns(rewards, gamma=0.95):
    out = torch.zeros_like(rewards)
    running = 0.0
    for t in range(len(rewards) - 1, -1, -1):
        running = rewards[t] + gamma * running
        out[t] = running
    return out


def main():
    torch.manual_seed(0)
    env = ToyEnv()
    net = ActorCritic(ToyEnv.size, 2)
    obs, actions, rewards = rollout(env, net)
    logits, values = net(obs)
    log_probs = F.log_softmax(logits, dim=-1)
    chosen = log_probs.gather(1, actions.unsqueeze(1)).squeeze(1)
    advantage = returns(rewards) - values
    loss = -(chosen * advantage.detach()).mean() + 0.5 * advantage.pow(2).mean()
    loss.backward()
    print("loss", loss.item())


main()
