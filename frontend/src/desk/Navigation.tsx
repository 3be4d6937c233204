import { useContext } from "preact/hooks";
import { AccountContext, may, type Permission } from "./account";
import { Link } from "./Link";
import type { Route } from "./route";

const PLACES: { name: string; to: Route; pages: Route["page"][]; for: Permission }[] = [
  { name: "Runs", to: { page: "runs" }, pages: ["runs"], for: "see_runs" },
  { name: "Studies", to: { page: "studies" }, pages: ["studies"], for: "see_studies" },
  { name: "People", to: { page: "people" }, pages: ["people"], for: "manage_people" },
  { name: "Audit log", to: { page: "audit" }, pages: ["audit"], for: "read_audit_log" },
];

/** The desk's places, as far as they are open to whoever is here. */
export function Navigation({ route }: { route: Route }) {
  const account = useContext(AccountContext);
  const places = PLACES.filter((place) => may(account, place.for));
  return (
    <nav aria-label="Desk" class="places">
      <ul>
        {places.map(({ name, to, pages }) => (
          <li key={name}>
            <Link to={to} here={pages.includes(route.page)}>
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The way from a place to what is shown of it; nothing where the place itself is shown. */
export function Breadcrumbs({ route }: { route: Route }) {
  const crumbs = crumbsOf(route);
  return (
    crumbs.length > 0 && (
      <nav aria-label="Where you are" class="breadcrumbs">
        <ol>
          {crumbs.map(({ name, to }, index) => (
            <li key={name}>
              {index === crumbs.length - 1 ? (
                <span aria-current="page">{name}</span>
              ) : (
                <Link to={to}>{name}</Link>
              )}
            </li>
          ))}
        </ol>
      </nav>
    )
  );
}

interface Crumb {
  name: string;
  to: Route;
}

function crumbsOf(route: Route): Crumb[] {
  if (route.page === "study") {
    return [
      { name: "Studies", to: { page: "studies" } },
      { name: route.study, to: route },
    ];
  }
  if (!("run" in route)) {
    return [];
  }
  const run: Crumb[] = [
    { name: "Runs", to: { page: "runs" } },
    { name: route.run, to: { page: "run", run: route.run } },
  ];
  switch (route.page) {
    case "report":
      return [...run, { name: "Report", to: route }];
    case "rehearsal":
      return [...run, { name: "Rehearsal", to: route }];
    case "export":
      return [...run, { name: "Export", to: route }];
    case "recruiting":
      return [...run, { name: "Recruiting", to: route }];
    case "wizard":
      return [...run, { name: "Wizard", to: route }];
    case "assignment":
      return [...run, { name: route.assignment, to: route }];
    default:
      return run;
  }
}
