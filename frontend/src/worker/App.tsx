import { useEffect } from "preact/hooks";
import { Frame } from "./Frame";
import { BrokenScreen, Guard } from "./Guard";
import { useSession, useTexts } from "./hooks";
import { useMarkdown } from "./Reply";
import { Chat } from "./screens/Chat";
import { Choice } from "./screens/Choice";
import { Done } from "./screens/Done";
import { Ended } from "./screens/Ended";
import { Feedback } from "./screens/Feedback";
import { Instructions } from "./screens/Instructions";
import { ProblemPage } from "./screens/ProblemPage";
import { Questionnaire } from "./screens/Questionnaire";
import { Quiz } from "./screens/Quiz";
import { Rating } from "./screens/Rating";
import { TakenOver } from "./screens/TakenOver";
import { Topic } from "./screens/Topic";
import { Tutorial } from "./screens/Tutorial";
import { Waiting } from "./screens/Waiting";
import type { Screen, State } from "./session/reducer";

/** The worker's page: one screen at a time, as the session stands. */
export function App() {
  const { problem, state } = useSession();
  const { language, direction } = useTexts();
  useMarkdown(state.study?.display.markdown ?? false);
  useEffect(() => {
    document.documentElement.lang = language;
    document.documentElement.dir = direction;
  }, [language, direction]);
  if (problem) {
    return <ProblemPage problem={problem} />;
  }
  if (state.connection === "taken_over") {
    return <TakenOver />;
  }
  return (
    <Frame>
      <Guard key={keyOf(state.screen)} part={state.screen.name} fallback={<BrokenScreen />}>
        <Current state={state} />
      </Guard>
    </Frame>
  );
}

/** Names a screen: another one is drawn from the start. */
function keyOf(screen: Screen): string {
  const within = "conversation" in screen ? `${screen.conversation}.${screen.attempt}` : "";
  return `${screen.name} ${within}`;
}

function Current({ state }: { state: State }) {
  const { screen, study } = state;
  if (screen.name === "loading" || !study) {
    return <Waiting />;
  }
  const key = "conversation" in screen ? `${screen.conversation}.${screen.attempt}` : "";
  switch (screen.name) {
    case "instructions":
      return <Instructions study={study} />;
    case "questionnaire":
      return <Questionnaire key={screen.part} screen={screen} asked={study.questionnaires[screen.part]} />;
    case "tutorial":
      return <Tutorial key={screen.question.question} card={screen.question} />;
    case "topic":
      return <Topic key={key} screen={screen} study={study} />;
    case "chat":
      return <Chat key={key} chat={screen} study={study} />;
    case "choice":
      return <Choice key={key} screen={screen} study={study} />;
    case "rating":
      return <Rating key={`${key}${screen.side ?? ""}`} screen={screen} study={study} />;
    case "quiz":
      return <Quiz key={key} screen={screen} study={study} />;
    case "feedback":
      return <Feedback study={study} />;
    case "done":
      return <Done screen={screen} study={study} />;
    case "ended":
      return <Ended screen={screen} study={study} />;
  }
}
