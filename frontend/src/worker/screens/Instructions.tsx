import { useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Heading } from "../Heading";
import { useSession, useTitle } from "../hooks";
import { LeaveDialog } from "../LeaveDialog";
import type { ComparisonCard, StudyCard } from "../session/protocol";
import { underWay } from "../session/reducer";
import { ReadingInstructions } from "./ReadingInstructions";

type Line = ["you" | "chatbot", string];

const WORTHLESS: Line[] = [
  ["you", "Hi"],
  ["chatbot", "Hello! How is your day going?"],
  ["you", "Hi"],
  ["chatbot", "I’m just back from a long walk. And you?"],
  ["you", "Hello"],
];

const UNFITTING: Line[] = [
  ["chatbot", "I moved to a house by the sea last month."],
  ["you", "wow"],
  ["chatbot", "It gets stormy, though. Do you like the sea?"],
  ["you", "wow"],
  ["chatbot", "So where do you live?"],
  ["you", "I had pizza today"],
];

/** What the study asks of a worker, and the question whether they want to. */
export function Instructions({ study }: { study: StudyCard }) {
  useTitle("Welcome");
  const session = useSession();
  const [leaving, setLeaving] = useState(false);
  const agreeing = underWay(session.state, "agree") !== null;
  return (
    <div class="page flow">
      {study.task === "transcripts" ? (
        <ReadingInstructions study={study} />
      ) : (
        <ChatInstructions study={study} />
      )}

      <section class="facts" aria-label="Good to know">
        <p>
          <strong>Payment.</strong> {study.payment}
        </p>
        <p>
          <strong>Anything odd?</strong> There is a box for feedback at the very end.
        </p>
        <p>
          <strong>Interrupted?</strong> Just open this page again: you go on where you were.
        </p>
        {study.task !== "transcripts" && (
          <p>
            <strong>Stay private.</strong> Please don’t tell a chatbot your name, address or the like.
          </p>
        )}
      </section>

      <div class="actions">
        <Button off={agreeing} onClick={() => session.send({ type: "agree" })}>
          {agreeing ? "One moment…" : "I understand"}
        </Button>
        <Button kind="quiet" onClick={() => setLeaving(true)}>
          No thanks
        </Button>
      </div>
      {leaving && <LeaveDialog onClose={() => setLeaving(false)} />}
    </div>
  );
}

function ChatInstructions({ study }: { study: StudyCard }) {
  const n = study.conversations;
  const free = study.topic_mode === "free";
  return (
    <>
      <div>
        <p class="kicker">{study.title}</p>
        <Heading>Welcome. Here is how it works</Heading>
      </div>
      <p class="lead">
        {study.comparison === null ? (
          <>
            You will hold {counted(n, "short conversation")}, each with a different chatbot, and tell us right
            after {study.rates_all ? "each one" : "some of them"} how it was.
          </>
        ) : (
          <>
            You will hold {counted(n, "short conversation")}, each with two chatbots at once. Both answer what
            you write, side by side, and you tell us which of the two you prefer.
          </>
        )}
      </p>

      <ol class="way">
        <li>
          <h2>{free ? "Think of a topic" : "Look at the topic"}</h2>
          <p>
            {free
              ? "Before each conversation, choose something to talk about and say how you feel about it."
              : "Before each conversation we show you a sentence to start from. Tell us how you feel about it."}
          </p>
        </li>
        <li>
          <h2>Chat</h2>
          <p>
            Write at least <strong>{counted(study.minimum_inputs, "message")}</strong> in each conversation. A
            chatbot may need a few seconds to reply.
          </p>
        </li>
        <li>
          <h2>Keep the topic up to date</h2>
          <p>
            The current topic stays on your screen. Whenever the conversation moves to something else, record
            it with the <strong>Topic</strong> button.
          </p>
        </li>
        <li>
          <h2>{study.comparison === null ? "Say what you think" : "Compare the two"}</h2>
          <p>
            {study.comparison !== null && <Comparing comparison={study.comparison} />}
            {study.criteria.length > 0 && <Rated study={study} />}There are no right answers, only your honest
            ones, and you can’t go back to change them.
          </p>
        </li>
      </ol>

      <section class="flow-small" aria-labelledby="realistic">
        <h2 id="realistic">Talk as you would with a person</h2>
        <p>
          Imagine somebody you would like to talk to. Read what the chatbot says, answer it, ask things, tell
          things. These two conversations would not help anybody:
        </p>
        <div class="examples">
          <Example title="Worthless: only greetings, again and again" lines={WORTHLESS} />
          <Example title="Unfitting: replies that ignore what was said" lines={UNFITTING} />
        </div>
        <p>
          We do look at the conversations. Honest work is always welcome, however the chats turn out; obvious
          attempts to game the study are rejected.
        </p>
      </section>
    </>
  );
}

function Comparing({ comparison }: { comparison: ComparisonCard }) {
  return comparison.choose === "turn" ? (
    <>
      After each pair of replies, choose the better one
      {comparison.history === "chosen" && "; the conversation goes on with it"}.{" "}
    </>
  ) : (
    <>At the end of each conversation, choose the chatbot that you prefer. </>
  );
}

function Rated({ study }: { study: StudyCard }) {
  return (
    <>
      At the end of {study.rates_all ? "each conversation" : "some conversations"}, rate{" "}
      {study.comparison === null ? "it" : "each of the two"} on a few sliders.{" "}
    </>
  );
}

const NUMBERS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten"];

function counted(count: number, noun: string): string {
  return `${NUMBERS[count] ?? count} ${noun}${count === 1 ? "" : "s"}`;
}

function Example({ title, lines }: { title: string; lines: Line[] }) {
  return (
    <figure class="example">
      <figcaption>{title}</figcaption>
      {lines.map(([author, text], index) => (
        <p key={index} class={`example-${author}`}>
          <span class="unseen">{author === "you" ? "You: " : "Chatbot: "}</span>
          {text}
        </p>
      ))}
    </figure>
  );
}
