"""NumPy: gaps in the series of weather stations, as masked arrays."""
import numpy as np

rng = np.random.default_rng(0)
STATIONS, MONTHS = 5, 36
raw = rng.normal(10, 3, size=(MONTHS, STATIONS))
raw[rng.random(raw.shape) < 0.1] = np.nan
series = np.ma.masked_invalid(raw)
month = np.arange(MONTHS) % 12
climate = np.ma.stack([series[month == m].mean(axis=0) for m in range(12)])
anomalies = series - climate[month]
spread = np.ma.sqrt((anomalies**2).mean(axis=0))
print(spread.filled(0).shape, anomalies.count(axis=0).shape)
