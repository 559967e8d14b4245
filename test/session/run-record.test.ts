import { chmodSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingHttpHeaders, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { NotConverged } from '../../src/errors.ts';
import type { RunRecord } from '../../src/report/record/line.ts';
import { readRecord } from '../../src/report/record/read.ts';
import { recordsIn } from '../../src/report/record/record-files.ts';
import type { Context } from '../../src/session/context.ts';
import type { Run } from '../../src/session/run.ts';
import { withRun } from '../../src/session/with-run.ts';
import { Secret } from '../../src/shell/secret.ts';
import { traceFaults } from '../fakes/trace-rules.ts';

let folder: string;
let err: string;
const closing: (() => void)[] = [];

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-run-'));
  err = '';
  // No server listens at port 1: the host cannot be reached.
  writeFileSync(
    join(folder, 'inventory.yaml'),
    `name: prod
kubernetes: { version: "1.36.3", endpoint: k8s.example.com }
ssh: { port: 1, configFile: none }
hosts: [{ name: cp1, address: 127.0.0.1, internalAddress: 10.0.0.11, role: control-plane }]
`,
  );
});
afterEach(() => {
  for (const close of closing.splice(0)) close();
  rmSync(folder, { recursive: true });
});

const records = (): string => join(folder, 'state/kbuild/prod/runs');

const contextWith = (env: Context['env'] = {}): Context => ({
  version: '0.1.0',
  out: () => undefined,
  err: (text) => (err += text),
  terminal: undefined,
  env: { HOME: folder, XDG_STATE_HOME: join(folder, 'state'), ...env },
  cwd: folder,
  canAsk: true,
  askHidden: () => Promise.resolve(''),
  ask: () => new Promise((resolve) => setTimeout(() => resolve('y'), 150)),
  onInterrupt: () => () => undefined,
  exit: () => undefined,
  nowMs: () => performance.timeOrigin + performance.now(),
  sleep: () => Promise.resolve(),
});

const run = (
  work: (run: Run) => Promise<number> = () => Promise.resolve(0),
  env: Context['env'] = {},
  flags: object = {},
): Promise<number> => withRun(contextWith(env), flags, { command: 'etcd snapshot save', json: 'events' }, work);

/** The only record of the folder. */
function theRecord(): RunRecord & { readonly path: string; readonly trace: string } {
  const [one, ...others] = recordsIn(records());
  expect(others).toEqual([]);
  return { ...readRecord(readFileSync(one!.path, 'utf8'), one!.path), path: one!.path, trace: one!.trace };
}

const kindsOf = ({ lines }: RunRecord): readonly string[] => lines.map(({ kind }) => kind);

describe('a run', () => {
  test('leaves its record and its trace beside its log, for its owner alone', async () => {
    await run(({ emit, log }) => {
      emit({ kind: 'locked', hosts: 1 });
      log({ host: 'cp1', command: 'observe', status: 0, durationMs: 4, stdout: 'the output' });
      return Promise.resolve(0);
    });
    const record = theRecord();
    expect(record.head).toMatchObject({
      command: 'etcd snapshot save',
      kbuild: '0.1.0',
      cluster: 'prod',
      inventory: join(folder, 'inventory.yaml'),
      log: expect.stringMatching(/\/prod\/.*-etcd-snapshot-save\.log$/) as string,
      process: { pid: process.pid },
      hosts: [{ name: 'cp1', role: 'control-plane', os: 'linux', address: '127.0.0.1' }],
    });
    expect(kindsOf(record)).toEqual([
      ...['connecting', 'unreachable', 'observed', 'hosts-observed', 'cluster-observed'],
      ...['locked', 'command', 'certificates-observed', 'cluster-observed', 'end'],
    ]);
    expect(record.lines.at(-1)).toMatchObject({
      exitCode: 0,
      result: expect.stringMatching(/^done: nothing/) as string,
    });
    expect({ isWhole: record.isWhole, leftOut: record.leftOut }).toEqual({ isWhole: true, leftOut: 0 });
    expect(readFileSync(record.path, 'utf8')).not.toContain('the output');
    expect(traceFaults(readFileSync(record.trace, 'utf8'))).toEqual([]);
    for (const file of [record.path, record.trace]) expect(statSync(file).mode & 0o777).toBe(0o600);
    expect(statSync(records()).mode & 0o777).toBe(0o700);
    expect(readdirSync(records())).toHaveLength(2);
  });

  test('that fails leaves the error with its remedy, and its exit code', async () => {
    const failing = run(() => Promise.reject(new NotConverged('cp1', 'etcd', ['a member'], 'bring it back')));
    await expect(failing).rejects.toThrow('cp1: etcd');
    expect(theRecord().lines).toEqual(
      expect.arrayContaining([
        expect.objectContaining({ kind: 'error', remedy: 'bring it back', exitCode: 5 }),
        expect.objectContaining({ kind: 'end', exitCode: 5 }),
      ]),
    );
  });

  test('hides secrets in its record and its trace, as in its log', async () => {
    await run(({ emit, log, note, onSecret }) => {
      onSecret(Secret.of('hunter2-hunter2'));
      emit({ kind: 'noted', host: 'cp1', summary: 'the password is hunter2-hunter2' });
      log({ host: 'cp1', command: 'login hunter2-hunter2', status: 0, durationMs: 4 });
      note({ kind: 'failure', host: 'cp1', message: 'hunter2-hunter2', cause: '', remedy: '', lastWords: 'token: abcdef.0123456789abcdef', exitCode: 4 }); // prettier-ignore
      return Promise.resolve(0);
    });
    const record = theRecord();
    for (const file of [record.path, record.trace]) {
      const text = readFileSync(file, 'utf8');
      expect(text).not.toMatch(/hunter2|0123456789abcdef/);
      expect(text).toContain('(secret)');
    }
  });

  test('records how long it waited for an answer', async () => {
    await run(async ({ context }) => {
      await context.ask('Carry out this plan? [y/N] ');
      return 0;
    });
    const { lines } = theRecord();
    const waiting = lines.find(({ kind }) => kind === 'waiting');
    expect(waiting).toMatchObject({ what: 'answer', summary: 'Carry out this plan? [y/N]' });
    expect(lines.find(({ kind }) => kind === 'waited')).toMatchObject({ wait: 1 });
  });

  test('of which the process is ended at once has written all that it knew', async () => {
    await run(({ emit }) => {
      emit({ kind: 'interrupted', summary: 'a last word' });
      const before = process.listeners('exit');
      for (const listener of before) if (/flush/.test(listener.name)) listener.call(process, 130);
      expect(readFileSync(recordsIn(records())[0]!.path, 'utf8')).toContain('a last word');
      return Promise.resolve(0);
    });
    expect(process.listeners('exit').some(({ name }) => /flush/.test(name))).toBe(false);
  });

  test('goes on where no record can be written, and says so in one line', async () => {
    mkdirSync(join(folder, 'state/kbuild/prod'), { recursive: true });
    writeFileSync(records(), 'no folder');
    expect(await run()).toBe(0);
    expect(err.match(/record|trace/g)).toEqual(['record']);
    expect(err).toMatch(/^this run leaves no record: /m);
  });

  test('goes on where no trace can be written, and says so in one line', async () => {
    const code = await run(({ runId }) => {
      mkdirSync(join(records(), `${runId}-etcd-snapshot-save.trace.json`));
      return Promise.resolve(0);
    });
    expect(code).toBe(0);
    expect(err.match(/^no trace of this run: .*$/gm)).toHaveLength(1);
    expect(recordsIn(records())).toHaveLength(1);
  });
});

interface Received {
  readonly url: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: string;
}

/** A collector on this machine, which answers so. */
async function collector(
  answer: (server: Server, received: Received) => { readonly status: number; readonly headers?: Record<string, string>; readonly body?: string } | 'silence' = () => ({ status: 200 }), // prettier-ignore
) {
  const received: Received[] = [];
  const server = createServer((request, response) => {
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const one = { url: request.url ?? '', headers: request.headers, body };
      received.push(one);
      const said = answer(server, one);
      if (said === 'silence') return;
      response.writeHead(said.status, said.headers).end(said.body ?? '{}');
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  closing.push(() => {
    server.closeAllConnections();
    server.close();
  });
  return { received, endpoint: `http://127.0.0.1:${String((server.address() as AddressInfo).port)}` };
}

const logText = (): string => {
  const state = join(folder, 'state/kbuild/prod');
  return readdirSync(state)
    .filter((name) => name.endsWith('.log'))
    .map((name) => readFileSync(join(state, name), 'utf8'))
    .join('');
};

describe('the spans of a run', () => {
  test('go to the collector of the environment, with its headers and as part of its trace', async () => {
    const { received, endpoint } = await collector();
    const code = await run(undefined, {
      OTEL_EXPORTER_OTLP_ENDPOINT: `${endpoint}/otel/`,
      OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abc%20def, x-tenant = t1',
      OTEL_EXPORTER_OTLP_TRACES_HEADERS: 'x-tenant=t2',
      OTEL_SERVICE_NAME: 'clusters',
      TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01',
    });
    expect(code).toBe(0);
    expect(received).toHaveLength(1);
    const { url, headers, body } = received[0]!;
    expect(url).toBe('/otel/v1/traces');
    expect(headers).toMatchObject({ 'content-type': 'application/json', 'api-key': 'abc def', 'x-tenant': 't2' });
    const [{ resource, scopeSpans }] = (
      JSON.parse(body) as { resourceSpans: [{ resource: object; scopeSpans: [{ spans: readonly object[] }] }] }
    ).resourceSpans;
    expect(JSON.stringify(resource)).toContain('"clusters"');
    expect(scopeSpans[0].spans[0]).toMatchObject({
      name: 'kbuild etcd snapshot save',
      traceId: '0af7651916cd43dd8448eb211c80319c',
      parentSpanId: 'b7ad6b7169203331',
    });
    expect(logText()).toContain('spans-sent');
  });

  test('go to the endpoint of traces as it stands, where there is one', async () => {
    const { received, endpoint } = await collector();
    await run(undefined, {
      OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${endpoint}/ingest`,
      OTEL_EXPORTER_OTLP_ENDPOINT: 'http://127.0.0.1:1',
    });
    expect(received.map(({ url }) => url)).toEqual(['/ingest']);
  });

  test.each([
    ['no endpoint', {}],
    ['an empty endpoint', { OTEL_EXPORTER_OTLP_ENDPOINT: ' ' }],
    ['OTEL_SDK_DISABLED', { OTEL_SDK_DISABLED: 'TRUE' }],
    ['OTEL_TRACES_EXPORTER=none', { OTEL_TRACES_EXPORTER: 'none' }],
    ['a parent that is not sampled', { TRACEPARENT: '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00' }],
  ])('go nowhere with %s', async (_, env) => {
    const { received, endpoint } = await collector();
    const isAimed = Object.keys(env).some((name) => !name.includes('ENDPOINT'));
    await run(undefined, { ...(isAimed ? { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint } : {}), ...env });
    expect(received).toEqual([]);
    expect(err).not.toContain('spans');
  });

  test('that a collector refuses fail no run: the log says why, and with -v a line', async () => {
    const { endpoint } = await collector(() => ({ status: 503 }));
    expect(await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint })).toBe(0);
    expect(err).not.toContain('spans');
    expect(logText()).toContain('it answers with status 503');
    expect(await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, { verbose: true })).toBe(0);
    expect(err.match(/the spans of this run were not all sent to .* it answers with status 503/g)).toHaveLength(1);
  });

  test.each([
    ['no server listens', 'http://127.0.0.1:1', 'ECONNREFUSED|bad port'],
    ['no URL', 'what?', 'Invalid URL|Failed to parse'],
    ['another protocol', 'ftp://127.0.0.1', 'not implemented|unknown scheme|fetch failed'],
  ])('fail no run where the endpoint is wrong: %s', async (_, endpoint, why) => {
    expect(await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, { verbose: true })).toBe(0);
    expect(err).toMatch(new RegExp(`the spans of this run were not all sent.*(?:${why})`));
  });

  test('that a collector takes in part are told as it tells it', async () => {
    const body = JSON.stringify({ partialSuccess: { rejectedSpans: '3', errorMessage: 'too many' } });
    const { endpoint } = await collector(() => ({ status: 200, body }));
    await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint });
    expect(logText()).toContain('too many');
  });

  test('follow no redirect: their headers are for one endpoint alone', async () => {
    const thief = await collector();
    const { endpoint } = await collector(() => ({ status: 307, headers: { location: `${thief.endpoint}/v1/traces` } }));
    await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint, OTEL_EXPORTER_OTLP_HEADERS: 'api-key=abcdefgh' });
    expect(thief.received).toEqual([]);
    expect(logText()).toContain('it answers with status 307');
  });

  test('have headers that no output shows', async () => {
    const { endpoint } = await collector(() => ({ status: 401 }));
    await run(
      ({ emit }) => {
        emit({ kind: 'noted', host: 'cp1', summary: 'it said sesame-open' });
        return Promise.resolve(0);
      },
      {
        OTEL_EXPORTER_OTLP_ENDPOINT: endpoint.replace('//', '//user:opensesame@'),
        OTEL_EXPORTER_OTLP_HEADERS: 'x-key=sesame%2Dopen',
      },
      { verbose: true },
    );
    const { path, trace } = theRecord();
    const all = [err, logText(), readFileSync(path, 'utf8'), readFileSync(trace, 'utf8')].join('\n');
    expect(all).toContain('it said (secret)');
    expect(all).not.toMatch(/sesame-open|opensesame/);
  });

  test('are given up after 5 s when a collector does not answer', async () => {
    const deadline = new AbortController();
    const { received, endpoint } = await collector(() => {
      // The five seconds are over as soon as the collector has the request.
      deadline.abort(new DOMException('The operation was aborted due to timeout', 'TimeoutError'));
      return 'silence';
    });
    const timeout = vi.spyOn(AbortSignal, 'timeout').mockReturnValue(deadline.signal);
    expect(await run(undefined, { OTEL_EXPORTER_OTLP_ENDPOINT: endpoint }, { verbose: true })).toBe(0);
    expect(timeout.mock.calls).toEqual([[5000]]);
    timeout.mockRestore();
    expect(received).toHaveLength(1);
    expect(err).toContain('no answer within 5 s');
  });
});

test('a state folder that may not be written is no reason to stop a run that has another log', async () => {
  mkdirSync(join(folder, 'state'));
  // Root may write everywhere: a file in the place of the folder stops it, too.
  writeFileSync(join(folder, 'state/kbuild'), '');
  chmodSync(join(folder, 'state/kbuild'), 0o400);
  expect(await run(undefined, {}, { logFile: join(folder, 'my.log') })).toBe(0);
  expect(err).toMatch(/^this run leaves no record: /m);
});
