import { useEffect, useState } from "preact/hooks";
import { Button } from "../../design/Button";
import { Code } from "../Code";
import { Heading } from "../Heading";
import { useTexts, useTitle } from "../hooks";
import { Marked } from "../Marked";
import { OwnData } from "../OwnData";
import { Paragraphs } from "../Paragraphs";
import { goTo, ReturnLink } from "../ReturnLink";
import type { StudyCard } from "../session/protocol";
import type { Screen } from "../session/reducer";
import { TASKS } from "../tasks";

interface Props {
  screen: Extract<Screen, { name: "done" }>;
  study: StudyCard;
}

/** Thanks, and how the worker gets what was promised. */
export function Done({ screen: { code, returnTo, debriefing }, study }: Props) {
  const { say } = useTexts();
  const [withdrawn, setWithdrawn] = useState(false);
  useTitle(say("done.tab"));
  return (
    <div class="page page-still">
      <div class="panel flow">
        <div>
          <div class="done-head">
            <svg class="done-mark" viewBox="0 0 48 48" aria-hidden="true">
              <circle cx="24" cy="24" r="22" />
              <path d="m15 25 6.5 6.5L34 18" />
            </svg>
            <Heading>{say("done.title")}</Heading>
          </div>
          {!withdrawn && <p class="lead">{say(TASKS[study.task].done)}</p>}
        </div>
        <Code code={code} hasReturn={returnTo !== null} />
        {returnTo && <Return to={returnTo} byItself={!debriefing && !study.withdrawal_days} />}
        {debriefing && (
          <section class="flow-small">
            <h2>{say("done.debriefing")}</h2>
            <Paragraphs text={debriefing} />
          </section>
        )}
        {study.withdrawal_days && <OwnData days={study.withdrawal_days} onGone={() => setWithdrawn(true)} />}
        {study.contact && (
          <p class="soft small">
            <Marked of="done.contact" values={{ contact: study.contact }} />
          </p>
        )}
      </div>
    </div>
  );
}

const SECONDS = 5;

/** The way back. Taken by itself after some seconds, unless the worker stays or has something to read. */
function Return({ to, byItself }: { to: string; byItself: boolean }) {
  const { say } = useTexts();
  const [left, setLeft] = useState(byItself ? SECONDS : null);
  useEffect(() => {
    if (left === null) {
      return undefined;
    }
    const timer = setTimeout(() => {
      if (left > 1) {
        setLeft(left - 1);
      } else if (!goTo(to)) {
        setLeft(null);
      }
    }, 1_000);
    return () => clearTimeout(timer);
  }, [left, to]);
  return (
    <div class="flow-small">
      <p>{say("done.back")}</p>
      <div class="actions">
        <ReturnLink to={to} />
        {left !== null && (
          <Button kind="secondary" onClick={() => setLeft(null)}>
            {say("done.stay")}
          </Button>
        )}
      </div>
      {left !== null && <p class="soft small">{say("done.returning", { n: left })}</p>}
    </div>
  );
}
