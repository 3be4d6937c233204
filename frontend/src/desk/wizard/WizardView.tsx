import { useContext, useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { apiAddress, Failed, send, Unauthorised } from "../api";
import type { WaitingForWizard } from "../api_types";
import { useFetched } from "../fetched";
import { LoadStatus } from "../LoadStatus";
import { ResearcherContext } from "../researcher";
import "./wizard.css";

const EVERY_MS = 1_500;

/** The conversations that wait for a researcher to answer in the chatbot's place. */
export function WizardView({ run }: { run: string }) {
  const [looks, setLooks] = useState(0);
  const lookAgain = () => setLooks((before) => before + 1);
  useEffect(() => {
    const timer = setInterval(lookAgain, EVERY_MS);
    return () => clearInterval(timer);
  }, []);
  const { data, failure } = useFetched("/api/desk/runs/{run}/wizard", { run }, looks);
  return (
    <>
      <h2>Answer as a chatbot</h2>
      <p class="soft">
        Each of these workers waits for the chatbot’s next line. What you write is shown to them as the
        chatbot’s, after the same delay as every other’s. The first answer counts, whoever gives it.
      </p>
      <LoadStatus failure={failure} empty={data === null} />
      <p role="status">{data && waitingInWords(data.waiting.length)}</p>
      {data?.waiting.map((line) => (
        <Waiting key={`${line.conversation} ${line.turn}`} run={run} line={line} onSent={lookAgain} />
      ))}
    </>
  );
}

function waitingInWords(count: number): string {
  if (count === 0) return "No worker is waiting. Workers who write to you appear here.";
  return count === 1 ? "1 worker is waiting." : `${count} workers are waiting.`;
}

interface Props {
  run: string;
  line: WaitingForWizard;
  onSent: () => void;
}

function Waiting({ run, line, onSent }: Props) {
  const { token, onUnauthorised } = useContext(ResearcherContext);
  const [text, setText] = useState("");
  const [busy, setBusy] = useState(false);
  const [failure, setFailure] = useState<string | null>(null);
  const answer = async () => {
    if (busy || text.trim() === "") {
      return;
    }
    setBusy(true);
    setFailure(null);
    try {
      const { conversation, turn } = line;
      await send(
        "POST",
        apiAddress("/api/desk/runs/{run}/wizard", { run }),
        { conversation, turn, text },
        token,
      );
      onSent();
    } catch (error) {
      if (error instanceof Unauthorised) {
        onUnauthorised();
      }
      setFailure(error instanceof Failed ? error.message : String(error));
    } finally {
      setBusy(false);
    }
  };
  const field = `answer-${line.conversation}`;
  return (
    <section class="box wizard" aria-label={`Conversation ${line.conversation}`}>
      <p class="small soft">
        {line.system} · {Math.ceil(line.seconds_left)} s left
      </p>
      {line.persona.length > 0 && (
        <div class="wizard-persona">
          <p class="label">You are</p>
          <ul>
            {line.persona.map((sentence) => (
              <li key={sentence}>{sentence}</li>
            ))}
          </ul>
        </div>
      )}
      <div class="wizard-talk">
        {line.turns.map((turn, index) => (
          <div key={index} class={`line line-${turn.author}`}>
            <span class="unseen">{turn.author === "worker" ? "Worker: " : "You: "}</span>
            <p>{turn.text}</p>
          </div>
        ))}
      </div>
      <form
        class="flow-small"
        onSubmit={(event) => {
          event.preventDefault();
          void answer();
        }}
      >
        <label class="label" for={field}>
          Your answer
        </label>
        <textarea
          id={field}
          class="input"
          rows={2}
          value={text}
          onInput={({ currentTarget }) => setText(currentTarget.value)}
        />
        <Button type="submit" off={text.trim() === ""} busy={busy}>
          {busy ? "Sending…" : "Answer"}
        </Button>
      </form>
      {failure && <p role="alert">{failure}</p>}
    </section>
  );
}
