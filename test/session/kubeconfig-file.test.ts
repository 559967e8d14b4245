// @module-tag openssl
/** When kbuild writes the operator's copy of admin.conf, although there is nothing to do. */
import { execFileSync } from 'node:child_process';
import {
  closeSync,
  constants,
  mkdtempSync,
  openSync,
  readFileSync,
  readSync,
  rmSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { stringify } from 'yaml';
import { spkiFingerprint } from '../../src/certificates/fingerprint.value.ts';
import type { ClusterView } from '../../src/cluster/fleet/view.ts';
import { fetchKubeconfig, writeKubeconfig, writePrivate } from '../../src/commands/kubeconfig.ts';
import type { Inventory } from '../../src/inventory/inventory.ts';
import type { Run } from '../../src/session/run.ts';
import { revealed, Secret } from '../../src/shell/secret.ts';
import { clusterOf, cp1, inventoryOf } from '../fakes/cluster.ts';
import { recordingOn } from '../fakes/on.ts';

const DAY_MS = 86_400_000;
let folder: string;
let ca: string;
let otherCa: string;
let path: string;

/** A certificate that signs itself, whose key is thrown away; PEM. */
function certificate(subject: string, days: number): string {
  const args = [
    'req',
    '-x509',
    '-newkey',
    'ec',
    '-pkeyopt',
    'ec_paramgen_curve:P-256',
    '-nodes',
    '-keyout',
    '/dev/null',
  ];
  return execFileSync('openssl', [...args, '-subj', subject, '-days', String(days)], {
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
}

const ADMIN = '/O=kubeadm:cluster-admins/CN=kubernetes-admin';
const encoded = (pem: string): string => Buffer.from(pem).toString('base64');
const conf = (trusted: string, client: string): string =>
  stringify({
    clusters: [
      { name: 'kubernetes', cluster: { 'certificate-authority-data': encoded(trusted), server: 'https://a:6443' } },
    ],
    users: [{ name: 'kubernetes-admin', user: { 'client-certificate-data': encoded(client) } }],
  });

beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-conf-'));
  path = join(folder, 'prod.kubeconfig');
  ca = certificate('/CN=kubernetes', 3650);
  otherCa = certificate('/CN=kubernetes', 3650);
});
afterAll(() => rmSync(folder, { recursive: true }));

/** What a run finds. `days`: how long from now it is. */
interface Found {
  readonly admin: string;
  readonly cluster?: ClusterView;
  readonly days?: number;
}

/** A run that has nothing to do, and what it asks of hosts. */
function idle({ admin, cluster, days = 0 }: Found) {
  const { on, sent } = recordingOn({ run: () => admin });
  const seen = cluster ?? clusterOf({ via: cp1.name, caFingerprint: spkiFingerprint(ca) });
  const run = {
    context: { nowMs: () => Date.now() + days * DAY_MS, err: () => undefined, cwd: folder },
    flags: {},
    inventory: inventoryOf(),
    connected: {
      on,
      observations: {
        evaluate: (get: (fleet: unknown) => unknown) => Promise.resolve({ value: get({ cluster: seen }) }),
      },
    },
  } as unknown as Run;
  return { run, sent };
}

/** What stands in the file after such a run, and how often it asked a host. */
async function afterwards(copy: string, found: Found) {
  writeFileSync(path, copy, { mode: 0o600 });
  const { run, sent } = idle(found);
  await writeKubeconfig(run, path, 'if-due');
  return { text: readFileSync(path, 'utf8'), asked: sent.length };
}

test('a copy of admin.conf that ends soon, or has ended, is written anew when the one of a host ends later', async () => {
  const [old, renewed] = [certificate(ADMIN, 365), certificate(ADMIN, 700)];
  for (const days of [340, 400]) {
    const { text } = await afterwards(conf(ca, old), { admin: conf(ca, renewed), days });
    expect(text).toContain(encoded(renewed));
    expect(statSync(path).mode & 0o777).toBe(0o600);
  }
});

test('its server is the endpoint, or the control plane that answered where the endpoint is on the nodes alone', async () => {
  const admin = conf(ca, certificate(ADMIN, 365));
  const fetched = async (inventory: Inventory): Promise<string> => {
    const { run } = idle({ admin });
    const text = await fetchKubeconfig(inventory, clusterOf({ via: cp1.name }), run.connected.on);
    return /server: "?([^\s"]+)/.exec(revealed(text))![1]!;
  };
  const loadBalancer = { kind: 'local', port: 7443, healthPort: 8404 } as const;
  expect(await fetched(inventoryOf({ endpoint: 'k8s.example:6443' }))).toBe('https://k8s.example:6443');
  expect(await fetched(inventoryOf({ endpoint: '127.0.0.1:7443', loadBalancer }))).toBe(
    `https://${cp1.internalAddress}:6443`,
  );
});

test('a copy that does not end soon is left alone, and no host is asked', async () => {
  const old = conf(ca, certificate(ADMIN, 365));
  const { text, asked } = await afterwards(old, { admin: conf(ca, certificate(ADMIN, 700)), days: 300 });
  expect(text).toBe(old);
  expect(asked).toBe(0);
});

test('a copy that ends soon is left alone where no host has a later one, and where no cluster answers', async () => {
  const old = conf(ca, certificate(ADMIN, 365));
  expect((await afterwards(old, { admin: old, days: 340 })).text).toBe(old);
  const absent = { admin: conf(ca, certificate(ADMIN, 700)), days: 340, cluster: { state: 'absent' } as ClusterView };
  expect((await afterwards(old, absent)).text).toBe(old);
});

test.each([
  ['another cluster’s', () => conf(otherCa, certificate(ADMIN, 10))],
  ['another user’s', () => conf(ca, certificate('/CN=jane', 10))],
  ['a file without a certificate', () => conf(ca, 'none')],
  ['no kubeconfig', () => 'notes: of mine\n'],
  ['no YAML', () => '{{'],
  ['an empty file', () => ''],
  [
    'a user beside another',
    () => conf(ca, certificate(ADMIN, 10)).replace('users:\n', 'users:\n  - name: jane\n    user: {}\n'),
  ],
])('what kbuild did not write is left alone: %s', async (_, text) => {
  const before = text();
  expect((await afterwards(before, { admin: conf(ca, certificate(ADMIN, 700)), days: 9 })).text).toBe(before);
});

test(
  'a pipe gets the kubeconfig and stays a pipe: no file takes the place of /dev/null',
  { tags: ['linux'] },
  async () => {
    const pipe = join(folder, 'pipe');
    execFileSync('mkfifo', [pipe]);
    const file = openSync(pipe, constants.O_RDWR | constants.O_NONBLOCK);
    await writePrivate(pipe, Secret.of('a: b\n'));
    const bytes = Buffer.alloc(9);
    expect(bytes.subarray(0, readSync(file, bytes)).toString()).toBe('a: b\n');
    closeSync(file);
    expect(statSync(pipe).isFIFO()).toBe(true);
  },
);

test('a folder that cannot be written is named, with how to choose another one', async () => {
  const { run } = idle({ admin: conf(ca, certificate(ADMIN, 700)) });
  await expect(writeKubeconfig(run, join(folder, 'none', 'prod.kubeconfig'), 'if-due')).rejects.toMatchObject({
    exitCode: 2,
    message: expect.stringContaining('the kubeconfig cannot be written') as string,
    remedy: 'name another file with --kubeconfig PATH',
  });
});
