import { useEffect, useRef } from "preact/hooks";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";

interface Props {
  /** What it shows, in a sentence: all that somebody hears who does not see it. */
  label: string;
  x: number[];
  /** A line. */
  line: (number | null)[];
  /** The lower and the upper edge of a band around it. */
  band?: { low: (number | null)[]; high: (number | null)[] };
  range: [low: number, high: number];
  /** A level that is drawn across, dashed. */
  level?: number | null;
}

const HEIGHT = 150;

/** A line over the number of ratings, and what surrounds it. What is drawn is not changed by the mouse. */
export function Chart({ label, x, line, band, range, level }: Props) {
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
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const draw = () => {
      plot.current?.destroy();
      plot.current = new uPlot(optionsOf(element, low, high), newest.current, element);
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
  }, [low, high]);
  useEffect(() => plot.current?.setData(data), [x, line, band, level]);
  return <div ref={box} class="chart" role="img" aria-label={label} />;
}

function optionsOf(element: HTMLElement, low: number, high: number): uPlot.Options {
  const style = getComputedStyle(element);
  const colour = (name: string) => style.getPropertyValue(name).trim();
  const axis: uPlot.Axis = {
    stroke: colour("--ink-soft"),
    grid: { stroke: colour("--line"), width: 1 },
    ticks: { show: false },
    font: `12px ${style.fontFamily}`,
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
        size: 28,
        space: 60,
        incrs: [1, 2, 5].flatMap((n) => [1, 10, 100, 1e3, 1e4, 1e5].map((k) => n * k)).sort((a, b) => a - b),
      },
      { ...axis, size: 44, space: 28 },
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
