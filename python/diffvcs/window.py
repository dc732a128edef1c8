"""A window that shows a machine, through pygame (SDL): the picture at the television's rate, and its sound."""

from __future__ import annotations

import numpy as np

from .machine import Machine

SCALE_X, SCALE_Y = 4, 2  # pixels of the TIA are twice as wide as high
RATES = {"NTSC": 60, "PAL60": 60}
SAMPLES = 31440  # a second


class Window:
    def __init__(self, title: str, machine: Machine, sound: bool) -> None:
        try:
            import pygame
        except ImportError as problem:
            raise ImportError("a window needs pygame: pip install pygame-ce") from problem
        self._pygame, self.machine = pygame, machine
        pygame.display.init()
        height, width = machine.shape
        self._screen = pygame.display.set_mode((width * SCALE_X, height * SCALE_Y))
        pygame.display.set_caption(f"diffvcs: {title}")
        self._clock, self._channel = pygame.time.Clock(), None
        self._rate = RATES.get(machine.cart.format, 50)
        if sound:
            try:
                pygame.mixer.init(SAMPLES, size=8, channels=1, buffer=1024)
                self._channel = pygame.mixer.Channel(0)
            except pygame.error:  # no sound card: the picture is enough
                self._channel = None

    def show(self) -> None:
        """Shows the last frame for as long as a frame lasts."""
        pygame = self._pygame
        pygame.event.pump()
        picture = np.repeat(np.repeat(self.machine.rgb(), SCALE_Y, axis=0), SCALE_X, axis=1)
        pygame.surfarray.blit_array(self._screen, picture.swapaxes(0, 1))
        pygame.display.flip()
        if self._channel is not None:
            self._channel.queue(pygame.mixer.Sound(buffer=self.machine.sound.tobytes()))
        self._clock.tick(self._rate)

    def close(self) -> None:
        self._pygame.display.quit()
