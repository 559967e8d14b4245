import { createHash } from 'node:crypto';
import type { RunRecord } from './line.ts';
import type { Outcome, Span } from './spans.ts';
import { timelineOf } from './timeline.ts';

/** The span that a run is part of, as the environment's TRACEPARENT names it. Ids in lower-case hex. */
interface TraceParent {
  readonly traceId: string;
  readonly spanId: string;
  readonly isSampled: boolean;
}

/** W3C Trace Context's `traceparent`; undefined where the text is none. */
export function traceParent(text: string | undefined): TraceParent | undefined {
  const [, version, traceId, spanId, flags, rest] =
    /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/.exec(text?.trim() ?? '') ?? [];
  if (traceId === undefined || version === 'ff' || (version === '00' && rest !== undefined)) return undefined;
  if (/^0+$/.test(traceId) || /^0+$/.test(spanId!)) return undefined;
  return { traceId, spanId: spanId!, isSampled: (Number.parseInt(flags!, 16) & 1) === 1 };
}

interface Attribute {
  readonly key: string;
  readonly value: { readonly stringValue: string } | { readonly intValue: string };
}

/** A span of OTLP/JSON: ids are hex, times are ns in text. */
interface OtlpSpan {
  readonly traceId: string;
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: 1;
  readonly startTimeUnixNano: string;
  readonly endTimeUnixNano: string;
  readonly attributes: readonly Attribute[];
  readonly status: { readonly code: 0 | 1 | 2; readonly message?: string };
}

/** The body of a request to `/v1/traces`. */
export interface OtlpRequest {
  readonly resourceSpans: readonly {
    readonly resource: { readonly attributes: readonly Attribute[] };
    readonly scopeSpans: readonly {
      readonly scope: { readonly name: string; readonly version: string };
      readonly spans: readonly OtlpSpan[];
    }[];
  }[];
}

/** So many spans are sent in one request: some collectors take no more than 4 MiB. */
const SPANS_AT_ONCE = 1000;

const hash = (text: string, length: number): string => createHash('sha256').update(text).digest('hex').slice(0, length);

const attribute = (key: string, value: string | number): Attribute => ({
  key,
  value: Number.isInteger(value) ? { intValue: String(value) } : { stringValue: String(value) },
});

/** Without the error of binary fractions: ms have up to three digits behind the point here. */
const nanoseconds = (ms: number): string => String(BigInt(Math.round(ms * 1000)) * 1000n);

const STATUS: Readonly<Record<Outcome, 0 | 1 | 2>> = { done: 1, 'cut off': 0, failed: 2 };

/** The attributes of a span. */
function attributesOf({ kind, host, outcome, attributes }: Span): readonly Attribute[] {
  const given = Object.entries({ ...attributes, kind, outcome, ...(host === undefined ? {} : { host }) });
  return given.map(([key, value]) => attribute(`kbuild.${key}`, value));
}

function statusOf({ outcome, attributes }: Span): OtlpSpan['status'] {
  const failure = attributes['failure'] ?? (outcome === 'failed' ? attributes['result'] : undefined);
  return { code: STATUS[outcome], ...(failure === undefined ? {} : { message: String(failure) }) };
}

/**
 * The spans of a run as requests of OTLP/HTTP JSON, parents before their parts. Ids follow from the run: a run
 * that is sent twice is one trace. Pure.
 */
export function otlpRequests(
  record: RunRecord,
  { service, parent }: { readonly service: string; readonly parent: TraceParent | undefined },
): readonly OtlpRequest[] {
  const { head } = record;
  const traceId = parent?.traceId ?? hash(`trace ${head.run}`, 32);
  const idOf = (id: number): string => hash(`span ${head.run} ${String(id)}`, 16);
  const spans = timelineOf(record).spans.map((span): OtlpSpan => {
    const parentId = span.parent === undefined ? parent?.spanId : idOf(span.parent);
    return {
      traceId,
      spanId: idOf(span.id),
      ...(parentId === undefined ? {} : { parentSpanId: parentId }),
      name: span.name,
      kind: 1,
      startTimeUnixNano: nanoseconds(span.startMs),
      endTimeUnixNano: nanoseconds(span.endMs),
      attributes: attributesOf(span),
      status: statusOf(span),
    };
  });
  const resource = { attributes: [attribute('service.name', service), attribute('service.version', head.kbuild)] };
  const scope = { name: 'kbuild', version: head.kbuild };
  const requests: OtlpRequest[] = [];
  for (let at = 0; at < spans.length; at += SPANS_AT_ONCE)
    requests.push({
      resourceSpans: [{ resource, scopeSpans: [{ scope, spans: spans.slice(at, at + SPANS_AT_ONCE) }] }],
    });
  return requests;
}
