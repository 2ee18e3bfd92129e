"""Which rows of a table are kept, and how far the others lie from what the kept ones say.

A series is a set of lines: points of one shape along the free size. What is interpolated is the logarithm of the time over a least
time (work at the device's peaks, and a launch). Lines are chosen greedily, from the corners on: what is missed by most by a weighted
linear regression over the nearest chosen lines comes next. Of a chosen line its ends are kept, its kinks, and every few points
between: kinks alone would mislead what takes the nearest points for the usual. For each of them some rows from anywhere are kept,
where lines are many and the axes few. Errors are told as ordinary kriging makes them, with a
Matern 3/2 correlation, as framework/latency/interpolation/local_kriging.cpp does."""
import numpy as np

FAR = np.inf
NOISE = 0.004  # below this an added point follows the noise of the measurement
KINK = 0.3  # by which a point is missed from its line
STRIDE = 4  # of the points between
ENOUGH = 0.01  # mean error of a line that is not worth one
LEAST = 40  # points of a series: framework/latency/interpolation needs 24 of a family
NEIGHBOURS, NUGGET = 24, 0.01
REACHES = (1.0, 0.5, 2.0, 4.0)  # how far the axes beside the free one reach; the best one counts
CHECKED = 1200  # rows whose errors are told, of a series and width of heads


def scattered(numbers):
    """Numbers in 0..2^32 that look random and are the same everywhere (splitmix64)."""
    x = (np.asarray(numbers).astype(np.uint64) + np.uint64(1)) * np.uint64(0x9E3779B97F4A7C15)
    for shift, factor in ((30, 0xBF58476D1CE4E5B9), (27, 0x94D049BB133111EB)):
        x = (x ^ (x >> np.uint64(shift))) * np.uint64(factor)
    return (x >> np.uint64(32)).astype(np.int64)


def squared_distances(a, b):
    return np.maximum(0, (a ** 2).sum(axis=-1)[..., :, None] + (b ** 2).sum(axis=-1)[..., None, :] - 2 * a @ np.swapaxes(b, -1, -2))


def correlation(squares):
    r = np.sqrt(3 * squares)
    return (1 + r) * np.exp(-r)


def kriged(places, values, asked, apart=None):
    """Values at `asked`; `apart`: which of them must not see which known one."""
    squares = squared_distances(asked, places)
    if apart is not None:
        squares[apart] = 1e6
    count = min(NEIGHBOURS, len(places))
    near = np.argpartition(squares, count - 1, axis=1)[:, :count]
    to_place = correlation(np.take_along_axis(squares, near, axis=1))
    among = correlation(squared_distances(places[near], places[near]))
    among[:, range(count), range(count)] = 1 + NUGGET
    share, one = np.moveaxis(np.linalg.solve(among, np.stack([to_place, np.ones_like(to_place)], axis=2)), 2, 0)
    share = share + one * ((1 - share.sum(axis=1)) / one.sum(axis=1))[:, None]
    return (share * values[near]).sum(axis=1)


class Series:
    def __init__(self, name, kind, rows, index, peaks):
        """`index`: its rows in `rows`."""
        self.name, self.index, self.scattered = name, index, kind.scattered
        part = rows.where(index)
        flops, moved = kind.work(part)
        least = flops / peaks.flops(part) + moved / (peaks.link if kind.family == "comm" else peaks.memory)
        time = part["latency"] / 1e3
        self.value = np.log(time) - np.log(least + time.min())
        self.axes = np.stack([np.asarray(axis, dtype=float) for axis in kind.axes(part)], axis=1)
        self.shape_of = np.unique(np.stack([part[c] for c in kind.shape], axis=1), axis=0, return_inverse=True)[1].ravel()
        self.make_lines(kind, part)
        self.rank_points()
        self.rank_lines()

    def make_lines(self, kind, part):
        """`at`: positions of rows by line and free size, -1 where there is none."""
        has_free = len(np.unique(part[kind.free])) > 1 or "batch_size" not in kind.size
        free = kind.free if has_free else "batch_size"
        columns = [c for c in (*kind.size, *kind.text) if c != free]
        codes = np.stack([np.unique(part[c], return_inverse=True)[1] for c in columns], axis=1)
        _, first, line = np.unique(codes, axis=0, return_index=True, return_inverse=True)
        sizes, size = np.unique(part[free], return_inverse=True)
        self.at = np.full((len(first), len(sizes)), -1)
        self.at[line.ravel(), size] = np.arange(len(self.index))
        self.present = self.at >= 0
        self.share = np.where(self.present, self.value[self.at], np.nan)
        self.sizes = np.log2(sizes + 1.0)
        self.weight = kind.weight(part)[first]
        lowest = self.at[np.arange(len(first)), self.present.argmax(axis=1)]
        self.place = np.delete(self.axes, 0 if has_free else 1, axis=1)[lowest]

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

    def ends(self):
        out = np.zeros_like(self.present)
        lines = np.arange(len(out))
        out[lines, self.present.argmax(axis=1)] = True
        out[lines, out.shape[1] - 1 - self.present[:, ::-1].argmax(axis=1)] = True
        return out

    def rank_points(self):
        """`point`: how much each point of a line is missed by those that were chosen before it; far more than any for those that a
        line always has."""
        kept = self.ends()
        order = self.present.cumsum(axis=1) - 1
        offset = scattered(np.arange(len(order)))[:, None] % STRIDE
        self.point = np.where(kept | self.present & (order % STRIDE == offset), FAR, 0.0)
        least = np.full(len(kept), FAR)
        lines = np.arange(len(kept))
        while True:
            error = np.where(self.present & ~kept, np.abs(self.share - self.along(kept)), 0)
            worst = error.argmax(axis=1)
            least = np.minimum(least, error[lines, worst])
            grown = lines[least > NOISE]
            if not len(grown):
                return
            kept[grown, worst[grown]] = True
            self.point[grown, worst[grown]] = np.maximum(self.point[grown, worst[grown]], least[grown])

    def rank_lines(self):
        """`line`: how much each line is missed by those that were chosen before it, from the corners on."""
        whole = self.along(self.present)
        self.line = np.zeros(len(whole))
        kept = self.corners()
        self.line[kept] = least = FAR
        while not kept.all():
            others = np.flatnonzero(~kept)
            predicted, distance = self.across(others, kept, whole)
            error = np.nanmean(np.abs(predicted - self.share[others]), axis=1) * self.weight[others]
            if (worst := error.max()) < ENOUGH:
                return
            least = min(least, worst)
            chosen = []
            for i in error.argsort(kind="stable")[::-1][:max(4, int(kept.sum()) // 4)]:
                if error[i] < 0.6 * worst or len(chosen) >= max(1, kept.sum() // 12):
                    break
                gaps = [np.linalg.norm(self.place[others[i]] - self.place[j]) for j in chosen]
                if not gaps or min(gaps) > 0.5 * distance[i]:
                    chosen.append(others[i])
            kept[chosen] = True
            self.line[chosen] = least

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

    def across(self, others, kept, lines):
        """Lines of other shapes from the nearest kept ones, and how far the nearest of them is."""
        known = np.flatnonzero(kept)
        count = min(len(known), 3 * self.place.shape[1] + 3)
        squares = squared_distances(self.place[others], self.place[known])
        near = np.argpartition(squares, count - 1, axis=1)[:, :count]
        square = np.take_along_axis(squares, near, axis=1)
        near = known[near]
        weight = 1 / (square + 0.02) ** 1.5
        terms = np.concatenate([np.ones((*near.shape, 1)), self.place[near] - self.place[others][:, None]], axis=2)
        normal = np.einsum("skd,sk,ske->sde", terms, weight, terms)
        normal[:, range(1, normal.shape[1]), range(1, normal.shape[1])] += 0.001 * weight.sum(axis=1)[:, None]
        ones = np.zeros((len(others), normal.shape[1], 1))
        ones[:, 0] = 1
        share = np.einsum("skd,sd->sk", terms, np.linalg.solve(normal, ones)[:, :, 0]) * weight
        return np.einsum("sk,skf->sf", share, lines[near]), np.sqrt(square.min(axis=1))

    def kept(self, tolerance):
        """Positions of kept rows, where lines are missed by more than `tolerance`; of a small series those that matter most."""
        error = np.where(self.present, np.minimum(self.line[:, None], np.where(self.point > KINK, FAR, self.point)), 0)
        least = np.sort(error, axis=None)[-min(LEAST, error.size)]
        chosen = (error > tolerance) & (self.point > KINK) | (error >= max(least, NOISE))
        lines = self.at[chosen & self.present]
        order = np.argsort(scattered(np.arange(len(self.index))), kind="stable")
        return np.union1d(lines, order[:int(self.scattered * len(lines))])

    def residuals(self, kept):
        """Relative errors of rows that are not kept: as they are, and without the rows of their shape."""
        others = np.setdiff1d(np.arange(len(self.index)), kept)
        asked = others[np.argsort(scattered(others), kind="stable")[:CHECKED]]
        out = []
        for leaves_shape_out in (False, True):
            apart = self.shape_of[asked][:, None] == self.shape_of[kept] if leaves_shape_out else None
            tried = [np.array([])]
            if len(asked) and not (leaves_shape_out and apart.all()):
                tried = []
                for reach in REACHES:
                    places = np.concatenate([self.axes[:, :1], self.axes[:, 1:] / reach], axis=1)
                    tried.append(kriged(places[kept], self.value[kept], places[asked], apart) - self.value[asked])
            out.append(np.expm1(min(tried, key=lambda errors: np.abs(errors).sum())))
        return out
