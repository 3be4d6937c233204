import { useState } from "preact/hooks";
import { useDraft } from "./hooks";
import type { Consent } from "./session/protocol";

/** What a worker has ticked so far, and whether they have agreed. */
export interface ConsentState {
  ticked: string[];
  /** The boxes that must still be ticked. */
  missing: string[];
  /** Whether they have agreed to this version. */
  agreed: boolean;
  /** What is sent of it: with the first message, so that nothing is stored of who reads and leaves. */
  given: { consent: string | null; ticked: string[] };
  complaining: boolean;
  tick: (label: string, on: boolean) => void;
  /** Agrees, unless a box is missing. */
  agree: () => void;
}

/** The ticks of a study's consent; none where it has no consent. They outlive the tab. */
export function useConsent(consent: Consent | null): ConsentState {
  const [ticked, setTicked] = useDraft<string[]>("consent", []);
  const [agreedTo, setAgreedTo] = useDraft<string | null>("agreed", null);
  const [complaining, setComplaining] = useState(false);
  const required = consent?.boxes.filter((box) => box.required) ?? [];
  const missing = required.map(({ label }) => label).filter((label) => !ticked.includes(label));
  return {
    ticked,
    missing,
    agreed: consent === null || (agreedTo === consent.version && missing.length === 0),
    given: { consent: consent?.version ?? null, ticked: consent ? ticked : [] },
    complaining,
    tick: (label, on) => setTicked([...ticked.filter((other) => other !== label), ...(on ? [label] : [])]),
    agree: () => (missing.length > 0 ? setComplaining(true) : setAgreedTo(consent?.version ?? null)),
  };
}
