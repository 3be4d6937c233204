import { useRef } from "preact/hooks";
import { type Gesture, gesture, valueAt } from "./scale";

interface Props {
  /** The id of the element that says what is rated. */
  labelledBy: string;
  value: number | null;
  /** The value in words, for who cannot see it. */
  words: string;
  onChange: (value: number) => void;
}

const MIDDLE = 50;
const STARTING_KEYS = new Set(["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown", " ", "Enter"]);

/**
 * A continuous scale from 0 to 100 without a number and, until it is touched, without a thumb.
 *
 * A native range input underneath, out of the pointer's reach, serves the keyboard and assistive
 * technology. The pointer is handled here: a finger sets the value by a tap or a horizontal drag, never
 * by scrolling past.
 */
export function Slider({ labelledBy, value, words, onChange }: Props) {
  const box = useRef<HTMLDivElement>(null);
  const input = useRef<HTMLInputElement>(null);
  const hold = useRef<{ x: number; y: number; doing: Gesture } | null>(null);

  const setFrom = (event: PointerEvent) => {
    const element = box.current;
    if (element) {
      const { left, width } = element.getBoundingClientRect();
      onChange(valueAt(event.clientX, left, width, getComputedStyle(element).direction === "rtl"));
    }
  };
  const down = (event: PointerEvent) => {
    if (event.button !== 0) {
      return;
    }
    const finger = event.pointerType === "touch";
    hold.current = { x: event.clientX, y: event.clientY, doing: finger ? "undecided" : "drag" };
    box.current?.setPointerCapture(event.pointerId);
    if (!finger) {
      event.preventDefault();
      input.current?.focus({ preventScroll: true });
      setFrom(event);
    }
  };
  const move = (event: PointerEvent) => {
    const held = hold.current;
    if (held) {
      held.doing = gesture(held.doing, event.clientX - held.x, event.clientY - held.y);
      if (held.doing === "drag") {
        setFrom(event);
      }
    }
  };
  const up = (event: PointerEvent) => {
    const held = hold.current;
    hold.current = null;
    if (held && held.doing !== "ignored") {
      input.current?.focus({ preventScroll: true });
      setFrom(event);
    }
  };
  const firstKey = (event: KeyboardEvent) => {
    if (value === null && STARTING_KEYS.has(event.key)) {
      event.preventDefault();
      onChange(MIDDLE);
    }
  };

  return (
    <div
      ref={box}
      class="slider"
      onPointerDown={down}
      onPointerMove={move}
      onPointerUp={up}
      onPointerCancel={() => {
        hold.current = null;
      }}
    >
      <input
        ref={input}
        class="slider-input"
        type="range"
        min={0}
        max={100}
        step={1}
        value={value ?? MIDDLE}
        aria-labelledby={labelledBy}
        aria-valuetext={words}
        onKeyDown={firstKey}
        onInput={(event) => onChange(event.currentTarget.valueAsNumber)}
      />
      <span class="slider-track" />
      {value !== null && <span class="slider-thumb" style={{ insetInlineStart: `${value}%` }} />}
    </div>
  );
}
