"""Plots of derivatives and attributions can be drawn."""

import numpy as np
import needs

import diffvcs


def test_plots_draw(machine):
    matplotlib = needs.module("matplotlib")
    matplotlib.use("Agg")
    from diffvcs import plot

    cart, played = machine.cart, diffvcs.run(machine.cart, machine.save(), [0, 3])
    derivative = diffvcs.vjp(cart, machine.save(), [0, 3], dframes=np.ones((cart.height, 160)))
    axes = [
        plot.frame(cart, played.frames[-1], np.eye(cart.height, 160)), plot.ram(derivative.dram), plot.rom(derivative.drom),
        plot.inputs(derivative.dinput), plot.ram(np.zeros(128)),
    ]  # fmt: skip
    for ax in axes:
        ax.figure.canvas.draw()
        matplotlib.pyplot.close(ax.figure)
