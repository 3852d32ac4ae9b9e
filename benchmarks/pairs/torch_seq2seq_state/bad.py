"""Encoder-decoder LSTM that translates digit strings, with projected states."""
import torch
from torch import nn


class Encoder(nn.Module):
    def __init__(self, vocab, dim, hidden, proj):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True, proj_size=proj)

    def forward(self, source):
        memory, state = self.rnn(self.embed(source))
        return memory, state


class Decoder(nn.Module):
    def __init__(self, vocab, dim, hidden):
        super().__init__()
        self.embed = nn.Embedding(vocab, dim)
        self.rnn = nn.LSTM(dim, hidden, batch_first=True)
        self.out = nn.Linear(hidden, vocab)

    def forward(self, target, state):
        output, state = self.rnn(self.embed(target), state)  # bug: state of 20 into an LSTM of 32
        return self.out(output), state


class Seq2Seq(nn.Module):
    def __init__(self, vocab=13, dim=16, hidden=32, proj=20):
        super().__init__()
        self.encoder = Encoder(vocab, dim, hidden, proj)
        self.decoder = Decoder(vocab, dim, hidden)

    def forward(self, source, target):
        _, state = self.encoder(source)
        logits, _ = self.decoder(target, state)
        return logits

    @torch.no_grad()
    def greedy(self, source, length, start=0):
        _, state = self.encoder(source)
        token = torch.full((source.size(0), 1), start)
        produced = []
        for _ in range(length):
            logits, state = self.decoder(token, state)
            token = logits[:, -1].argmax(-1, keepdim=True)
            produced.append(token)
        return torch.cat(produced, dim=1)


if __name__ == "__main__":
    torch.manual_seed(0)
    model = Seq2Seq()
    source = torch.randint(0, 13, (4, 9))
    target = torch.randint(0, 13, (4, 7))
    logits = model(source, target)
    print(nn.functional.cross_entropy(logits.transpose(1, 2), target).item())
    print(model.greedy(source, 5).shape)
