"""Trains a perceptron on random images delivered by a DataLoader."""
import torch
from torch import nn, optim
from torch.utils.data import DataLoader, TensorDataset, random_split


def make_loaders(count, size, batch_size):
    images = torch.rand(count, 1, size, size)
    labels = torch.randint(0, 10, (count,))
    dataset = TensorDataset(images, labels)
    train_set, test_set = random_split(dataset, [count - 16, 16])
    return (
        DataLoader(train_set, batch_size=batch_size, shuffle=True, drop_last=True),
        DataLoader(test_set, batch_size=batch_size),
    )


class Perceptron(nn.Module):
    def __init__(self, pixels, hidden, classes):
        super().__init__()
        self.hidden = nn.Linear(pixels, hidden)
        self.output = nn.Linear(hidden, classes)

    def forward(self, x):
        return self.output(torch.tanh(self.hidden(x)))  # bug: rows of 12 pixels, not images of 144


def run(epochs=2, size=12):
    torch.manual_seed(0)
    train_loader, test_loader = make_loaders(64, size, batch_size=8)
    model = Perceptron(size * size, 20, 10)
    optimizer = optim.Adam(model.parameters(), lr=1e-2)
    criterion = nn.CrossEntropyLoss()
    for epoch in range(epochs):
        total = 0.0
        for images, labels in train_loader:
            outputs = model(images)
            loss = criterion(outputs, labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            total += loss.item()
        print(f"epoch {epoch + 1}/{epochs}: loss {total / len(train_loader):.4f}")
    with torch.no_grad():
        correct = 0
        for images, labels in test_loader:
            predicted = model(images.view(len(images), -1)).argmax(dim=1)
            correct += int((predicted == labels).sum())
    print("correct:", correct)


if __name__ == "__main__":
    run()
