import { Check } from "lucide";
import { Icon } from "./Icon";

export interface StepperStep<T extends string> {
  step: T;
  name: string;
  /** Nothing is missing in it, or something is wrong in it; neither where it was not looked at yet. */
  state?: "done" | "wrong";
}

interface Props<T extends string> {
  label: string;
  steps: readonly StepperStep<T>[];
  now: T;
  onChoose: (step: T) => void;
}

/** The steps of something long, in their order: which one is shown, which are done, where something is wrong. */
export function Stepper<T extends string>({ label, steps, now, onChoose }: Props<T>) {
  return (
    <nav aria-label={label}>
      <ol class="stepper">
        {steps.map(({ step, name, state }, index) => (
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
              {state && <span class="unseen">{state === "done" ? ", complete" : ", needs fixing"}</span>}
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}
