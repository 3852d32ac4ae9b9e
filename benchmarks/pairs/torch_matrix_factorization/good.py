"""Matrix factorisation of a partly observed rating matrix, trained by full-batch descent."""
import torch

torch.manual_seed(0)


class Factorizer(torch.nn.Module):
    def __init__(self, users, items, rank):
        super().__init__()
        self.users = torch.nn.Parameter(0.1 * torch.randn(users, rank))
        self.items = torch.nn.Parameter(0.1 * torch.randn(items, rank))
        self.user_bias = torch.nn.Parameter(torch.zeros(users, 1))
        self.item_bias = torch.nn.Parameter(torch.zeros(1, items))

    def forward(self):
        interaction = self.users @ self.items.t()
        return interaction + self.user_bias + self.item_bias

    def penalty(self):
        return sum(p.pow(2).mean() for p in self.parameters())


def observe(users, items, rank, share=0.4):
    truth = torch.randn(users, rank) @ torch.randn(rank, items)
    return truth, torch.rand(users, items) < share


def fit(model, ratings, observed, steps=15, lr=0.5, weight=1e-2):
    optimizer = torch.optim.SGD(model.parameters(), lr=lr)
    best = float("inf")
    for _ in range(steps):
        errors = model()[observed] - ratings[observed]
        loss = errors.square().mean() + weight * model.penalty()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        if (value := loss.item()) < best:
            best = value
    return best


ratings, observed = observe(30, 45, rank=3)
model = Factorizer(*ratings.shape, rank=4)
print("best loss", fit(model, ratings, observed))
with torch.no_grad():
    hidden = (model() - ratings)[~observed]
print(f"error on {hidden.numel()} hidden cells: {hidden.abs().mean():.3f}")
