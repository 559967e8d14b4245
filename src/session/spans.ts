import type { RunRecord } from '../report/record/line.ts';
import { type OtlpRequest, otlpRequests, traceParent } from '../report/record/otlp.ts';
import { textIn, within } from '../shell/decode.ts';
import { revealed, Secret } from '../shell/secret.ts';
import { withoutEnd } from '../shell/text.ts';
import type { Context } from './context.ts';
import type { RunOutput } from './output.ts';

type Env = Context['env'];

/** Where spans are sent to. */
interface SpanTarget {
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
function spanTarget(env: Env): SpanTarget | undefined {
  if (setting(env, 'OTEL_SDK_DISABLED')?.toLowerCase() === 'true') return undefined;
  if (setting(env, 'OTEL_TRACES_EXPORTER') === 'none') return undefined;
  const all = setting(env, 'OTEL_EXPORTER_OTLP_ENDPOINT');
  const url =
    setting(env, 'OTEL_EXPORTER_OTLP_TRACES_ENDPOINT') ??
    (all === undefined ? undefined : `${withoutEnd(all, '/')}/v1/traces`);
  if (url === undefined) return undefined;
  return { url, headers: spanHeaders(env), service: setting(env, 'OTEL_SERVICE_NAME') ?? 'kbuild' };
}

/** All requests together may take so long, in ms. */
const PATIENCE_MS = 5000;
/** Of an answer, so many bytes are read. */
const ANSWER_BYTES = 64 * 1024;

/** The beginning of an answer; nothing of it is kept open. */
async function beginningOf({ body }: Response): Promise<string> {
  if (body === null) return '';
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  const chunks: Uint8Array[] = [];
  for (let length = 0; length < ANSWER_BYTES;) {
    const { done, value } = await reader.read();
    if (done) break;
    chunks.push(value);
    length += value.length;
  }
  await reader.cancel();
  return Buffer.concat(chunks).toString();
}

/** Why an endpoint did not take all spans, in its own words; empty: it took them. */
function rejectedIn(answer: string): string {
  try {
    return textIn(within(JSON.parse(answer), 'partialSuccess')['errorMessage'], '');
  } catch {
    return '';
  }
}

/** @throws why the request failed */
async function post({ url, headers }: SpanTarget, body: OtlpRequest, signal: AbortSignal): Promise<void> {
  const own = Object.entries(headers).map(([name, value]): [string, string] => [name, revealed(value)]);
  const response = await fetch(url, {
    method: 'POST',
    headers: [...own, ['content-type', 'application/json'] as [string, string]],
    body: JSON.stringify(body),
    // The headers are for this endpoint alone.
    redirect: 'manual',
    signal,
  });
  const answer = await beginningOf(response);
  if (!response.ok) throw new Error(`it answers with status ${String(response.status)}`);
  const rejected = rejectedIn(answer);
  if (rejected !== '') throw new Error(rejected);
}

/** What stands behind `fetch failed`. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  if (error.name === 'TimeoutError') return `no answer within ${String(PATIENCE_MS / 1000)} s`;
  return error.cause instanceof Error && error.cause.message !== '' ? error.cause.message : error.message;
}

/**
 * Sends the spans of a run where the environment says so (OTEL_EXPORTER_OTLP_ENDPOINT), within 5 s in all. Never
 * rejects: what fails is in the log, and on stderr with `-v`.
 */
export async function sendSpans(
  { env, err }: Pick<Context, 'env' | 'err'>,
  output: Pick<RunOutput, 'log' | 'isVerbose'>,
  record: RunRecord,
): Promise<void> {
  const target = spanTarget(env);
  const parent = traceParent(env['TRACEPARENT']);
  // The beginner of the trace has decided that it is not recorded.
  if (target === undefined || parent?.isSampled === false) return;
  const requests = otlpRequests(record, { service: target.service, parent });
  const signal = AbortSignal.timeout(PATIENCE_MS);
  let sent = 0;
  try {
    for (const request of requests) {
      await post(target, request, signal);
      sent += 1;
    }
    output.log({ kind: 'spans-sent', to: target.url, requests: sent });
  } catch (error) {
    const all = `${String(sent)} of ${String(requests.length)} requests`;
    const summary = `the spans of this run were not all sent to ${target.url} (${all}): ${reasonOf(error)}`;
    output.log({ kind: 'spans-not-sent', summary });
    if (output.isVerbose) err(`${summary}\n`);
  }
}
