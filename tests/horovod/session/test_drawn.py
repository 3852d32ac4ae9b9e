"""A call draws a batch where the next call gives another one. What packs, checks or cuts a batch in its way draws none."""

from __future__ import annotations

import re

import pytest
from horovod.tape.test_ranks import rewritten

HEAD = """\
import random

import numpy as np
import tensorflow.compat.v1 as tf
from tqdm import tqdm

tf.disable_v2_behavior()
random.seed(1)
samples = np.ones([64, 4])


def endless(size):
    while True:
        yield samples[random.sample(range(64), size)]


class Network:
    def __init__(self):
        self.x = tf.placeholder(tf.float32, [None, 4])
        self.cost = tf.reduce_mean(tf.square(tf.layers.dense(self.x, 1)))
        self.train = tf.train.GradientDescentOptimizer(0.1).minimize(self.cost)
        self.size = 8

{packs}

    def step(self, sess, batch):
        fed = self.pack(batch)
        return sess.run([self.train, self.cost], fed)[1]


steps = 100
network = Network()
flow = endless(8)
with tf.Session() as sess:
    sess.run(tf.global_variables_initializer())
    bar = tqdm(range(steps), total=steps)
    for _ in bar:
        network.step(sess, next(flow))
    bar = endless(1)
    for each in bar:
        break
"""
PACKS = {
    "a dictionary by a tensor's name": ["feed = {}", "feed[self.x.name] = batch", "return feed"],
    "a dictionary by a tensor": ["feed = {}", "feed[self.x] = batch", "return feed"],
    "a literal": ["return {self.x: batch}"],
    "a check": ["assert batch.shape[1] == self.x.shape[1]", "return {self.x: batch}"],
    "a part": ["whole = np.zeros([8, 4])", "whole[: self.size] = batch[: self.size]", "return {self.x: whole}"],
    "an item of a pair": ["pair = [0, 0]", "pair[self.size - 8], pair[1] = self.x, batch", "return {pair[0]: pair[1]}"],
}
POSITION = ["self.at = getattr(self, 'at', 0) + 8", "return {self.x: samples[self.at : self.at + 8]}"]


def packing(lines: list[str]) -> str:
    return rewritten(HEAD.format(packs="\n        ".join(["    def pack(self, batch):", *lines])))


@pytest.mark.parametrize("way", PACKS)
def test_what_packs_a_batch_draws_none(way: str) -> None:
    source = packing(PACKS[way])
    drawn = re.findall(r"\[(.*) for _ in range\(hvd\.size\(\)\)\]", source)
    assert drawn == ["next(flow)"], source
    assert "steps = 100 // hvd.size()" in source or "range(steps // hvd.size())" in source


def test_what_keeps_a_position_draws() -> None:
    assert "[self.pack(batch) for _ in range(hvd.size())][hvd.rank()]" in packing(POSITION)
