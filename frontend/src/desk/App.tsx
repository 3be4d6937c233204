import { useState } from "preact/hooks";
import { Wordmark } from "../design/Wordmark";
import { AssignmentView } from "./AssignmentView";
import { forgetToken, keepToken, rememberedToken } from "./access";
import { Link } from "./Link";
import { Breadcrumbs, Navigation } from "./Navigation";
import { AuditView } from "./people/AuditView";
import { PeopleView } from "./people/PeopleView";
import { ResearcherContext } from "./polled";
import { RunsView } from "./RunsView";
import { RehearsalView } from "./rehearsal/RehearsalView";
import { ReportView } from "./report/ReportView";
import { GoContext, type Route, useRoute } from "./route";
import { RunView } from "./run/RunView";
import { StudiesView } from "./studies/StudiesView";
import { StudyView } from "./studies/StudyView";
import { TokenForm } from "./TokenForm";

/** The researcher's page. */
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
          <Link to={{ page: "runs" }} plain>
            <Wordmark />
          </Link>
          <Navigation route={route} />
        </header>
        <main class="desk-main">
          <Breadcrumbs route={route} />
          <View route={route} />
        </main>
      </GoContext.Provider>
    </ResearcherContext.Provider>
  );
}

function View({ route }: { route: Route }) {
  switch (route.page) {
    case "runs":
      return <RunsView />;
    case "run":
      return <RunView key={route.run} run={route.run} />;
    case "report":
      return <ReportView key={route.run} run={route.run} />;
    case "rehearsal":
      return <RehearsalView key={route.run} run={route.run} />;
    case "assignment":
      return <AssignmentView key={route.assignment} run={route.run} assignment={route.assignment} />;
    case "studies":
      return <StudiesView />;
    case "study":
      return <StudyView key={route.study} study={route.study} />;
    case "people":
      return <PeopleView />;
    case "audit":
      return <AuditView />;
  }
}
