import { otlpRequests, traceParent, type OtlpRequest } from '../../report/record/otlp.ts';
import type { RunRecord } from '../../report/record/line.ts';
import { revealed } from '../../shell/secret.ts';
import type { Context } from '../context.ts';
import type { RunOutput } from './run-output.ts';
import { spanTarget, type SpanTarget } from './span-target.ts';

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
    const { partialSuccess } = JSON.parse(answer) as { readonly partialSuccess?: { readonly errorMessage?: unknown } };
    return typeof partialSuccess?.errorMessage === 'string' ? partialSuccess.errorMessage : '';
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
 * Sends the spans of a run where the environment says so (OTEL_EXPORTER_OTLP_ENDPOINT), within 5 s in all. Never rejects: what
 * fails is in the log, and on stderr with `-v`.
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
