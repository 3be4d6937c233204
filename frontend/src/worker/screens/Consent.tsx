import type { ComponentChildren } from "preact";
import { useRef } from "preact/hooks";
import { Button } from "../../design/Button";
import type { ConsentState } from "../consent_ticks";
import { Glance } from "../Glance";
import { Heading } from "../Heading";
import { useTexts } from "../hooks";
import { Marked } from "../Marked";
import { Paragraphs } from "../Paragraphs";
import { Recorded } from "../Recorded";
import type { ConsentBox, Consent as ConsentCard, StudyCard } from "../session/protocol";

interface Props {
  study: StudyCard;
  consent: ConsentCard;
  state: ConsentState;
  onDecline: () => void;
  children: ComponentChildren;
}

/** What the worker consents to, and the boxes to tick: before everything else. */
export function Consent({ study, consent, state, onDecline, children }: Props) {
  const { say } = useTexts();
  const page = useRef<HTMLDivElement>(null);
  const { missing, agree } = state;
  const submit = () => {
    agree();
    const first = page.current?.querySelector<HTMLInputElement>(`#box-${missing[0]}`);
    first?.closest("label")?.scrollIntoView({ block: "center" });
    first?.focus({ preventScroll: true });
  };
  return (
    <div class="page page-barred" ref={page}>
      <div class="flow">
        <div>
          <p class="kicker" dir="auto">
            {study.title}
          </p>
          <Heading>{say("consent.title")}</Heading>
        </div>
        <Glance study={study} />
        <div class="panel flow-small consent">
          <Paragraphs text={consent.text} />
          <Recorded study={study} />
          {consent.boxes.map((box) => (
            <Box key={box.label} box={box} state={state} />
          ))}
          <p class="soft small">
            {say("consent.version", { version: consent.version })}
            {consent.board && ` · ${say("consent.board", { board: consent.board })}`}
          </p>
        </div>
        {study.contact && (
          <p class="soft small">
            <Marked of="instructions.contact" values={{ contact: study.contact }} />
          </p>
        )}
      </div>
      <div class="bar bar-choice">
        <Button kind={missing.length > 0 ? "waiting" : "primary"} onClick={submit}>
          {say("consent.agree")}
        </Button>
        {missing.length > 0 && <p class="soft small">{say("consent.missing", { n: missing.length })}</p>}
        <Button kind="quiet" onClick={onDecline}>
          {say("instructions.decline")}
        </Button>
      </div>
      {children}
    </div>
  );
}

function Box({ box: { label, text, required }, state }: { box: ConsentBox; state: ConsentState }) {
  const { say } = useTexts();
  const wrong = state.complaining && state.missing.includes(label);
  return (
    <div>
      <label class="tick">
        <input
          type="checkbox"
          id={`box-${label}`}
          checked={state.ticked.includes(label)}
          aria-invalid={wrong ? "true" : undefined}
          aria-describedby={wrong ? `wrong-${label}` : undefined}
          onChange={(event) => state.tick(label, event.currentTarget.checked)}
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
}
