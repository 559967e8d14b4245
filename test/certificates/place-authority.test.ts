// @module-tag linux
/** The script that gives a host an authority's certificates, with a clock that a test speaks for. */
import { existsSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterEach, beforeEach, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';
import { placed, placesIn, program, withoutWaiting } from './placing.ts';

let folder: string;
beforeEach(() => {
  folder = placesIn(['pki/ca.crt']);
  writeFileSync(join(folder, 'job', 'bundle.crt'), 'new');
  writeFileSync(join(folder, 'log'), '');
  writeFileSync(join(folder, 'clock'), '1000');
  // A clock that only a sleep moves.
  program(folder, 'date', `cat ${folder}/clock`);
  program(
    folder,
    'sleep',
    `echo $(($(cat ${folder}/clock) + $1)) >${folder}/clock.new; /bin/mv ${folder}/clock.new ${folder}/clock`,
  );
});
afterEach(() => rmSync(folder, { recursive: true }));

/** Places the certificates on a host whose clock says 1000. `begins`: when the last of them begins. */
function authorityPlaced(begins: number) {
  const { script: text } = script('certificates/place-authority.sh', {
    ...{ NAME: 'ca', BEGINS: begins, SIGNER: '', CONFS: '', PODS: '', KUBELET: '' },
    ...{ SHOWN: '', OFFERED: '', WITHDRAWN: '' },
  });
  return placed(folder, withoutWaiting(text), '', '');
}
const authority = (): string => readFileSync(join(folder, 'kubernetes/pki/ca.crt'), 'utf8');

test('a certificate that begins within a minute is placed when it has begun', () => {
  const { status, stderr } = authorityPlaced(1030);
  expect(status, stderr).toBe(0);
  expect(authority()).toBe('new');
  expect(Number(readFileSync(join(folder, 'clock'), 'utf8'))).toBe(1030);
});

test('a certificate that is not valid yet after a minute is never placed', () => {
  const { status, stderr, log } = authorityPlaced(1300);
  expect(status).toBe(1);
  expect(stderr).toContain('begins in 240 s by the clock of this host; nothing was placed');
  expect([authority(), log.join('')]).toEqual(['old', '']);
  expect(existsSync(join(folder, 'kubernetes/pki/ca.crt.kbuild-new'))).toBe(false);
});
