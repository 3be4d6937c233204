import { useState } from "preact/hooks";
import { Wordmark } from "../design/Wordmark";
import { forgetToken, keepToken, rememberedToken } from "./access";
import { AssignmentView } from "./AssignmentView";
import { Link, Trail } from "./Link";
import { DeskContext } from "./live";
import { usePlace } from "./place";
import { RunView } from "./RunView";
import { RunsView } from "./RunsView";
import { TokenForm } from "./TokenForm";

/** The researcher's page: runs, one run, one assignment. */
export function App() {
  const [token, setToken] = useState(rememberedToken);
  const [refused, setRefused] = useState(false);
  const [place, go] = usePlace();
  if (token === null) {
    return (
      <TokenForm
        refused={refused}
        onToken={(given) => {
          keepToken(given);
          setRefused(false);
          setToken(given);
        }}
      />
    );
  }
  const onUnauthorised = () => {
    forgetToken();
    setRefused(true);
    setToken(null);
  };
  return (
    <DeskContext.Provider value={{ token, onUnauthorised }}>
      <header class="desk-top">
        <Link to={{ run: null, assignment: null }} go={go} plain>
          <Wordmark />
        </Link>
        <Trail place={place} go={go} />
      </header>
      <main class="desk-main">
        {place.run && place.assignment ? (
          <AssignmentView key={place.assignment} assignment={place.assignment} />
        ) : place.run ? (
          <RunView key={place.run} run={place.run} go={go} />
        ) : (
          <RunsView go={go} />
        )}
      </main>
    </DeskContext.Provider>
  );
}
