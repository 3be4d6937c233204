import { useState } from "preact/hooks";
import { useDraft, useTexts } from "./hooks";
import { Paragraphs } from "./Paragraphs";
import type { Consent } from "./session/protocol";

/** What a worker has ticked so far. */
export interface ConsentState {
  ticked: string[];
  /** The boxes that must still be ticked. */
  missing: string[];
  /** What agreeing says of the consent. */
  given: { consent: string | null; ticked: string[] };
  complaining: boolean;
  tick: (label: string, on: boolean) => void;
  complain: () => void;
}

/** The ticks of a study's consent; none where it has no consent. They outlive the tab. */
export function useConsent(consent: Consent | null): ConsentState {
  const [ticked, setTicked] = useDraft<string[]>("consent", []);
  const [complaining, setComplaining] = useState(false);
  const required = consent?.boxes.filter((box) => box.required) ?? [];
  return {
    ticked,
    missing: required.map(({ label }) => label).filter((label) => !ticked.includes(label)),
    given: { consent: consent?.version ?? null, ticked: consent ? ticked : [] },
    complaining,
    tick: (label, on) => setTicked([...ticked.filter((other) => other !== label), ...(on ? [label] : [])]),
    complain: () => setComplaining(true),
  };
}

/** What the worker consents to, and the boxes to tick. */
export function ConsentForm({ consent, state }: { consent: Consent; state: ConsentState }) {
  const { say } = useTexts();
  const { ticked, missing, complaining, tick } = state;
  return (
    <section class="panel flow-small consent" aria-labelledby="consent">
      <h2 id="consent">{say("consent.title")}</h2>
      <Paragraphs text={consent.text} />
      {consent.boxes.map(({ label, text, required }) => {
        const wrong = complaining && missing.includes(label);
        return (
          <div key={label}>
            <label class="tick">
              <input
                type="checkbox"
                id={`box-${label}`}
                checked={ticked.includes(label)}
                aria-invalid={wrong ? "true" : undefined}
                aria-describedby={wrong ? `wrong-${label}` : undefined}
                onChange={(event) => tick(label, event.currentTarget.checked)}
              />
              <span>
                <span dir="auto">{text}</span>
                {!required && <span class="soft"> {say("consent.optional")}</span>}
              </span>
            </label>
            {wrong && (
              <p class="complaint" id={`wrong-${label}`}>
                {say("consent.complaint")}
              </p>
            )}
          </div>
        );
      })}
      <p class="soft small">
        {say("consent.version", { version: consent.version })}
        {consent.board && ` · ${say("consent.board", { board: consent.board })}`}
      </p>
    </section>
  );
}
