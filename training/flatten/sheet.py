"""A sheet of paper in space, bent but hardly stretched, and how a camera sees it.

Lengths are in halves of the page's longer side, points of the page are u, v from its middle, and so
are those of the picture, x, y. All arrays of points may have any shape.
"""

import numpy as np

REACH = 2  # how far from the middle a cross-section is known


class Section:
    """The cross-section of a sheet that is bent but not stretched, by the angle at which it rises
    along its length."""

    def __init__(self, rise):
        self.s = np.linspace(-REACH, REACH, 4001)
        angle, step = rise(self.s), self.s[1] - self.s[0]
        self.x, self.z = (np.cumsum(f(angle)) * step for f in (np.cos, np.sin))
        self.x, self.z = self.x - self.x[2000], self.z - self.z[2000]

    def place(self, s):
        return np.interp(s, self.s, self.x), np.interp(s, self.s, self.z)


def folded(degrees, at):
    """Up and down in turn, with creases that are not sharp at the places given."""
    return lambda s: (
        np.deg2rad(degrees)
        * (1 - sum((-1) ** k * np.tanh((s - a) / 0.03) for k, a in enumerate(at)))
    )


def straight(s):
    return 0 * s


class Sheet:
    """across and down say how the page rises along its rows and its columns; both are turned by
    axis. crumple is a list of waves: how far along each axis, frequencies, phases. turn and tilt,
    in degrees, turn the sheet about the camera's axis, and away from it; distance is the camera's
    from the sheet, None for one that is far away."""

    def __init__(
        self, across=straight, down=straight, axis=0, crumple=(), turn=0, tilt=(0, 0), distance=None
    ):
        self.across, self.down, self.crumple, self.distance = (
            Section(across),
            Section(down),
            crumple,
            distance,
        )
        c, s = np.cos(np.deg2rad(axis)), np.sin(np.deg2rad(axis))
        self.axis = np.array([[c, s], [-s, c]])
        a, b, c = np.deg2rad([*tilt, turn])
        rx = np.array([[1, 0, 0], [0, np.cos(a), -np.sin(a)], [0, np.sin(a), np.cos(a)]])
        ry = np.array([[np.cos(b), 0, np.sin(b)], [0, 1, 0], [-np.sin(b), 0, np.cos(b)]])
        rz = np.array([[np.cos(c), -np.sin(c), 0], [np.sin(c), np.cos(c), 0], [0, 0, 1]])
        self.rotation = rz @ ry @ rx

    def space(self, u, v):
        """Where points of the page are before the camera: [3, ...]."""
        (p, q), back = np.tensordot(self.axis, np.stack([u, v]), 1), self.axis.T
        (x, z), (y, deep) = self.across.place(p), self.down.place(q)
        x, y = np.tensordot(back, np.stack([x, y]), 1)
        z = z + deep
        for k, f, at in self.crumple:
            wave = np.sin(f[0] * u + at[0]) * np.sin(f[1] * v + at[1])
            x, y, z = x + 0.3 * k[0] * wave, y + 0.6 * k[1] * wave, z + k[2] * wave
        return np.tensordot(self.rotation, np.stack([x, y, z]), 1)

    def seen(self, p):
        return p[:2] if self.distance is None else p[:2] * self.distance / (self.distance + p[2])

    def place(self, u, v):
        """Where in the picture points of the page lie: [2, ...]."""
        return self.seen(self.space(u, v))

    def back(self, x, y, near=1e-3, rounds=12):
        """The points of the page at places of the picture, by Newton's method: [2, ...]."""
        c, p = np.stack([x, y]), np.stack([x, y])
        for _ in range(rounds):
            f = self.place(p[0], p[1]) - c
            fx = (self.place(p[0] + near, p[1]) - self.place(p[0] - near, p[1])) / (2 * near)
            fy = (self.place(p[0], p[1] + near) - self.place(p[0], p[1] - near)) / (2 * near)
            d = fx[0] * fy[1] - fy[0] * fx[1]
            d = np.where(np.abs(d) < 1e-3, 1e-3, d)
            p[0] -= np.clip((fy[1] * f[0] - fy[0] * f[1]) / d, -0.1, 0.1)
            p[1] -= np.clip((fx[0] * f[1] - fx[1] * f[0]) / d, -0.1, 0.1)
        return p
