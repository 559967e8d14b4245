import { describe, expect, test } from 'vitest';
import { otlpRequests, traceParent } from '../../../src/report/record/otlp.ts';
import { readRecord } from '../../../src/report/record/read.ts';
import { timelineOf } from '../../../src/report/record/timeline.ts';
import { playedRecord } from '../../fakes/played-record.ts';
import { FAILED_RUN, recordText } from '../../fakes/record.ts';

const record = readRecord(recordText(FAILED_RUN), 'it');
const PARENT = traceParent('00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01');

const spansOf = (text: string, parent: ReturnType<typeof traceParent>) =>
  otlpRequests(readRecord(text, 'it'), { service: 'kbuild', parent }).flatMap(
    ({ resourceSpans }) => resourceSpans[0]!.scopeSpans[0]!.spans,
  );

describe('the spans of a run as OTLP', () => {
  test('are those of its trace, each part of its parent', () => {
    const spans = spansOf(recordText(FAILED_RUN), PARENT);
    const { spans: own } = timelineOf(record);
    expect(spans.map(({ name }) => name)).toEqual(own.map(({ name }) => name));
    const ids = spans.map(({ spanId }) => spanId);
    expect(new Set(ids).size).toBe(ids.length);
    expect(spans.map(({ parentSpanId }) => parentSpanId)).toEqual(
      own.map(({ parent }) => (parent === undefined ? PARENT!.spanId : ids[parent])),
    );
    for (const span of spans) {
      expect(span.traceId).toBe(PARENT!.traceId);
      expect(span.spanId).toMatch(/^[0-9a-f]{16}$/);
    }
  });

  test('have times in ns as text, attributes, and the status of what failed', () => {
    expect(
      spansOf(recordText(FAILED_RUN), PARENT).find(({ name, status }) => name === 'Join workers' && status.code === 2),
    ).toEqual({
      traceId: PARENT!.traceId,
      spanId: expect.any(String) as string,
      parentSpanId: expect.any(String) as string,
      name: 'Join workers',
      kind: 1,
      startTimeUnixNano: '1795279909010000000',
      endTimeUnixNano: '1795279929020000000',
      attributes: [
        { key: 'kbuild.phase', value: { stringValue: 'join' } },
        { key: 'kbuild.failure', value: { stringValue: 'w2: status 1: kubeadm join' } },
        { key: 'kbuild.exitCode', value: { intValue: '4' } },
        { key: 'kbuild.kind', value: { stringValue: 'host' } },
        { key: 'kbuild.outcome', value: { stringValue: 'failed' } },
        { key: 'kbuild.host', value: { stringValue: 'w2' } },
      ],
      status: { code: 2, message: 'w2: status 1: kubeadm join' },
    });
  });

  test('are a trace of their own without a parent: the same one when they are sent again', () => {
    const [first, again] = [spansOf(recordText(FAILED_RUN), undefined), spansOf(recordText(FAILED_RUN), undefined)];
    expect(first[0]).not.toHaveProperty('parentSpanId');
    expect(first[0]!.traceId).toMatch(/^[0-9a-f]{32}$/);
    expect(again).toEqual(first);
  });

  test('go in requests that collectors take: at most 1000 spans, less than 4 MiB', () => {
    const requests = otlpRequests(readRecord(playedRecord(200), 'it'), { service: 'kbuild', parent: undefined });
    expect(requests.length).toBeGreaterThan(3);
    for (const request of requests) {
      expect(request.resourceSpans[0]!.scopeSpans[0]!.spans.length).toBeLessThanOrEqual(1000);
      expect(JSON.stringify(request).length).toBeLessThan(4 * 1024 * 1024);
    }
  });

  test('name the service and its version', () => {
    const [request] = otlpRequests(record, { service: 'clusters', parent: undefined });
    expect(request!.resourceSpans[0]!.resource.attributes).toEqual([
      { key: 'service.name', value: { stringValue: 'clusters' } },
      { key: 'service.version', value: { stringValue: '0.1.0' } },
    ]);
  });
});

test.each([
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00', { isSampled: false }],
  ['00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-03', { isSampled: true }],
  ['cc-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more', { isSampled: true }],
])('%s is a parent', (text, expected) => expect(traceParent(text)).toMatchObject(expected));

test.each([
  undefined,
  '',
  'no',
  '00-00000000000000000000000000000000-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-0000000000000000-01',
  'ff-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
  '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01-more',
  '00-0AF7651916CD43DD8448EB211C80319C-b7ad6b7169203331-01',
])('%s is no parent', (text) => expect(traceParent(text)).toBeUndefined());
