import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { judgedOn } from "../answer_kinds";
import { useConsent } from "../consent_ticks";
import { Glance } from "../Glance";
import { Heading } from "../Heading";
import { useSession, useTexts, useTitle } from "../hooks";
import { LeaveDialog } from "../LeaveDialog";
import { Marked } from "../Marked";
import { Paragraphs } from "../Paragraphs";
import { Recorded } from "../Recorded";
import type { StudyCard } from "../session/protocol";
import { underWay } from "../session/reducer";
import { TASKS } from "../tasks";
import { paragraph, type TextKey } from "../texts/words";
import { Consent } from "./Consent";
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

/** What a worker consents to, where the study asks for it; then what it asks of them, and whether they want to. */
export function Instructions({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  useTitle(say("instructions.tab"));
  const session = useSession();
  const [leaving, setLeaving] = useState(false);
  const consent = useConsent(study.consent);
  const agreeing = underWay(session.state, "agree") !== null;
  const chatting = TASKS[study.task].chats;
  const decline = () => setLeaving(true);
  const dialog = leaving && <LeaveDialog onClose={() => setLeaving(false)} />;
  if (study.consent && !consent.agreed) {
    return (
      <Consent study={study} consent={study.consent} state={consent} onDecline={decline}>
        {dialog}
      </Consent>
    );
  }
  return (
    <div class="page page-barred">
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
          {study.consent === null && <Recorded study={study} />}
          {study.contact && (
            <p>
              <Marked of="instructions.contact" values={{ contact: study.contact }} />
            </p>
          )}
        </section>
        {study.consent && (
          <details class="transcript">
            <summary>{say("consent.title")}</summary>
            <Paragraphs text={study.consent.text} />
          </details>
        )}
      </div>
      <div class="bar">
        <Button off={agreeing} onClick={() => session.send({ type: "agree", ...consent.given })}>
          {say(agreeing ? "common.wait" : "instructions.agree")}
        </Button>
        <Button kind="secondary" onClick={decline}>
          {say("instructions.decline")}
        </Button>
      </div>
      {dialog}
    </div>
  );
}

function ChatInstructions({ study }: { study: StudyCard }) {
  const { say } = useTexts();
  const { conversations: n } = study;
  const free = study.topic_mode === "free";
  const how = say(`instructions.on_${judgedOn(study.criteria)}`);
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
          <p>{paragraph(judging(study).map((key) => say(key, { how })))}</p>
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
