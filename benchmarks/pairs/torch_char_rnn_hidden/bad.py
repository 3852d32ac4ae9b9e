"""Character-level language model that samples text."""
import torch
from torch import nn

TEXT = "to be or not to be that is the question whether tis nobler in the mind to suffer "


class CharRNN(nn.Module):
    def __init__(self, alphabet, hidden=32, layers=2):
        super().__init__()
        self.hidden = hidden
        self.layers = layers
        self.embed = nn.Embedding(alphabet, hidden)
        self.rnn = nn.GRU(hidden, hidden, layers, batch_first=True)
        self.out = nn.Linear(hidden, alphabet)

    def init_hidden(self, batch):
        return torch.zeros(batch, self.layers, self.hidden)

    def forward(self, tokens, state=None):
        if state is None:
            state = self.init_hidden(tokens.shape[0])
        output, state = self.rnn(self.embed(tokens), state)  # bug: state is (4, 2, 32)
        return self.out(output), state


def chunks(ids, length, batch):
    usable = (len(ids) - 1) // (length * batch) * length * batch
    inputs = ids[:usable].view(batch, -1)
    targets = ids[1 : usable + 1].view(batch, -1)
    for start in range(0, inputs.size(1), length):
        yield inputs[:, start : start + length], targets[:, start : start + length]


def main():
    torch.manual_seed(0)
    letters = sorted(set(TEXT))
    stoi = {c: i for i, c in enumerate(letters)}
    ids = torch.tensor([stoi[c] for c in TEXT])
    model = CharRNN(len(letters))
    criterion = nn.CrossEntropyLoss()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for inputs, targets in chunks(ids, length=10, batch=4):
        logits, _ = model(inputs)
        loss = criterion(logits.reshape(-1, len(letters)), targets.reshape(-1))
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
    state, token, text = None, ids[:1].view(1, 1), []
    while len(text) < 12:
        logits, state = model(token, state)
        token = logits[:, -1].argmax(-1, keepdim=True)
        text.append(letters[token.item()])
    print("loss", loss.item(), "".join(text))


if __name__ == "__main__":
    main()
