"""A rate that a callback sets is scaled as any other, unless it is computed of the rate there was; one that is set by a count of
batches is named. Under several stars, a name is what one of the modules is known to have.
"""

from __future__ import annotations

from itertools import product

import pytest
from horovod.torch.programs import outcome

IMPORTS = {
    "by name": "from keras import backend as K\nfrom keras.callbacks import Callback, ModelCheckpoint\n"
    "from keras.layers import Dense\nfrom keras.models import Sequential\nfrom keras.optimizers import Adam\n",
    "by stars": "from keras.models import *\nfrom keras.layers import *\nfrom keras.optimizers import *\n"
    "from keras.callbacks import *\n",
}
PROGRAM = """\
import numpy as np
{imports}

class Own(Callback):
    def __init__(self, first=0.5):
        self.first, self.count, self.base = first, 0, None

    def on_train_begin(self, logs=None):
        self.base = K.get_value(self.model.optimizer.lr)

    def {method}(self, number, logs=None):
        self.count += 1
        rate = {rate}
        {set}


x, y = np.ones((64, 4)), np.ones((64, 1))
model = Sequential([Dense(1, input_shape=(4,))])
model.compile(Adam(0.001), "mse")
model.fit(x, y, callbacks=[Own(), ModelCheckpoint("w.h5")])
"""
SET = {
    "K.set_value(self.model.optimizer.lr, {})": "rate",
    "self.model.optimizer.lr = {}": "rate",
    "self.model.optimizer.learning_rate.assign({})": "rate",
}
RATES = {
    "a number": ("self.first * 0.5", True, False),
    "by the number": ("self.first * 0.9**number", True, True),
    "by a count": ("self.first * min(1.0, self.count / 100)", True, True),
    "by the steps": ("self.first * 0.9 ** K.get_value(self.model.optimizer.iterations)", True, True),
    "of the rate": ("K.get_value(self.model.optimizer.lr) * 0.5", False, False),
}


@pytest.mark.parametrize(("imports", "kind", "given"), list(product(IMPORTS, RATES, SET)))
@pytest.mark.parametrize("method", ["on_epoch_begin", "on_batch_begin", "on_train_batch_end"])
def test_what_a_callback_sets_is_scaled(method: str, imports: str, kind: str, given: str) -> None:
    rate, scaled, counted = RATES[kind]
    text = PROGRAM.format(imports=IMPORTS[imports], method=method, rate=rate, set=given.format("rate"))
    found = outcome(text)
    (file,) = found.files.values()
    assert (given.format("rate * hvd.size()") in file.source) is scaled
    assert [each.code for each in found.plan.warnings] == ["HVD311"] * (counted and "batch" in method)
