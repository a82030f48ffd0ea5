"""The picture: a band for each state, below it the frames, sent or dropped, and what the link makes of their bitrate."""

import matplotlib

matplotlib.use("SVG")
from matplotlib import pyplot  # noqa: E402
from matplotlib.legend import Legend  # noqa: E402
from matplotlib.patches import Patch  # noqa: E402
from matplotlib.ticker import MultipleLocator  # noqa: E402

from recording import ROWS  # noqa: E402

# Green: the stream can run. Yellow to red: it is held up. Grey: there is nothing.
GOOD, FAIR, WAITING, BAD, NOTHING = "#4c9f70", "#a9cfa0", "#f2c14e", "#d1603d", "#d5d8dc"
COLOURS = {
    "connection-state": {"idle": NOTHING, "resolving": "#fae6ae", "connecting": "#f6d27c", "registering": WAITING,
                         "ready": FAIR, "streaming": GOOD, "reconnecting": BAD, "failed": BAD},
    "hmi-level": {"none": NOTHING, "background": BAD, "limited": FAIR, "full": GOOD},
    "app-state": {"foreground": GOOD, "resigning": WAITING, "background": BAD, "regaining": FAIR},
    **dict.fromkeys(("video", "sound"), {"stopped": NOTHING, "starting": WAITING, "streaming": GOOD, "suspended": BAD,
                                         "stopping": FAIR}),
    "transport": {"none": NOTHING, "primary": FAIR, "secondary": GOOD},
}
SENT = "#3b6ea5"
UNCHANGED = "#a9c4de"
DELAY = "#c8553d"
DROPS = ["#e4a03b", "#c8553d", "#8e5572", "#b9b06a", "#6b4e3d", "#e58fa2", "#777777"]
RATE_WINDOW_SECONDS = 0.6
# A band narrower than its name stays empty; the legend names it.
POINTS_PER_CHARACTER = 4.9
INK = "#22303c"


def paint(recording, path):
    pyplot.rcParams.update({"font.family": "DejaVu Sans", "font.size": 9, "text.color": INK, "axes.labelcolor": INK,
                            "xtick.color": INK, "ytick.color": INK, "axes.edgecolor": "#9aa5ae"})
    figure, (bands, frames, bitrates) = pyplot.subplots(
        3, 1, sharex=True, figsize=(13, 9), gridspec_kw={"height_ratios": [3, 2.2, 1.5], "hspace": 0.1})
    figure.subplots_adjust(left=0.1, right=0.83, top=0.82, bottom=0.07)
    frames.set_xlim(0, recording.end)
    paint_bands(bands, recording)
    paint_frames(frames, recording)
    paint_bitrates(bitrates, recording)
    paint_acts(bands, (frames, bitrates), recording.acts)
    figure.suptitle("A drive with sdlvideosink and sdlaudiosink, as they report it", x=0.1, y=0.97, ha="left", fontsize=14,
                    fontweight="bold")
    figure.savefig(path)
    pyplot.close(figure)


def paint_bands(axes, recording):
    points_per_second = axes.get_position().width * axes.figure.get_figwidth() * 72 / recording.end
    for row, name in enumerate(ROWS):
        for begin, end, value in recording.bands(name):
            colour = COLOURS[name][value]
            axes.broken_barh([(begin, end - begin)], (row - 0.36, 0.72), facecolor=colour, edgecolor="white",
                             linewidth=0.6)
            if (end - begin) * points_per_second > len(value) * POINTS_PER_CHARACTER + 4:
                axes.text((begin + end) / 2, row, value, ha="center", va="center", fontsize=8.5,
                          color="white" if colour in (GOOD, BAD) else INK, clip_on=True)
        add_band_legend(axes, recording, row, name)
    axes.set_ylim(len(ROWS) - 0.5, -0.5)
    axes.set_yticks(range(len(ROWS)), ROWS)
    axes.tick_params(axis="y", length=0)
    axes.tick_params(axis="x", length=0, labelbottom=False)
    for side in ("top", "right", "bottom", "left"):
        axes.spines[side].set_visible(False)


def add_band_legend(axes, recording, row, name):
    """Lists beside the row the values that occur in it, in the order of their first occurrence."""
    values = dict.fromkeys(value for _, _, value in recording.bands(name))
    # Axes.legend would replace the legend of the row above.
    axes.add_artist(Legend(
        axes, [Patch(facecolor=COLOURS[name][value]) for value in values], values, loc="center left",
        bbox_to_anchor=(1.005, 1 - (row + 0.5) / len(ROWS)), bbox_transform=axes.transAxes, fontsize=7.5, frameon=False,
        handlelength=1, handleheight=0.8, labelspacing=0.2, ncols=2 if len(values) > 4 else 1,
        columnspacing=0.8))


def paint_frames(axes, recording):
    """Draws all frames that came in, stacked by what happened to them."""
    reasons = [name for name in recording.drop_reasons if recording.samples[-1][1][name]]
    times, sent = recording.rates("frames-sent", RATE_WINDOW_SECONDS)
    unchanged = recording.rates("frames-unchanged", RATE_WINDOW_SECONDS)[1]
    drops = [recording.rates(name, RATE_WINDOW_SECONDS)[1] for name in reasons]
    labels = ["sent", "unchanged"]
    labels += ["dropped: " + name.removeprefix("frames-dropped-").replace("-", " ") for name in reasons]
    axes.stackplot(times, sent, unchanged, *drops, labels=labels, colors=[SENT, UNCHANGED, *DROPS], alpha=0.9,
                   linewidth=0)
    axes.set_ylim(bottom=0)
    axes.yaxis.set_major_locator(MultipleLocator(10))
    axes.set_ylabel("frames per second")
    make_plain(axes)
    handles, labels = axes.get_legend_handles_labels()
    # In the order of the stack, from top to bottom.
    axes.legend(handles[::-1], labels[::-1], loc="center left", bbox_to_anchor=(1.005, 0.5), fontsize=8, frameon=False,
                handlelength=1)


def paint_bitrates(axes, recording):
    """Draws what the encoder aims at and sends, and how long pictures would wait on the link."""
    delays = axes.twinx()
    curves = []
    for side, name, unit, label, colour in (
            (delays, "link-delay-ns", 1e6, "delay on the link (right)", DELAY),
            (axes, "bitrate-measured-kbps", 1000, "sent", SENT), (axes, "bitrate-target-kbps", 1000, "aimed at", INK)):
        times, values = recording.values(name)
        curves += side.plot(times, [value / unit for value in values], color=colour, linewidth=1.3, label=label)
        side.set_ylim(bottom=0)
    axes.set_ylabel("Mbit/s")
    axes.set_xlabel("seconds")
    delays.set_ylabel("ms", color=DELAY)
    delays.tick_params(axis="y", colors=DELAY, length=0)
    make_plain(axes)
    make_plain(delays)
    delays.grid(visible=False)
    axes.legend(handles=curves[::-1], loc="center left", bbox_to_anchor=(1.05, 0.5), fontsize=8, frameon=False,
                handlelength=1)


def make_plain(axes):
    axes.grid(axis="y", color="#e3e7ea", linewidth=0.8)
    axes.set_axisbelow(True)
    for side in ("top", "right"):
        axes.spines[side].set_visible(False)


def paint_acts(bands, curves, acts):
    for act in acts:
        # Behind the bands, so that the lines do not cross their names.
        for axes, order in ((bands, 0), *((each, 3) for each in curves)):
            axes.axvline(act.time, color=INK, linewidth=0.7, linestyle=(0, (2, 2)), alpha=0.55, zorder=order)
        bands.annotate(act.label, (act.time, 1), xycoords=("data", "axes fraction"), xytext=(2, 3),
                       textcoords="offset points", rotation=40, ha="left", va="bottom", rotation_mode="anchor",
                       fontsize=8.5)
