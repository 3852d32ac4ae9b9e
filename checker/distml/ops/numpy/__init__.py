"""NumPy: functions, array methods, linear algebra, random generators, FFT."""
