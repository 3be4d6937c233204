import { alternatives, freeParts, resolved, type Schema } from "../studies/settings";

/** A bot's endpoint as it is sent. */
export interface Endpoint extends Record<string, unknown> {
  kind: string;
}

/** A service or program that can answer as a bot: a kind of endpoint, with its usual address and key. */
export interface Service {
  id: string;
  kind: string;
  name: string;
  /** What it is, on one line. */
  about: string;
  /** A command that starts such a server; empty where none has to be started. */
  example: string;
  address?: string;
  /** The usual environment variable of its key. */
  key?: string;
}

/** Services with an address of their own; those without come from the server, one for each kind. */
const KNOWN: Service[] = [
  {
    id: "openai.com",
    kind: "openai",
    name: "OpenAI",
    about: "GPT models, at OpenAI’s own address.",
    example: "",
    address: "https://api.openai.com/v1",
    key: "OPENAI_API_KEY",
  },
  {
    id: "mistral",
    kind: "openai",
    name: "Mistral",
    about: "Mistral’s models, at its own address.",
    example: "",
    address: "https://api.mistral.ai/v1",
    key: "MISTRAL_API_KEY",
  },
  {
    id: "openrouter",
    kind: "openai",
    name: "OpenRouter",
    about: "Models of many providers behind one address and one key.",
    example: "",
    address: "https://openrouter.ai/api/v1",
    key: "OPENROUTER_API_KEY",
  },
  {
    id: "ollama",
    kind: "openai",
    name: "Ollama on the server’s machine",
    about: "Open models that Ollama runs beside Candor: free, and nothing leaves the machine.",
    example: "ollama run llama3.2",
    address: "http://127.0.0.1:11434/v1",
  },
];

/** The usual variables of keys of kinds that are one service each. */
const KEYS: Record<string, string> = {
  anthropic: "ANTHROPIC_API_KEY",
  gemini: "GEMINI_API_KEY",
  bedrock: "AWS_BEARER_TOKEN_BEDROCK",
};

/** Hosts that connect by themselves, which a study cannot describe: its schema has the other kinds. */
export const DIAL_IN: Service = {
  id: "dial-in",
  kind: "dial-in",
  name: "A bot host that connects to this server",
  about: "For models on a machine behind a firewall: it needs no open port, only a token for hosts.",
  example:
    "candor host hf:models/my-bot \\\n  --name mine \\\n  --server wss://candor.example.org \\\n  --token TOKEN",
};

/** What is asked of a bot first; everything else is under Advanced. */
export const FIRST: ReadonlySet<string> = new Set(["urls", "model", "key"]);

function endpointSchemas(root: Schema): Schema[] {
  const bots = resolved(root.properties?.bots ?? {}, root);
  return alternatives(freeParts(bots) ?? {}, root);
}

/** Return the schema of a kind of endpoint, from that of a study. */
export function endpointSchema(root: Schema, kind: string): Schema {
  return endpointSchemas(root).find((each) => each.properties?.kind?.const === kind) ?? {};
}

/** Return the services to choose from: large ones first, then one for each kind of endpoint. */
export function servicesOf(root: Schema): Service[] {
  const kinds = endpointSchemas(root).flatMap((each): Service[] => {
    const kind = String(each.properties?.kind?.const);
    const [address] = (each.properties?.urls?.default ?? []) as string[];
    const key = KEYS[kind];
    const help = each["x-kind"] ?? { name: kind, about: "", example: "" };
    return [{ id: kind, kind, ...help, ...(address ? { address } : {}), ...(key ? { key } : {}) }];
  });
  const own = (service: Service) => service.key !== undefined;
  const [openai, ...more] = KNOWN;
  return [...(openai ? [openai] : []), ...kinds.filter(own), ...more, ...kinds.filter((one) => !own(one))];
}

/** Return the service that an endpoint is at: one whose address it has, or the one for its kind. */
export function serviceOf(endpoint: Endpoint, services: Service[]): Service | undefined {
  const same = services.filter(({ kind }) => kind === endpoint.kind);
  const [url] = Array.isArray(endpoint.urls) ? endpoint.urls : [];
  return same.find(({ id, address }) => id !== endpoint.kind && address === url) ?? same.find(isOfKind);
}

function isOfKind({ id, kind }: Service): boolean {
  return id === kind;
}

/** Return the endpoint at another service: settings stay as long as the kind does. */
export function movedTo(endpoint: Endpoint | undefined, service: Service, schema: Schema): Endpoint {
  const same = endpoint?.kind === service.kind;
  const { urls: _urls, key: _key, ...rest } = endpoint ?? { kind: service.kind };
  const { model } = rest as { model?: unknown };
  const kept = same ? rest : model !== undefined && schema.properties?.model ? { model } : {};
  // An address that the kind has by itself need not be written.
  const isDefault = schema.properties?.urls?.default !== undefined;
  return {
    ...kept,
    kind: service.kind,
    ...(service.address && !isDefault ? { urls: [service.address] } : {}),
    ...(service.key ? { key: service.key } : {}),
  };
}

/** A schema with some of its settings only. */
export function picked(schema: Schema, wanted: (setting: string) => boolean): Schema {
  const properties = Object.entries(schema.properties ?? {}).filter(
    ([name]) => name !== "kind" && wanted(name),
  );
  return { ...schema, properties: Object.fromEntries(properties) };
}
