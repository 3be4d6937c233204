import { useState } from "preact/hooks";
import { Wordmark } from "../design/Wordmark";
import { AssignmentView } from "./AssignmentView";
import { forgetToken, keepToken, rememberedToken } from "./access";
import { Breadcrumbs, Link } from "./Link";
import { ResearcherContext } from "./polled";
import { RunsView } from "./RunsView";
import { RunView } from "./RunView";
import { GoContext, useRoute } from "./route";
import { TokenForm } from "./TokenForm";

/** The researcher's page: runs, one run, one assignment. */
export function App() {
  const [token, setToken] = useState(rememberedToken);
  const [refused, setRefused] = useState(false);
  const [route, go] = useRoute();
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
    <ResearcherContext.Provider value={{ token, onUnauthorised }}>
      <GoContext.Provider value={go}>
        <header class="desk-top">
          <Link to={{ run: null, assignment: null }} plain>
            <Wordmark />
          </Link>
          <Breadcrumbs route={route} />
        </header>
        <main class="desk-main">
          {route.run && route.assignment ? (
            <AssignmentView key={route.assignment} assignment={route.assignment} />
          ) : route.run ? (
            <RunView key={route.run} run={route.run} />
          ) : (
            <RunsView />
          )}
        </main>
      </GoContext.Provider>
    </ResearcherContext.Provider>
  );
}
