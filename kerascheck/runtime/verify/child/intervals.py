"""Sets of times as sorted lists of (start, end) that do not overlap, in nanoseconds."""


def union(spans):
    """The times that some of the spans cover."""
    found: list = []
    for start, end in sorted(spans):
        if found and start <= found[-1][1]:
            found[-1] = (found[-1][0], max(end, found[-1][1]))
        else:
            found.append((start, end))
    return found


def covered(times, by):
    """The part of ``times`` that lies in ``by``; both are unions."""
    found, position = [], 0
    for start, end in times:
        while position and by[position - 1][1] > start:
            position -= 1
        while position < len(by) and by[position][1] <= start:
            position += 1
        at = position
        while at < len(by) and by[at][0] < end:
            found.append((max(start, by[at][0]), min(end, by[at][1])))
            at += 1
    return found


def minus(times, without):
    """The part of ``times`` that does not lie in ``without``; both are unions."""
    found, position = [], 0
    for start, end in times:
        while position < len(without) and without[position][1] <= start:
            position += 1
        at = position
        while at < len(without) and without[at][0] < end:
            if without[at][0] > start:
                found.append((start, without[at][0]))
            start = without[at][1]
            at += 1
        if end > start:
            found.append((start, end))
    return found


def seconds_of(spans):
    """Their total length in seconds."""
    return sum(end - start for start, end in spans) / 1e9
