import { Secret } from '../../shell/secret.ts';
import { withoutEnd } from '../../shell/text.ts';
import type { Context } from '../context.ts';

type Env = Context['env'];

/** Where spans are sent to. */
export interface SpanTarget {
  readonly url: string;
  readonly headers: Readonly<Record<string, Secret>>;
  readonly service: string;
}

/** An empty variable counts as one that is not set, as OpenTelemetry has it. */
const setting = (env: Env, name: string): string | undefined => {
  const value = env[name]?.trim();
  return value === '' ? undefined : value;
};

const decoded = (text: string): string => {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
};

/** `api-key=abc,x-tenant=b%20c` */
const headersIn = (text = ''): readonly (readonly [name: string, value: Secret])[] =>
  text.split(',').flatMap((one) => {
    const at = one.indexOf('=');
    const name = one.slice(0, Math.max(at, 0)).trim();
    return name === '' ? [] : [[name.toLowerCase(), Secret.of(decoded(one.slice(at + 1).trim()))] as const];
  });

/** The headers of requests with spans: their values are secrets. Those for traces win over those for everything. */
export const spanHeaders = (env: Env): Readonly<Record<string, Secret>> =>
  Object.fromEntries([
    ...headersIn(setting(env, 'OTEL_EXPORTER_OTLP_HEADERS')),
    ...headersIn(setting(env, 'OTEL_EXPORTER_OTLP_TRACES_HEADERS')),
  ]);

/** Where the environment wants spans; undefined: nowhere. */
export function spanTarget(env: Env): SpanTarget | undefined {
  if (setting(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  if (setting(env, 'OTEL_TRACES_EXPORTER') === 'none') return undefined;
  const all = setting(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    setting(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ??
    (all === undefined ? undefined : `${withoutEnd(all, '/')}/v1/traces`);
  if (url === undefined) return undefined;
  return { url, headers: spanHeaders(env), service: setting(env, 'OTEL_SERVICE_NAME') ?? 'kbuild' };
}
