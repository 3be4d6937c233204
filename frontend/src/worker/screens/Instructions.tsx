import type { ComponentChildren } from "preact";
import { useRef, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { ConsentForm, useConsent } from "../ConsentForm";
import { Heading } from "../Heading";
import { useSession, useTexts, useTitle } from "../hooks";
import { LeaveDialog } from "../LeaveDialog";
import { Marked } from "../Marked";
import type { StudyCard } from "../session/protocol";
import { underWay } from "../session/reducer";
import { TASKS } from "../tasks";
import { paragraph, type TextKey } from "../texts/words";
import { ReadingInstructions } from "./ReadingInstructions";

type Line = ["you" | "chatbot", TextKey];

const WORTHLESS: Line[] = [
  ["you", "instructions.worthless_1"],
  ["chatbot", "instructions.worthless_2"],
  ["you", "instructions.worthless_3"],
  ["chatbot", "instructions.worthless_4"],
  ["you", "instructions.worthless_5"],
];

const UNFITTING: Line[] = [
  ["chatbot", "instructions.unfitting_1"],
  ["you", "instructions.unfitting_2"],
  ["chatbot", "instructions.unfitting_3"],
  ["you", "instructions.unfitting_4"],
  ["chatbot", "instructions.unfitting_5"],
  ["you", "instructions.unfitting_6"],
];

/** What the study asks of a worker, and the question whether they want to. */
export function Instructions({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  useTitle(say("instructions.tab"));
  const session = useSession();
  const page = useRef<HTMLDivElement>(null);
  const [leaving, setLeaving] = useState(false);
  const consent = useConsent(study.consent);
  const agreeing = underWay(session.state, "agree") !== null;
  const chatting = TASKS[study.task].chats;
  const agree = () => {
    if (consent.missing.length === 0) {
      session.send({ type: "agree", ...consent.given });
    } else {
      consent.complain();
      const first = page.current?.querySelector<HTMLInputElement>(`#box-${consent.missing[0]}`);
      first?.closest("label")?.scrollIntoView({ block: "center" });
      first?.focus({ preventScroll: true });
    }
  };
  return (
    <div class="page page-barred" ref={page}>
      <div class="flow">
        <div>
          <p class="kicker" dir="auto">
            {study.title}
          </p>
          <Heading>{say("instructions.title")}</Heading>
        </div>
        <Glance study={study} />
        {chatting ? <ChatInstructions study={study} /> : <ReadingInstructions study={study} />}
        <section class="facts" aria-label={say("instructions.good_to_know")}>
          <p>
            <Marked of="instructions.odd" />
          </p>
          <p>
            <Marked of={session.forgetful ? "instructions.forgetful" : "instructions.interrupted"} />
          </p>
          {chatting && (
            <p>
              <Marked of="instructions.private" />
            </p>
          )}
          {study.records_writing && (
            <p>
              <Marked of="instructions.writing" />
            </p>
          )}
          {study.moderation === "classifier" && (
            <p>
              <Marked of="instructions.moderation" />
            </p>
          )}
          {study.contact && (
            <p>
              <Marked of="instructions.contact" values={{ contact: study.contact }} />
            </p>
          )}
        </section>
        {study.consent && <ConsentForm consent={study.consent} state={consent} />}
      </div>
      <div class="bar">
        <Button kind={consent.missing.length > 0 ? "waiting" : "primary"} off={agreeing} onClick={agree}>
          {say(agreeing ? "common.wait" : "instructions.agree")}
        </Button>
        {consent.missing.length > 0 && (
          <p class="soft small bar-note">{say("consent.missing", { n: consent.missing.length })}</p>
        )}
        <Button kind="quiet" onClick={() => setLeaving(true)}>
          {say("instructions.decline")}
        </Button>
      </div>
      {leaving && <LeaveDialog onClose={() => setLeaving(false)} />}
    </div>
  );
}

/** What it takes and what it brings, before everything else. */
function Glance({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  const { duration, payment, task, conversations: n } = study;
  return (
    <dl class="glance" aria-label={say("instructions.glance")}>
      {duration !== null && (
        <Fact name={say("instructions.time")}>{say("instructions.minutes", { n: duration })}</Fact>
      )}
      <Fact name={say("instructions.amount")}>{say(TASKS[task].amount, { n })}</Fact>
      <Fact name={say("instructions.payment")}>
        <span dir="auto">{payment}</span>
      </Fact>
    </dl>
  );
}

function Fact({ name, children }: { name: string; children: ComponentChildren }) {
  return (
    <div>
      <dt>{name}</dt>
      <dd>{children}</dd>
    </div>
  );
}

function ChatInstructions({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  const { conversations: n } = study;
  const free = study.topic_mode === "free";
  return (
    <>
      <p class="lead">{say(lead(study), { n })}</p>

      <ol class="way">
        <li>
          <h2>{say(free ? "instructions.topic_title" : "instructions.given_title")}</h2>
          <p>{say(free ? "instructions.topic" : "instructions.given")}</p>
        </li>
        <li>
          <h2>{say("instructions.chat_title")}</h2>
          <p>
            <Marked of="instructions.chat" values={{ n: study.minimum_inputs }} />
          </p>
        </li>
        <li>
          <h2>{say("instructions.keep_title")}</h2>
          <p>
            <Marked of="instructions.keep" />
          </p>
        </li>
        <li>
          <h2>{say(study.comparison ? "instructions.compare_title" : "instructions.rate_title")}</h2>
          <p>{paragraph(judging(study).map((key) => say(key)))}</p>
        </li>
      </ol>

      <section class="flow-small" aria-labelledby="realistic">
        <h2 id="realistic">{say("instructions.real_title")}</h2>
        <p>{say("instructions.real")}</p>
        <div class="examples">
          <Example title={say("instructions.worthless")} lines={WORTHLESS} />
          <Example title={say("instructions.unfitting")} lines={UNFITTING} />
        </div>
        <p>{say("instructions.honest")}</p>
      </section>
    </>
  );
}

function lead({ comparison, rates_all: all }: StudyCard): TextKey {
  if (comparison !== null) {
    return "instructions.lead_pairs";
  }
  return all ? "instructions.lead_all" : "instructions.lead_some";
}

/** How conversations are judged: by a choice between two, by ratings, or by both. */
function judging({ comparison, criteria, rates_all: all }: StudyCard): TextKey[] {
  if (comparison === null) {
    return [all ? "instructions.rate_all" : "instructions.rate_some"];
  }
  const turn = comparison.history === "chosen" ? "instructions.compare_going" : "instructions.compare_turn";
  return [
    comparison.choose === "turn" ? turn : "instructions.compare_end",
    ...(criteria.length > 0 ? ["instructions.rate_both" as const] : []),
  ];
}

function Example({ title, lines }: { title: string; lines: Line[] }) {
  const { say } = useTexts();
  return (
    <figure class="example">
      <figcaption>{title}</figcaption>
      {lines.map(([author, text]) => (
        <p key={text} class={`example-${author}`}>
          <span class="unseen">{`${say(`chat.${author}`)}: `}</span>
          {say(text)}
        </p>
      ))}
    </figure>
  );
}
