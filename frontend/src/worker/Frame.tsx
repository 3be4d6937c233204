import type { ComponentChildren } from "preact";
import { useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Progress, Steps } from "../design/Steps";
import { Wordmark } from "../design/Wordmark";
import { useSession } from "./hooks";
import { LeaveDialog } from "./LeaveDialog";
import { ResearchersWords } from "./ResearchersWords";
import { noticeText } from "./session/problem";
import type { Screen } from "./session/reducer";

const CAN_LEAVE = new Set<Screen["name"]>([
  "questionnaire",
  "tutorial",
  "topic",
  "chat",
  "rating",
  "feedback",
]);

/** What surrounds every screen: the header, how the connection stands, what was refused. */
export function Frame({ children }: { children: ComponentChildren }) {
  const session = useSession();
  const { connection, notice, screen, study } = session.state;
  const [leaving, setLeaving] = useState(false);
  const now = "conversation" in screen ? screen.conversation : null;
  return (
    <div class={`frame frame-${screen.name}`}>
      <header class="top">
        <Wordmark />
        {now !== null && study && (
          <div class="top-steps">
            <p class="small">
              {study.task === "chat" ? "Conversation" : "Number"} {now} of {study.conversations}
            </p>
            {study.task === "chat" ? (
              <Steps now={now} of={study.conversations} />
            ) : (
              <Progress now={now} of={study.conversations} />
            )}
          </div>
        )}
        {CAN_LEAVE.has(screen.name) && (
          <Button kind="plain" onClick={() => setLeaving(true)}>
            Leave<span class="top-long"> the study</span>
          </Button>
        )}
      </header>
      <div class="news" role="status">
        {connection === "lost" && screen.name !== "loading" && (
          <p class="banner">
            <span class="banner-pulse" aria-hidden="true" />
            Connection lost. Your words are safe, we’re reconnecting…
          </p>
        )}
      </div>
      <ResearchersWords />
      <div class="alert" role="alert">
        {notice && (
          <div class="toast">
            <p>{noticeText(notice.code)}</p>
            <button
              type="button"
              class="toast-close"
              aria-label="Close this message"
              onClick={() => session.dismiss()}
            >
              ×
            </button>
          </div>
        )}
      </div>
      <main class="main">{children}</main>
      {leaving && <LeaveDialog onClose={() => setLeaving(false)} />}
    </div>
  );
}
