"""Laws that were compared, on the data: each with its band, and what it leaves of what it had not seen."""

from __future__ import annotations

from typing import Any

import numpy as np

from ..errors import CaromError, name_in
from ..quantities import Given
from ..study.fitting import Comparison, Observations
from . import style

QUANTILE = 1.96  # bands hold 95 %


def laws_compared(
    comparison: Comparison,
    data: Observations,
    along: Given,
    *,
    labels: tuple[str, str] = ("input", "measured"),
    channel: str = "",
    ratio: bool = False,
) -> Any:
    """Data, and the laws on top of each other, along a number that every row has (such as the speed before a blow).

    - `labels`: of both axes, with units; `channel`: which one, where there are several
    - `ratio`: what is shown is measured / along, such as a restitution; the residuals below are as they were judged

        carom.figures.laws_compared(found, data, speed, labels=("speed before [m/s]", "restitution"), ratio=True)
    """
    name_in("channel", channel, tuple(data.channels))
    x, measured, noise = np.asarray(along, dtype=float), data.channels[channel], data.weighed(channel)
    if x.shape != (data.rows,) or measured.ndim != 1:
        raise CaromError(
            f"laws_compared draws one number of each row along another; along has shape {x.shape}, and "
            f"'{channel}' {measured.shape}, for {data.rows} rows"
        )
    scale, order = (x if ratio else np.ones_like(x)), np.argsort(x, kind="stable")
    with style.page() as figure:
        upper, lower = style.panels(figure, 2)
        upper.plot(x, measured / scale, "o", color="0.6", markersize=2.4, label="data")
        for k, (name, law) in enumerate(comparison.laws.items()):
            if law.trouble:
                continue
            look = style.line(k)
            if law.fit is not None:
                value, band = (_channel(each, channel) for each in (_fitted(data, law.fit), law.fit.band))
                upper.plot(x[order], (value / scale)[order], label=f"{name}: {law.error:.4g}", **look)
                low, high = ((value + s * QUANTILE * band) / scale for s in (-1.0, 1.0))
                upper.fill_between(x[order], low[order], high[order], color=look["color"], alpha=0.2, linewidth=0.0)
            left = (measured - _channel(law.predicted, channel)) / noise
            lower.plot(x, left, ".", color=look["color"], markersize=3.0 if k else 4.0)
        lower.axhline(0.0, color="0.5", linewidth=0.6)
        upper.set_ylabel(labels[1])
        lower.set_ylabel("held out, residual" + (" / noise" if data.noise is not None else ""))
        lower.set_xlabel(labels[0])
        style.legend(upper)
        made: Any = figure
    return made


def _channel(values: Any, channel: str) -> np.ndarray:
    return np.asarray(values[channel] if channel else values, dtype=float)


def _fitted(data: Observations, fit: Any) -> Any:
    """What a fit predicts: measured less residuals."""
    return data.like({n: x - _channel(fit.residuals, n) for n, x in data.channels.items()})
