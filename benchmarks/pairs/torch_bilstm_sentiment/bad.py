"""Sentiment classifier over padded token sequences."""
import torch
import torch.nn as nn


class SentimentLSTM(nn.Module):
    def __init__(self, vocab_size, embed_dim, hidden_dim, num_layers=1, bidirectional=True):
        super().__init__()
        self.embedding = nn.Embedding(vocab_size, embed_dim)
        self.lstm = nn.LSTM(
            embed_dim,
            hidden_dim,
            num_layers=num_layers,
            bidirectional=bidirectional,
            batch_first=True,
        )
        self.classifier = nn.Linear(hidden_dim, 2)

    def forward(self, tokens):
        embedded = self.embedding(tokens)
        output, (hidden, cell) = self.lstm(embedded)
        last = output[:, -1]
        return self.classifier(last)  # bug: 2 x 40 features into 40


def batches(count, batch_size, length, vocab_size):
    for _ in range(count):
        tokens = torch.randint(0, vocab_size, (batch_size, length))
        yield tokens, (tokens.sum(dim=1) % 2)


def main():
    torch.manual_seed(0)
    vocab_size = 120
    model = SentimentLSTM(vocab_size, embed_dim=24, hidden_dim=40)
    loss_fn = nn.CrossEntropyLoss()
    optimizer = torch.optim.AdamW(model.parameters())
    running = 0.0
    for step, (tokens, labels) in enumerate(batches(3, 8, 15, vocab_size), start=1):
        loss = loss_fn(model(tokens), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        running += loss.item()
    print(f"mean loss over {step} steps: {running / step:.3f}")


if __name__ == "__main__":
    main()
