import * as z from 'zod';
import { UsageError } from '../../errors.ts';
import { RECORD_FORMAT, type RecordHead, type RecordLine, type RunRecord } from './line.ts';

// Fields that are not named here are dropped: a newer kbuild may write more of them.
const text = z.string();
const texts = z.array(text);
const number = z.number();
const time = z.string().refine((one) => !Number.isNaN(Date.parse(one)));
const protocol = z.enum(['tcp', 'udp']);

const host = z.object({
  name: text,
  role: z.enum(['control-plane', 'worker', 'etcd', 'load-balancer']),
  os: z.enum(['linux', 'windows']),
  address: text,
  internalAddress: text,
  groups: texts,
});

/** The first line of a record. */
export const recordHead = z.object({
  kind: z.literal('run'),
  format: z.literal(RECORD_FORMAT),
  time,
  run: text,
  process: z.object({ pid: number, realm: text }),
  command: text,
  kbuild: text,
  inventory: text.exactOptional(),
  log: text.exactOptional(),
  cluster: text,
  kubernetes: text,
  endpoint: text,
  etcd: z.enum(['stacked', 'built', 'external']),
  loadBalancer: z.object({
    kind: z.enum(['none', 'external', 'keepalived', 'kube-vip', 'local']),
    address: text.exactOptional(),
    port: number.exactOptional(),
  }),
  network: text,
  runtime: text,
  hosts: z.array(host),
}) satisfies z.ZodType<RecordHead>;

const place = { phase: text, host: text, step: text };
const change = z.object({ ...place, summary: text });
const about = z.object({ host: text, message: text });

const event = <K extends string, S extends z.ZodRawShape>(kind: K, shape: S) =>
  z.object({ kind: z.literal(kind), time, ...shape });

const EVENTS = [
  event('connecting', { hosts: texts }),
  event('hosts-awaited', { hosts: number, answered: number, waiting: texts, waitedMs: number }),
  event('unreachable', { host: text, message: text }),
  event('left-out', { host: text, message: text }),
  event('observed', { hosts: number, durationMs: number }),
  event('locked', { hosts: number }),
  event('phase-started', { phase: text, title: text, hosts: texts }),
  event('host-started', { phase: text, host: text }),
  event('changing', { ...place, summary: text }),
  event('changed', { ...place, summary: text, durationMs: number }),
  event('unplanned', { ...place, summary: text }),
  event('settling', { ...place, summary: text, waitedMs: number }),
  event('job-followed', { host: text, summary: text }),
  event('job-waits', { host: text, summary: text }),
  event('job-loads', { host: text, bytes: number, bytesPerSecond: number }),
  event('noted', { host: text, summary: text }),
  event('failed', { ...place, summary: text, exitCode: number, refusal: text.exactOptional() }),
  event('host-done', { phase: text, host: text, changes: number, durationMs: number }),
  event('phase-done', { phase: text, changes: number, durationMs: number }),
  event('summary', {
    hosts: z.array(
      z.object({ host: text, result: z.enum(['changed', 'unchanged', 'failed', 'left-out']), changes: number }),
    ),
    longest: z.array(z.object({ host: text, what: z.enum(['change', 'wait']), summary: text, durationMs: number })),
  }),
  event('waits-for-hosts', { hosts: texts, changes: z.array(z.object({ host: text, summary: text })) }),
  event('interrupted', { summary: text }),
  event('done', { changes: number, failed: texts, durationMs: number }),
] as const;

const finding = z.object({
  severity: z.enum(['error', 'warning', 'unknown', 'due']),
  check: text,
  page: text,
  host: text.exactOptional(),
  message: text,
  remedy: text.exactOptional(),
  ignored: z.literal(true).exactOptional(),
});

const node = z.object({
  name: text,
  role: text,
  ready: z.boolean(),
  version: text,
  os: text,
  runtime: text,
  address: text,
  conditions: z.array(z.object({ type: text, status: text, reason: text })),
  cordoned: z.boolean(),
  taints: texts,
});

const member = z.object({
  name: text,
  id: text,
  peer: text,
  learner: z.boolean(),
  healthy: z.boolean(),
  dbSize: number,
});

const OBSERVATIONS = [
  event('hosts-observed', {
    hosts: z.array(z.object({ host: text, system: text, kernel: text, architecture: text })),
    unreachable: z.array(about),
  }),
  event('cluster-observed', {
    state: z.enum(['absent', 'down', 'up']),
    reason: text,
    version: text,
    endpointAnswer: text,
    nodes: z.array(node),
    apiServers: z.array(z.object({ host: text, readyz: text })),
    etcd: z.object({
      topology: z.enum(['stacked', 'external']),
      leader: text,
      members: z.array(member),
      alarms: texts,
    }),
    addressHolders: texts,
  }),
  event('certificates-observed', {
    certificates: z.array(z.object({ host: text, name: text, expires: text, renewedBy: text })),
    unknown: z.array(about),
  }),
  event('ports-surveyed', {
    ways: z.array(z.object({ to: text, port: number, protocol, program: text, from: texts })),
    blocked: z.array(z.object({ from: text, to: text, port: number, protocol, program: text, how: text })),
    narrow: z.array(z.object({ from: text, to: text, mtu: number })),
    unverified: z.array(z.object({ to: text, port: number })),
    unlisted: z.object({ ways: number, blocked: number }).exactOptional(),
    failed: z.array(z.object({ host: text, reason: text })),
  }),
] as const;

const NOTES = [
  event('command', { host: text, command: text, status: z.union([number, text]), durationMs: number }),
  event('findings', { findings: z.array(finding) }),
  event('plan', {
    phases: z.array(z.object({ name: text, title: text, hosts: texts })),
    changes: z.array(change),
    waits: z.array(change),
    restarts: z.array(
      z.object({ what: text, hosts: texts, aboutMs: number, atOnce: number, pauseMs: number.exactOptional() }),
    ),
  }),
  event('waiting', {
    wait: number,
    what: z.enum(['lock', 'turn', 'answer']),
    host: text.exactOptional(),
    summary: text,
  }),
  event('waited', { wait: number, durationMs: number }),
  event('failure', {
    ...{ host: text, message: text, cause: text, remedy: text, lastWords: text, exitCode: number },
    refusal: text.exactOptional(),
  }),
  event('error', { message: text, remedy: text, exitCode: number, refusal: text.exactOptional() }),
  event('end', { exitCode: number, result: text, durationMs: number }),
] as const;

/** Any line after the first. */
export const recordLine = z.discriminatedUnion('kind', [
  ...EVENTS,
  ...OBSERVATIONS,
  ...NOTES,
]) satisfies z.ZodType<RecordLine>;

/** The JSON in a line; undefined if there is none. */
function parsed(line: string): unknown {
  try {
    return JSON.parse(line) as unknown;
  } catch {
    return undefined;
  }
}

const formatIn = (value: unknown): unknown =>
  typeof value === 'object' && value !== null && 'kind' in value && value.kind === 'run' && 'format' in value
    ? value.format
    : undefined;

/** @throws UsageError for anything that is no first line of a record of this format */
function headOf(line: string, name: string): RunRecord['head'] {
  const value = parsed(line);
  const head = recordHead.safeParse(value);
  if (head.success) return head.data;
  const format = formatIn(value);
  if (typeof format === 'number' && format !== RECORD_FORMAT)
    throw new UsageError(
      `${name}: a record of format ${String(format)} (this kbuild reads format ${String(RECORD_FORMAT)})`,
      { remedy: 'use the kbuild that wrote it, or a newer one' },
    );
  throw new UsageError(`${name}: not the record of a run (its first line does not say what ran)`, {
    remedy: 'name a file that kbuild wrote: runs/RUN.ndjson in the folder of the cluster below $XDG_STATE_HOME/kbuild',
  });
}

/**
 * The record of a run. A run that was killed leaves a record that ends anywhere: its last line counts only if it is
 * whole. Lines of unknown kinds, and fields that are unknown, are left out. `name` stands in errors.
 * @throws UsageError for a file of another format, and for one that is no record
 */
export function readRecord(content: string, name: string): RunRecord {
  const [first = '', ...rest] = content.split('\n');
  const head = headOf(first, name);
  let leftOut = 0;
  const lines = rest.flatMap((text): readonly RecordLine[] => {
    if (text === '') return [];
    const line = recordLine.safeParse(parsed(text));
    if (line.success) return [line.data];
    leftOut += 1;
    return [];
  });
  return { head, lines, isWhole: lines.at(-1)?.kind === 'end', leftOut };
}
