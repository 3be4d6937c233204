import { useEffect, useRef, useState } from "preact/hooks";
import type { Forecast } from "../api_types";
import { percent } from "../jobs/numbers";
import { costTicks, ticksOf } from "./ticks";

const HEIGHT = 280;
const TOP = 34;
const LEFT = 46;
const RIGHT = 18;
/** Room between the labels of the horizontal axis. */
const APART = 62;

/**
 * The chance that the first two systems are told apart, by the number of people: the curve, the line of the
 * power that is aimed at, the planned number, and what each number of people costs.
 */
export function PowerChart({ forecast }: { forecast: Forecast }) {
  const box = useRef<HTMLDivElement>(null);
  const [width, setWidth] = useState(0);
  useEffect(() => {
    const element = box.current as HTMLDivElement;
    const sizes = new ResizeObserver(() => setWidth(element.clientWidth));
    sizes.observe(element);
    return () => sizes.disconnect();
  }, []);
  return (
    <div class="power" ref={box} role="img" aria-label={inWords(forecast)}>
      {width > 0 && <Drawing forecast={forecast} width={width} />}
    </div>
  );
}

function Drawing({ forecast, width }: { forecast: Forecast; width: number }) {
  const { plan, cost, needed, power } = forecast;
  const points = pointsOf(forecast);
  const first = points[0]?.workers ?? 0;
  const last = points.at(-1)?.workers ?? 1;
  const bottom = HEIGHT - (cost === null ? 46 : 66);
  const x = (workers: number) => LEFT + ((workers - first) / (last - first)) * (width - LEFT - RIGHT);
  const y = (chance: number) => bottom - chance * (bottom - TOP);
  const ticks = ticksOf(first, last, Math.max(2, Math.floor((width - LEFT - RIGHT) / APART)));
  const line = points.map(({ workers, apart }) => `${x(workers).toFixed(1)},${y(apart).toFixed(1)}`);
  const marked = needed !== null && needed <= last && needed !== plan.workers ? needed : null;
  return (
    <svg width={width} height={HEIGHT} aria-hidden="true">
      <text class="power-title" x="0" y="14">
        Chance to tell {forecast.first} and {forecast.second} apart
      </text>
      {[0, 0.2, 0.4, 0.6, 0.8, 1].map((chance) => (
        <g key={chance}>
          {chance !== power && (
            <line class="power-grid" x1={LEFT} x2={width - RIGHT} y1={y(chance)} y2={y(chance)} />
          )}
          <text
            class={chance === power ? "power-aimed" : "power-tick"}
            x={LEFT - 8}
            y={y(chance) + 4}
            text-anchor="end"
          >
            {percent(chance)}
          </text>
        </g>
      ))}
      {ticks.map((workers) => (
        <g key={workers}>
          <line class="power-grid" x1={x(workers)} x2={x(workers)} y1={bottom} y2={bottom + 5} />
          <text class="power-tick" x={x(workers)} y={bottom + 20} text-anchor="middle">
            {workers}
          </text>
          {cost !== null && (
            <text class="power-tick" x={x(workers)} y={bottom + 36} text-anchor="middle">
              {costTicks(workers, cost / plan.workers)}
            </text>
          )}
        </g>
      ))}
      <text class="power-title" x={width - RIGHT} y={HEIGHT - 6} text-anchor="end">
        {cost === null ? "People" : "People, and their cost with fees"}
      </text>
      <line class="power-aim" x1={LEFT} x2={width - RIGHT} y1={y(power)} y2={y(power)} />
      <polyline class="power-line" points={line.join(" ")} />
      {marked !== null && (
        <g>
          <line class="power-drop" x1={x(marked)} x2={x(marked)} y1={y(power)} y2={bottom} />
          <circle class="power-needed" cx={x(marked)} cy={y(power)} r="5" />
          <Label x={x(marked)} y={y(power) - 12} width={width}>
            {percent(power)} with {marked}
          </Label>
        </g>
      )}
      <g>
        <line
          class="power-drop"
          x1={x(plan.workers)}
          x2={x(plan.workers)}
          y1={y(forecast.apart)}
          y2={bottom}
        />
        <circle class="power-planned" cx={x(plan.workers)} cy={y(forecast.apart)} r="5" />
        <Label x={x(plan.workers)} y={y(forecast.apart) + (forecast.apart > 0.2 ? 24 : -14)} width={width}>
          planned: {plan.workers}, {percent(forecast.apart)}
        </Label>
      </g>
    </svg>
  );
}

/** Words at a point, on the side where there is room. */
function Label({ x, y, width, children }: { x: number; y: number; width: number; children: unknown }) {
  const left = x > width * 0.6;
  return (
    <text class="power-label" x={left ? x - 9 : x + 9} y={y} text-anchor={left ? "end" : "start"}>
      {children as string}
    </text>
  );
}

/** The points of the curve; those of the table for a forecast that was made before curves were drawn. */
function pointsOf({ curve = [], chances }: Forecast): { workers: number; apart: number }[] {
  return curve.length > 1 ? curve : chances;
}

function inWords(forecast: Forecast): string {
  const { plan, first, second, apart, needed, power } = forecast;
  const enough =
    needed === null ? "No affordable number reaches" : `${needed} people are needed for a chance of`;
  return `Chance to tell ${first} and ${second} apart, by number of people: ${percent(apart)} with the planned ${
    plan.workers
  }. ${enough} ${percent(power)}. The table below has the numbers.`;
}
