"""Attribution: which bits explain a number that a run ends with, by the usual methods, on exact forward runs.

    problem = Problem("pong", state, ["NOOP"] * 8, ram_places(cart), Pixels(80, 100, 8, 8))
    problem.integrated_gradients()       # a number for each place
    problem.truth()                      # the exact effect of flipping each place
    problem.scores(problem.saliency())   # how well an attribution agrees with the truth

Features are places (bits of RAM, of any field, of the image, inputs of a frame). The forward is a run with the features
replaced; the gradient is ours, by any of its methods: exact unless
another is named. Methods are Captum's where it has them. The forward is defined for bits:
a feature between 0 and 1, as integrated gradients and SmoothGrad make them, is rounded (diffvcs.smooth has expectations).
"""

from __future__ import annotations

from typing import Any
from collections.abc import Sequence

import numpy as np

try:
    import captum.attr
    import torch
except ImportError as problem:
    raise ImportError("attribution needs Captum: pip install captum scikit-learn") from problem

from . import functional
from . import torch as vt
from ._c import RAM_BYTES, WIDTH, lib
from .bits import rom_bits
from .cartridge import Cartridge
from .functional import WEIGHTS, Pixels, Ram

METHODS = (
    "saliency", "grad_x_input", "integrated_gradients", "smoothgrad", "occlusion", "lime", "kernel_shap", "rise",
)  # fmt: skip
STATE, ROM, INPUT = range(3)


class Problem:
    """A run, the places that may explain it, and the number to explain.

    Args:
        cart, state, actions: the run, as for diffvcs.run.
        features: places, as ram_places, rom_places, state_places and input_places list them.
        output: Pixels, Ram, or weights of the last picture's pixels (height x 160).
        options: those of diffvcs.vjp: method ("exact" unless given), fork_window, side, values, ...
    """

    def __init__(
        self,
        cart: Cartridge | str,
        state: np.ndarray,
        actions: Sequence[int | str],
        features: np.ndarray,
        output: Pixels | Ram | np.ndarray,
        **options: Any,
    ) -> None:
        self.cart = cart = Cartridge.find(cart)
        self.state, self.actions, self.features, self.output = state, list(actions), features, output
        self.played = functional.run(cart, state, actions)
        self._refuse_turned_paddles()
        self._bases = [
            torch.from_numpy(np.unpackbits(self.played.start, bitorder="little").astype(np.float32)),
            torch.from_numpy(rom_bits(cart)),
            torch.from_numpy(self.played.inputs),
        ]
        self._weights, self._ram_weights, values = self._measure(output)
        self._options = {"method": "exact", "values": values, **options}
        index, kind = features["index"].astype(np.int64), features["kind"]
        slots = np.where(kind == INPUT, 12 * features["frame"].astype(np.int64) + index, 8 * index + features["bit"])
        self._slots = [torch.from_numpy(slots[kind == k]) for k in range(3)]
        self._columns = [torch.from_numpy(np.flatnonzero(kind == k)) for k in range(3)]
        self.bits = torch.zeros(len(features))
        for base, columns, places in zip(self._bases, self._columns, self._slots):
            self.bits[columns] = base.reshape(-1)[places]

    def _refuse_turned_paddles(self) -> None:
        """The forward is diffvcs.torch.run, in which paddles stay where they are."""
        kept = np.zeros(4, np.int32)
        lib.vcs_bits_paddles(self.cart.handle, self.played.start, kept)
        if (self.played.controls["paddle"] != kept).any():
            raise ValueError(
                "paddles turn in this run, and attribution keeps them where they are: leave LEFT and RIGHT out"
            )

    def _measure(self, output: Any) -> tuple[torch.Tensor | None, torch.Tensor | None, str]:
        shape = (self.cart.height, WIDTH)
        if isinstance(output, Pixels):
            right, bottom = output.x + output.width, output.y + output.height
            if (
                min(output.x, output.y) < 0
                or min(output.width, output.height) < 1
                or right > WIDTH
                or bottom > shape[0]
            ):
                raise ValueError(f"{output} lies outside the picture of {shape[1]} x {shape[0]} pixels")
            weights = torch.zeros(shape)
            weights[output.y : bottom, output.x : right] = 1
            return weights, None, output.values
        if isinstance(output, Ram):
            if not 0 <= output.index < RAM_BYTES or not (output.bit is None or 0 <= output.bit < 8):
                raise ValueError(f"{output} is none of the {RAM_BYTES} bytes of RAM, with bits 0 to 7")
            weights = torch.zeros(RAM_BYTES, 8)
            weights[output.index] = torch.from_numpy(WEIGHTS) if output.bit is None else torch.eye(8)[output.bit]
            return None, weights, "index"
        weights = torch.as_tensor(np.asarray(output, np.float32))
        if weights.shape != shape:
            raise ValueError(f"weights of pixels are {shape}, not {tuple(weights.shape)}")
        return weights, None, "index"

    def forward(self, features: torch.Tensor) -> torch.Tensor:
        """Returns the number to explain, for rows of features; differentiable by PyTorch."""
        arguments = []
        for base, columns, places in zip(self._bases, self._columns, self._slots):
            whole = base.reshape(1, -1).repeat(len(features), 1) if len(columns) else base.reshape(1, -1)
            if len(columns):
                whole = whole.index_copy(1, places, features[:, columns].to(torch.float32))
            arguments.append(whole.reshape(-1, *base.shape))
        state, rom, inputs = arguments
        pixels, after = vt.run(self.cart, state, inputs, rom, **self._options)
        value = torch.zeros(1)
        if self._weights is not None:
            value = value + (pixels[:, -1] * self._weights).sum((-1, -2))
        if self._ram_weights is not None:
            value = value + (vt.ram(self.cart, after) * self._ram_weights).sum((-1, -2))
        return value.expand(len(features)) if len(value) != len(features) else value

    def _x(self) -> torch.Tensor:
        return self.bits.clone()[None].requires_grad_()

    @property
    def flipped(self) -> torch.Tensor:
        """Every feature flipped: the default baseline of the methods that need one."""
        return 1 - self.bits[None]

    # ---- methods ---------------------------------------------------------------------------------------------------

    def attribute(self, method: str, **settings: Any) -> np.ndarray:
        """Returns the attribution of a method by name (METHODS)."""
        if method not in METHODS:
            raise ValueError(f"no method {method!r}; there are {', '.join(METHODS)}")
        return getattr(self, method)(**settings)

    def gradient(self) -> np.ndarray:
        """Returns the derivative itself, signed."""
        return captum.attr.Saliency(self.forward).attribute(self._x(), abs=False)[0].detach().numpy()

    def saliency(self) -> np.ndarray:
        """Returns the absolute value of the derivative (Simonyan et al. 2013)."""
        return np.abs(self.gradient())

    def grad_x_input(self) -> np.ndarray:
        """Returns the derivative times the feature."""
        return captum.attr.InputXGradient(self.forward).attribute(self._x())[0].detach().numpy()

    def integrated_gradients(self, steps: int = 32, baseline: torch.Tensor | None = None) -> np.ndarray:
        """Returns integrated gradients (Sundararajan et al. 2017), from the flipped features."""
        method = captum.attr.IntegratedGradients(self.forward)
        baseline = self.flipped if baseline is None else baseline
        return method.attribute(self._x(), baseline, n_steps=steps, internal_batch_size=steps)[0].detach().numpy()

    def smoothgrad(self, samples: int = 32, noise: float = 0.3, seed: int = 0) -> np.ndarray:
        """Returns SmoothGrad (Smilkov et al. 2017): the mean derivative over noisy features."""
        method = captum.attr.NoiseTunnel(captum.attr.Saliency(self.forward))
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            found = method.attribute(self._x(), nt_type="smoothgrad", nt_samples=samples, stdevs=noise, abs=False)
        return found[0].detach().numpy()

    def occlusion(self, baseline: torch.Tensor | None = None) -> np.ndarray:
        """Replaces each feature in turn, by its flipped value unless a baseline is given; then it is the size of the true effect."""
        method = captum.attr.FeatureAblation(self.forward)
        baseline = self.flipped if baseline is None else baseline
        return method.attribute(self.bits[None], baseline, perturbations_per_eval=64)[0].detach().numpy()

    def lime(self, samples: int = 256, alpha: float = 0.01, seed: int = 0) -> np.ndarray:
        """Returns LIME (Ribeiro et al. 2016): the weights of a linear model of runs with random features."""
        from captum._utils.models.linear_model import SkLearnLasso

        method = captum.attr.Lime(self.forward, interpretable_model=SkLearnLasso(alpha=alpha))
        return self._surrogate(method, samples, seed)

    def kernel_shap(self, samples: int = 256, seed: int = 0) -> np.ndarray:
        """Returns Kernel SHAP (Lundberg and Lee 2017), an estimate of the Shapley values."""
        return self._surrogate(captum.attr.KernelShap(self.forward), samples, seed)

    def _surrogate(self, method: Any, samples: int, seed: int) -> np.ndarray:
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            found = method.attribute(
                self.bits[None],
                baselines=self.flipped,
                n_samples=samples,
                perturbations_per_eval=64,
                show_progress=False,
            )
        return found[0].detach().numpy()

    def rise(self, samples: int = 256, keep: float = 0.5, seed: int = 0) -> np.ndarray:
        """Returns RISE (Petsiuk et al. 2018), which Captum does not have: random masks, weighted by their outputs."""
        masks = torch.from_numpy(
            (np.random.default_rng(seed).random((samples, len(self.bits))) < keep).astype(np.float32)
        )
        rows = masks * self.bits + (1 - masks) * self.flipped
        with torch.no_grad():
            values = torch.cat([self.forward(part) for part in rows.split(64)])
        centred = values - values.mean()
        kept = (centred[:, None] * masks).sum(0) / masks.sum(0).clamp(min=1)
        return kept.numpy()

    # ---- the truth -------------------------------------------------------------------------------------------------

    def truth(self) -> np.ndarray:
        """Returns the exact effect of each feature: F with the bit set minus F with the bit clear."""
        exact = functional.truth(
            self.cart, self.state, self.actions, self.features, values=self._options["values"], played=self.played
        )
        assert exact.dframes is not None and exact.dram is not None
        effect = np.zeros(len(self.features))
        if self._weights is not None:
            effect += np.einsum("fhw,hw->f", exact.dframes[:, 0], self._weights.numpy())
        if self._ram_weights is not None:
            effect += np.einsum("fcb,cb->f", exact.dram[:, 0], self._ram_weights.numpy())
        return effect

    def scores(self, attribution: np.ndarray, truth: np.ndarray | None = None) -> dict[str, float]:
        """Compares an attribution with the sizes of the true effects: Pearson's correlation, the cosine, and the precision and recall
        of its nonzero values.
        """
        size = np.abs(self.truth() if truth is None else truth)
        found = np.abs(np.asarray(attribution, float))
        hit = np.count_nonzero((found > 0) & (size > 0))
        norm = np.linalg.norm(found) * np.linalg.norm(size)
        varied = np.ptp(found) > 0 and np.ptp(size) > 0
        return {
            "pearson": float(np.corrcoef(found, size)[0, 1]) if varied else float("nan"),
            "cosine": float(found @ size / norm) if norm else float("nan"),
            "precision": hit / max(int(np.count_nonzero(found)), 1),
            "recall": hit / max(int(np.count_nonzero(size)), 1),
        }
