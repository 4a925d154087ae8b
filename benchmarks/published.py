"""Times, speed-ups and correlations that simonepri/sudoku-solver publishes for boards 1a to 2f.

Source: https://github.com/simonepri/sudoku-solver, data/benchmark. The program is written in Java
and ran with a cutoff of 1e28 on virtual machines of 2 to 64 cores of an Intel Xeon at 2.3 GHz.
Times are means of three runs; the matrix of correlations is for 64 cores. Numbers are rounded.
"""

from __future__ import annotations

PUBLISHED_NOTE = (
    "Published: simonepri/sudoku-solver, data/benchmark: "
    "Java, virtual machines of 2 to 64 cores of a Xeon at 2.3 GHz"
)
"""The note under tables with these figures."""
CORES = (2, 4, 8, 12, 16, 24, 32, 40, 48, 56, 64)
"""Numbers of cores of the machines."""

SPEED_UPS = {
    "1a": (0.73, 0.96, 1.05, 0.98, 0.68, 1.01, 1.03, 0.91, 0.87, 0.87, 1.06),
    "1b": (0.97, 1.48, 1.86, 2.02, 2.01, 2.14, 1.73, 2.28, 2.30, 1.32, 1.35),
    "1c": (0.96, 2.07, 3.76, 4.86, 6.69, 9.20, 9.21, 10.35, 10.41, 9.06, 10.60),
    "1d": (1.05, 2.29, 4.50, 5.77, 8.15, 11.26, 12.33, 16.15, 14.86, 14.20, 14.11),
    "1e": (1.04, 2.22, 4.89, 6.32, 8.58, 13.47, 15.83, 19.93, 21.83, 25.32, 21.36),
    "1f": (1.05, 2.28, 4.93, 7.30, 9.38, 13.69, 21.05, 22.06, 24.89, 30.03, 26.72),
    "2a": (0.71, 0.77, 0.68, 0.69, 1.00, 0.71, 0.75, 0.73, 0.71, 0.77, 0.63),
    "2b": (1.13, 0.95, 0.98, 1.02, 1.03, 1.12, 0.67, 1.24, 1.15, 1.17, 1.08),
    "2c": (1.00, 1.76, 2.94, 3.79, 4.74, 5.35, 5.46, 6.13, 6.69, 6.71, 5.69),
    "2d": (1.14, 2.24, 4.07, 6.40, 7.89, 10.31, 12.85, 16.33, 16.18, 16.15, 15.59),
    "2e": (1.12, 2.23, 5.05, 6.70, 9.79, 12.90, 18.81, 22.96, 22.69, 30.86, 29.40),
    "2f": (1.04, 2.39, 5.01, 7.04, 9.05, 13.90, 19.03, 24.03, 27.81, 31.00, 31.41),
}
"""By board, the sequential time over the parallel time for each number of CORES."""

SECONDS = {
    "1a": (0.00617, 0.00582),
    "1b": (0.171, 0.127),
    "1c": (2.01, 0.189),
    "1d": (5.76, 0.409),
    "1e": (25.6, 1.20),
    "1f": (131, 4.90),
    "2a": (0.00634, 0.0101),
    "2b": (0.0402, 0.0371),
    "2c": (0.754, 0.133),
    "2d": (7.83, 0.502),
    "2e": (66.3, 2.26),
    "2f": (436, 13.9),
}
"""By board, the sequential and the parallel time on the machine with 64 cores."""

CORRELATED = ("search space", "empty cells", "solutions", "time, 1 core", "time", "speed-up")
CORRELATIONS = (
    (1.00, 0.98, 0.54, 0.53, 0.56, 0.84),
    (0.98, 1.00, 0.54, 0.53, 0.55, 0.80),
    (0.54, 0.54, 1.00, 1.00, 1.00, 0.68),
    (0.53, 0.53, 1.00, 1.00, 1.00, 0.67),
    (0.56, 0.55, 1.00, 1.00, 1.00, 0.70),
    (0.84, 0.80, 0.68, 0.67, 0.70, 1.00),
)
"""Coefficients of each pair of CORRELATED, on 64 cores; the search space is its logarithm."""
