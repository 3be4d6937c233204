import { Check } from "lucide";
import { useEffect, useRef } from "preact/hooks";
import { Icon } from "./Icon";

export interface StepperStep<T extends string> {
  step: T;
  name: string;
  /** Nothing is missing in it, or something is wrong in it; neither where it was not looked at yet. */
  state?: "done" | "wrong";
  /** How much is missing or wrong in it. */
  problems?: number;
}

interface Props<T extends string> {
  label: string;
  steps: readonly StepperStep<T>[];
  now: T;
  onChoose: (step: T) => void;
}

/** The steps of something long, in their order: which one is shown, which are done, where something is wrong. */
export function Stepper<T extends string>({ label, steps, now, onChoose }: Props<T>) {
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    // Where there is no room for all, they scroll sideways: the one that is shown is in sight.
    const step = list.current?.querySelector<HTMLElement>("[aria-current]");
    if (list.current && step) {
      list.current.scrollLeft = step.offsetLeft - (list.current.clientWidth - step.clientWidth) / 2;
    }
  }, [now]);
  return (
    <nav aria-label={label}>
      <ol class="stepper" ref={list}>
        {steps.map(({ step, name, state, problems = 0 }, index) => (
          <li key={step} class={state && `stepper-${state}`}>
            <button
              type="button"
              class="stepper-step"
              aria-current={step === now ? "step" : undefined}
              onClick={() => onChoose(step)}
            >
              <span class="stepper-mark" aria-hidden="true">
                {state === "done" ? <Icon of={Check} /> : state === "wrong" ? "!" : index + 1}
              </span>
              {name}
              {problems > 0 && (
                <span class="stepper-count" aria-hidden="true">
                  {problems}
                </span>
              )}
              {(state || problems > 0) && <span class="unseen">{inWords(state, problems)}</span>}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

function inWords(state: "done" | "wrong" | undefined, problems: number): string {
  if (state === "done") {
    return ", complete";
  }
  return problems > 0 ? `, ${problems} to ${state ? "fix" : "fill in"}` : ", needs fixing";
}
