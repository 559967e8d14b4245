// @module-tag linux
import { execFileSync } from 'node:child_process';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { parseNewEndpoint } from '../../src/kubeadm/endpoint.facts.ts';
import { script } from '../../src/templates.ts';

let folder: string;
beforeAll(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-endpoint-'));
});
afterAll(() => rmSync(folder, { recursive: true }));

/** The answer of the probe where kubectl says `plain`, and `named` when it asks by the name `kubernetes`. */
function answered(plain: string, named: string, server = 'https://10.0.0.11:6443', neighbour = '') {
  const conf = join(folder, 'kubelet.conf');
  writeFileSync(conf, `clusters:\n- cluster:\n    server: ${server}\n`);
  for (const [name, text] of [
    [
      'kubectl',
      `#!/bin/sh\ncase "$*" in *tls-server-name*) echo ${JSON.stringify(named)} ;; *) echo ${JSON.stringify(plain)} ;; esac\n`,
    ],
    ['ip', `#!/bin/sh\necho ${JSON.stringify(neighbour)}\n`],
  ] as const) {
    writeFileSync(join(folder, name), text);
    chmodSync(join(folder, name), 0o755);
  }
  const { script: text } = script('kubeadm/probe-new-endpoint.sh', {
    ENDPOINT: '10.0.0.100:8443',
    ADDRESS: '10.0.0.100',
    CONF: conf,
    KUBECACHE: folder,
  });
  const env = { PATH: `${folder}:${process.env['PATH'] ?? ''}` };
  return parseNewEndpoint(execFileSync('sh', ['-euc', text], { env, encoding: 'utf8' }));
}

const UNKNOWN =
  'Unable to connect to the server: tls: failed to verify certificate: x509: certificate signed by unknown authority';

test('a host is asked only while its kubeconfig names another server', () => {
  expect(answered('ok', 'ok', 'https://10.0.0.100:8443')).toBe('not asked');
  expect(answered('ok', 'ok')).toEqual({ isHeld: false, whose: 'ours', answer: 'ok' });
});

test('the CA of a server tells whose it is, also where its certificate lacks the name', () => {
  const lacks = 'x509: certificate is valid for cp1, kubernetes, not 10.0.0.100';
  expect(answered(lacks, 'ok')).toEqual({ isHeld: false, whose: 'ours', answer: lacks });
  expect(answered(lacks, UNKNOWN)).toMatchObject({ whose: 'other' });
  expect(answered(UNKNOWN, UNKNOWN)).toMatchObject({ whose: 'other', answer: UNKNOWN });
  expect(answered('x', 'x509: certificate is valid for a, not kubernetes')).toMatchObject({ whose: 'other' });
  expect(answered('connection refused', 'connection refused')).toMatchObject({ whose: 'unknown' });
  expect(answered('', '')).toMatchObject({ whose: 'unknown', answer: 'no answer' });
});

test('an address is held if a machine of the network answers for it', () => {
  const of = (neighbour: string) => answered('refused', 'refused', 'https://old:6443', neighbour);
  expect(of('10.0.0.100 dev eth0 lladdr 02:fc:00:00:00:09 REACHABLE')).toMatchObject({ isHeld: true });
  expect(of('10.0.0.100 dev eth0 FAILED')).toMatchObject({ isHeld: false });
  expect(of('10.0.0.100 dev eth0 INCOMPLETE')).toMatchObject({ isHeld: false });
  expect(of('')).toMatchObject({ isHeld: false });
});
