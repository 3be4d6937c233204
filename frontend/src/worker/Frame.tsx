import type { ComponentChildren } from "preact";
import { useEffect, useState } from "preact/hooks";
import { Button } from "../design/Button";
import { Progress, Steps } from "../design/Steps";
import { Brand } from "./Brand";
import { Explanation } from "./Explanation";
import { useSession, useTexts } from "./hooks";
import { LeaveDialog } from "./LeaveDialog";
import { ResearchersWords } from "./ResearchersWords";
import type { Screen } from "./session/reducer";
import { TASKS } from "./tasks";
import { isTextKey } from "./texts/words";

const CAN_LEAVE = new Set<Screen["name"]>([
  "questionnaire",
  "tutorial",
  "topic",
  "chat",
  "choice",
  "rating",
  "quiz",
  "feedback",
]);

/** What surrounds every screen: the header, how the connection stands, what was refused. */
export function Frame({ children }: { children: ComponentChildren }) {
  const session = useSession();
  const { say } = useTexts();
  const { connection, explained, notice, screen, study } = session.state;
  const [leaving, setLeaving] = useState(false);
  const canLeave = CAN_LEAVE.has(screen.name);
  // Whoever has left, or is done elsewhere, is asked no more.
  useEffect(() => {
    if (!canLeave) {
      setLeaving(false);
    }
  }, [canLeave]);
  const now = "conversation" in screen ? screen.conversation : null;
  const Stand = study && TASKS[study.task].chats ? Steps : Progress;
  const refusal = notice && `notice.${notice.code}`;
  return (
    <div class={`frame frame-${screen.name}`}>
      <header class="top">
        <Brand />
        {now !== null && study && (
          <div class="top-steps">
            <p class="small">{say(TASKS[study.task].frame, { now, all: study.conversations })}</p>
            {study.conversations > 1 && <Stand now={now} of={study.conversations} />}
          </div>
        )}
        {canLeave && (
          <Button kind="quiet" onClick={() => setLeaving(true)}>
            <span class="top-short">{say("frame.leave")}</span>
            <span class="top-long">{say("frame.leave_study")}</span>
          </Button>
        )}
      </header>
      <div class="news" role="status">
        {connection === "lost" && screen.name !== "loading" && (
          <p class="banner">
            <span class="banner-pulse" aria-hidden="true" />
            {say(session.blocked ? "waiting.blocked" : "frame.lost")}
          </p>
        )}
      </div>
      <ResearchersWords />
      <div class="alert" role="alert">
        {refusal && (
          <div class="toast">
            <p>{say(isTextKey(refusal) ? refusal : "notice.other")}</p>
            <button
              type="button"
              class="toast-close"
              aria-label={say("frame.close")}
              onClick={() => session.dismiss()}
            >
              ×
            </button>
          </div>
        )}
      </div>
      <main class="main">
        {explained !== null && (
          <div class="page page-above">
            <Explanation of="tutorial.right" why={explained} />
          </div>
        )}
        {children}
      </main>
      {leaving && canLeave && <LeaveDialog onClose={() => setLeaving(false)} />}
    </div>
  );
}
