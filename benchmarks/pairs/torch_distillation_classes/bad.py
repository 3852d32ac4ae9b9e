"""Knowledge distillation from a frozen teacher into a small student."""
import torch
import torch.nn as nn
import torch.nn.functional as F


def mlp(inp, hidden, out, depth=1):
    layers = [nn.Linear(inp, hidden), nn.ReLU()]
    for _ in range(depth - 1):
        layers += [nn.Linear(hidden, hidden), nn.ReLU()]
    return nn.Sequential(*layers, nn.Linear(hidden, out))


class Distiller:
    def __init__(self, teacher, student, temperature=2.0, alpha=0.7):
        self.teacher = teacher.eval()
        self.student = student
        self.temperature = temperature
        self.alpha = alpha
        self.optimizer = torch.optim.SGD(student.parameters(), lr=0.05)

    def loss(self, x, y):
        with torch.no_grad():
            soft = F.softmax(self.teacher(x) / self.temperature, dim=1)
        logits = self.student(x)
        log_probs = F.log_softmax(logits / self.temperature, dim=1)
        distill = F.kl_div(log_probs, soft, reduction="batchmean")  # bug: 10 classes against 12
        hard = F.cross_entropy(logits, y)
        return self.alpha * self.temperature**2 * distill + (1 - self.alpha) * hard

    def fit(self, batches):
        losses = []
        for x, y in batches:
            loss = self.loss(x, y)
            self.optimizer.zero_grad()
            loss.backward()
            self.optimizer.step()
            losses.append(loss.item())
        return sum(losses) / len(losses)


if __name__ == "__main__":
    torch.manual_seed(0)
    num_classes = 12
    teacher = mlp(30, 64, num_classes, depth=3)
    student = mlp(30, 16, 10)
    batches = [(torch.randn(8, 30), torch.randint(0, 10, (8,))) for _ in range(4)]
    print(f"mean loss {Distiller(teacher, student).fit(batches):.4f}")
