"""Batches variable-length token sequences for a GRU language model."""
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

SENTENCES = [
    "the cat sat on the mat",
    "a dog barked",
    "the dog sat",
    "a cat sat on a dog on the mat",
]


def build_vocab(sentences, specials=("<pad>", "<eos>")):
    vocab = {token: index for index, token in enumerate(specials)}
    for sentence in sentences:
        for word in sentence.split():
            vocab.setdefault(word, len(vocab))
    return vocab


def encode(sentence, vocab):
    return torch.tensor([vocab[word] for word in sentence.split()] + [vocab["<eos>"]])


def collate(batch):
    return pad_sequence(batch, batch_first=True, padding_value=0)


class LanguageModel(nn.Module):
    def __init__(self, vocab_size, dim=16):
        super().__init__()
        self.embed = nn.Embedding(vocab_size, dim, padding_idx=0)
        self.gru = nn.GRU(dim, dim, batch_first=True)
        self.out = nn.Linear(dim, vocab_size)
        self.out.weight = self.embed.weight

    def forward(self, tokens):
        hidden, _ = self.gru(self.embed(tokens))
        return self.out(hidden)


vocab = build_vocab(SENTENCES)
batch = collate([encode(sentence, vocab) for sentence in SENTENCES])
model = LanguageModel(len(vocab))
logits = model(batch[:, :-1])
loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten(), ignore_index=0)
print(f"vocabulary {len(vocab)}, perplexity {loss.exp().item():.1f}")
