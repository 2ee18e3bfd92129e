"""Which rows of a table are kept, and how far the others lie from what the kept ones say.

A series is a set of lines: points of one shape along the free size. What is interpolated is the logarithm of the time over a least
time (work at the device's peaks and one launch), which is what framework/latency/interpolation kriges. Along a line it is piecewise
linear in the logarithm of the size; a shape of which no row is kept is a weighted linear regression over the nearest kept shapes.
Both choices are greedy: what is farthest from its interpolation comes next."""
import numpy as np

FAR = np.inf
NOISE = 0.004  # below this an added point follows the noise of the measurement
LONELY = 0.6  # of what counts of a point whose neighbours are not missed as it is: it tells of itself alone
ENOUGH = 0.01  # mean error of a shape that is not worth a line


class Series:
    def __init__(self, name, kind, rows, index, peaks):
        """`index`: its rows in `rows`."""
        self.name, self.index = name, index
        part = rows.where(index)
        free = kind.free if len(np.unique(part[kind.free])) > 1 or "batch_size" not in kind.size else "batch_size"
        shape_columns = [c for c in (*kind.size, *kind.text) if c != free]
        codes = np.stack([np.unique(part[c], return_inverse=True)[1] for c in shape_columns], axis=1)
        _, first, shape = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        sizes, size = np.unique(part[free], return_inverse=True)
        self.at = np.full((len(first), len(sizes)), -1)
        self.at[shape.ravel(), size] = np.arange(len(index))
        self.present = self.at >= 0
        flops, moved = kind.work(part)
        least = flops / peaks.flops(part) + moved / (peaks.link if kind.family == "comm" else peaks.memory)
        time = part["latency"] / 1e3
        share = np.log(time) - np.log(least + time.min())
        self.share = np.where(self.present, share[self.at], np.nan)
        self.sizes = np.log2(sizes + 1.0)
        lowest = self.at[np.arange(len(first)), self.present.argmax(axis=1)]
        self.place = np.stack([np.asarray(axis, dtype=float) for axis in kind.axes(part)], axis=1)[lowest]
        self.weight = kind.weight(part)[lowest]
        self.rank_points()
        self.rank_shapes()

    def along(self, kept):
        """Every point of every line from the kept points of that line; beyond them the nearest."""
        columns = np.arange(kept.shape[1])
        left = np.maximum.accumulate(np.where(kept, columns, -1), axis=1)
        right = np.minimum.accumulate(np.where(kept, columns, len(columns))[:, ::-1], axis=1)[:, ::-1]
        left, right = np.where(left < 0, right, left), np.where(right == len(columns), left, right)
        left, right = (np.clip(side, 0, len(columns) - 1) for side in (left, right))
        span = self.sizes[right] - self.sizes[left]
        weight = np.where(span > 0, (self.sizes[columns] - self.sizes[left]) / np.where(span > 0, span, 1), 0)
        low, high = (np.take_along_axis(self.share, side, axis=1) for side in (left, right))
        return low * (1 - weight) + high * weight

    def rank_points(self):
        """`point`: how much each point of a line is missed by those that were chosen before it."""
        lines = np.arange(len(self.present))
        kept = np.zeros_like(self.present)
        kept[lines, self.present.argmax(axis=1)] = True
        kept[lines, self.present.shape[1] - 1 - self.present[:, ::-1].argmax(axis=1)] = True
        self.point = np.where(kept, FAR, 0.0)
        least = np.full(len(lines), FAR)
        while True:
            missed = np.where(self.present & ~kept, self.share - self.along(kept), 0) * self.weight[:, None]
            error, sign = np.abs(missed), np.sign(missed)
            beside = np.maximum(sign[:, 1:-1] * missed[:, :-2], sign[:, 1:-1] * missed[:, 2:])
            error[:, 1:-1] *= np.where(beside > error[:, 1:-1] / 2, 1, LONELY)
            worst = error.argmax(axis=1)
            least = np.minimum(least, error[lines, worst])
            grown = lines[least > NOISE * self.weight]
            if not len(grown):
                return
            kept[grown, worst[grown]] = True
            self.point[grown, worst[grown]] = least[grown]

    def rank_shapes(self):
        """`shape`: the same of whole lines, from the corners on."""
        whole = self.along(self.present)
        self.shape = np.zeros(len(whole))
        kept = self.corners()
        self.shape[kept] = least = FAR
        while not kept.all():
            others = np.flatnonzero(~kept)
            error, distance = self.errors_of(others, kept, whole)
            if (worst := error.max()) < ENOUGH:
                return
            least = min(least, worst)
            chosen = []
            for i in error.argsort()[::-1][:max(4, int(kept.sum()) // 4)]:
                if error[i] < 0.6 * worst or len(chosen) >= max(1, kept.sum() // 12):
                    break
                gaps = [np.linalg.norm(self.place[others[i]] - self.place[j]) for j in chosen]
                if not gaps or min(gaps) > 0.5 * distance[i]:
                    chosen.append(others[i])
            kept[chosen] = True
            self.shape[chosen] = least

    def corners(self):
        low, high = self.place.min(axis=0), self.place.max(axis=0)
        kept = np.zeros(len(self.place), dtype=bool)
        axes = np.flatnonzero(high > low)[:5]
        for corner in range(2 ** len(axes)):
            target = low.copy()
            for bit, axis in enumerate(axes):
                if corner >> bit & 1:
                    target[axis] = high[axis]
            kept[np.linalg.norm(self.place - target, axis=1).argmin()] = True
        return kept

    def errors_of(self, others, kept, lines):
        predicted, distance = self.across(others, kept, lines)
        gap = np.where(self.present[others], np.abs(predicted - self.share[others]), np.nan)
        return np.nanmean(gap, axis=1) * self.weight[others], distance

    def across(self, others, kept, lines):
        """Lines of shapes from the nearest kept ones, and how far the nearest of them is."""
        known = np.flatnonzero(kept)
        count = min(len(known), 3 * self.place.shape[1] + 3)
        norms = (self.place ** 2).sum(axis=1)
        squares = np.maximum(0, norms[others][:, None] + norms[known] - 2 * self.place[others] @ self.place[known].T)
        near = np.argpartition(squares, count - 1, axis=1)[:, :count]
        square = np.take_along_axis(squares, near, axis=1)
        near = known[near]
        weight = 1 / (square + 0.02) ** 1.5
        step = self.place[near] - self.place[others][:, None]
        terms = np.concatenate([np.ones((*near.shape, 1)), step], axis=2)
        normal = np.einsum("skd,sk,ske->sde", terms, weight, terms)
        normal[:, range(1, normal.shape[1]), range(1, normal.shape[1])] += 0.001 * weight.sum(axis=1)[:, None]
        ones = np.zeros((len(others), normal.shape[1], 1))
        ones[:, 0] = 1
        share = np.einsum("skd,sd->sk", terms, np.linalg.solve(normal, ones)[:, :, 0]) * weight
        return np.einsum("sk,skf->sf", share, lines[near]), np.sqrt(square.min(axis=1))

    def chosen(self, tolerance):
        """Places of kept points, for errors above `tolerance`."""
        return self.present & (self.shape[:, None] > tolerance) & (self.point > tolerance)

    def residuals(self, kept):
        """Relative errors of the rows that are not kept: of shapes with kept rows, and of the others."""
        lines = self.along(kept)
        has = kept.any(axis=1)
        on_line = np.expm1((lines - self.share)[self.present & ~kept & has[:, None]])
        others = np.flatnonzero(~has)
        if not len(others):
            return on_line, np.array([])
        gap = (self.across(others, has, lines)[0] - self.share[others])[self.present[others]]
        return on_line, np.expm1(gap)
