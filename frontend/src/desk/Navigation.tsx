import { useContext } from "preact/hooks";
import { AccountContext, may } from "./account";
import { Link } from "./Link";
import { type Place, placesFor } from "./places";
import type { Route } from "./route";

/** The desk's places, as far as they are open to whoever is here. */
export function Navigation({ route }: { route: Route }) {
  const account = useContext(AccountContext);
  const places = placesFor((permission) => may(account, permission));
  return (
    <nav aria-label="Desk" class="places">
      <ul>
        {places.map(({ name, page }) => (
          <li key={name}>
            <Link
              to={{ page }}
              here={page !== placeOf(route) ? undefined : page === route.page ? "page" : "true"}
            >
              {name}
            </Link>
          </li>
        ))}
      </ul>
    </nav>
  );
}

/** The place that a page belongs to; none where there is no such page. */
function placeOf(route: Route): Place | null {
  if ("run" in route) {
    return "runs";
  }
  switch (route.page) {
    case "study":
      return "studies";
    case "unknown":
      return null;
    default:
      return route.page;
  }
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

/** Within a run its tabs say where one is. */
function crumbsOf(route: Route): Crumb[] {
  if ("run" in route) {
    return [
      { name: "Runs", to: { page: "runs" } },
      { name: route.run, to: { page: "run", run: route.run } },
    ];
  }
  return route.page === "study"
    ? [
        { name: "Studies", to: { page: "studies" } },
        { name: route.study, to: route },
      ]
    : [];
}
