import { useEffect, useRef, useState } from "preact/hooks";
import type uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { localeOf } from "../../shared/locale";

interface Props {
  /** What it shows, in a sentence: all that somebody hears who does not see it. */
  label: string;
  x: number[];
  /** What stands upwards. */
  y: string;
  /** A line. */
  line: (number | null)[];
  /** The lower and the upper edge of a band around it. */
  band?: { low: (number | null)[]; high: (number | null)[] };
  range: [low: number, high: number];
  /** A level that is drawn across, dashed. */
  level?: number | null;
}

type Library = typeof uPlot;

const HEIGHT = 170;

/**
 * A line over the number of ratings, and what surrounds it. What is drawn is not changed by the mouse.
 * Where it cannot be drawn, a sentence says so.
 */
export function Chart({ label, x, y, line, band, range, level }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const newest = useRef<uPlot.AlignedData>([[]]);
  const data = [
    x,
    band?.low ?? x.map(() => null),
    band?.high ?? x.map(() => null),
    line,
    x.map(() => level ?? null),
  ] as uPlot.AlignedData;
  newest.current = data;
  const [low, high] = range;
  const [library, setLibrary] = useState<{ Plot: Library } | "missing" | null>(null);
  useEffect(() => {
    loaded().then(
      (Plot) => setLibrary({ Plot }),
      () => setLibrary("missing"),
    );
  }, []);
  useEffect(() => {
    if (library === null || library === "missing") {
      return;
    }
    const { Plot } = library;
    const element = box.current as HTMLDivElement;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new Plot(optionsOf(element, y, low, high), newest.current, element);
    };
    draw();
    const dark = window.matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", draw);
    const sizes = new ResizeObserver(() =>
      plot.current?.setSize({ width: element.clientWidth, height: HEIGHT }),
    );
    sizes.observe(element);
    return () => {
      dark.removeEventListener("change", draw);
      sizes.disconnect();
      plot.current?.destroy();
      plot.current = null;
    };
  }, [library, y, low, high]);
  useEffect(() => plot.current?.setData(data), [x, line, band, level]);
  if (library === "missing") {
    return (
      <p class="soft small">
        This chart cannot be drawn here. The table below has its numbers; reload the page to try again.
      </p>
    );
  }
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}

/** Load the library. While it loads, it formats a number by the browser's language, which under LANG=C is none. */
async function loaded(): Promise<Library> {
  const language = localeOf(navigator.language);
  if (language !== navigator.language) {
    Object.defineProperty(navigator, "language", { value: language, configurable: true });
  }
  return (await import("uplot")).default;
}

function optionsOf(element: HTMLElement, y: string, low: number, high: number): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--ink-soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
    labelFont: `12px ${style.fontFamily}`,
    labelSize: 16,
    labelGap: 0,
  };
  const accent = colour("--accent");
  return {
    width: element.clientWidth,
    height: HEIGHT,
    legend: { show: false },
    cursor: { show: false },
    padding: [8, 12, 0, 0],
    scales: { x: { time: false }, y: { range: [low, high] } },
    axes: [
      {
        ...axis,
        label: "Ratings",
        size: 24,
        space: 60,
        incrs: [1, 2, 5].flatMap((n) => [1, 10, 100, 1e3, 1e4, 1e5].map((k) => n * k)).sort((a, b) => a - b),
      },
      { ...axis, label: y, size: 40, space: 28 },
    ],
    series: [
      {},
      { stroke: accent, width: 1, points: { show: false } },
      { stroke: accent, width: 1, points: { show: false } },
      { stroke: accent, width: 2, points: { show: false } },
      { stroke: colour("--warm"), width: 2, dash: [6, 4], points: { show: false } },
    ],
    bands: [{ series: [2, 1], fill: colour("--accent-soft") }],
  };
}
