"""Mel features of a spectrogram."""
import tensorflow as tf

FRAME, HOP, MELS = 400, 160, 40

audio = tf.random.normal((4, 16000))
spectra = tf.abs(tf.signal.stft(audio, frame_length=FRAME, frame_step=HOP, fft_length=FRAME))
filters = tf.random.normal((FRAME // 2 + 1, MELS))
mels = tf.matmul(spectra, filters)
print(mels.shape)
