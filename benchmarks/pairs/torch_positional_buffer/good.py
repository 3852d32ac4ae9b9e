"""Transformer language model with sinusoidal positions in a buffer."""
import math
from collections import OrderedDict

import torch
from torch import nn, Tensor


class PositionalEncoding(nn.Module):
    def __init__(self, d_model: int, dropout: float = 0.1, max_len: int = 100):
        super().__init__()
        self.dropout = nn.Dropout(p=dropout)
        position = torch.arange(max_len).unsqueeze(1)
        div_term = torch.exp(torch.arange(0, d_model, 2) * (-math.log(10000.0) / d_model))
        pe = torch.zeros(max_len, 1, d_model)
        pe[:, 0, 0::2] = torch.sin(position * div_term)
        pe[:, 0, 1::2] = torch.cos(position * div_term)
        self.register_buffer("pe", pe)

    def forward(self, x: Tensor) -> Tensor:
        # x: sequence, batch, width
        x = x + self.pe[: x.size(0)]
        return self.dropout(x)


class TransformerLM(nn.Module):
    def __init__(self, ntoken: int, d_model: int, nhead: int, d_hid: int, nlayers: int):
        super().__init__()
        self.d_model = d_model
        self.embed = nn.Embedding(ntoken, d_model)
        self.pos = PositionalEncoding(d_model)
        layer = nn.TransformerEncoderLayer(d_model, nhead, d_hid)
        self.encoder = nn.TransformerEncoder(layer, nlayers, enable_nested_tensor=False)
        self.decoder = nn.Linear(d_model, ntoken)

    def forward(self, src: Tensor) -> Tensor:
        mask = nn.Transformer.generate_square_subsequent_mask(len(src))
        x = self.pos(self.embed(src) * math.sqrt(self.d_model))
        return self.decoder(self.encoder(x, mask))


def main():
    torch.manual_seed(0)
    options = OrderedDict(ntoken=50, d_model=32, nhead=2, d_hid=64, nlayers=1)
    model = TransformerLM(**options)
    stream = torch.randint(0, 50, (13, 4))
    logits = model(stream[:-1])
    loss = nn.functional.cross_entropy(logits.view(-1, options["ntoken"]), stream[1:].view(-1))
    print(f"perplexity {math.exp(loss.item()):.1f}")


if __name__ == "__main__":
    main()
