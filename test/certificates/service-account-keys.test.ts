// @module-tag linux
/** The scripts that give a control plane other keys of service accounts, and that tell who holds tokens, with a kubectl that a test speaks for. */
import { spawnSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { script } from '../../src/templates.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'kbuild-keys-'));
  for (const name of ['bin', 'pki', 'job']) mkdirSync(join(folder, name));
});
afterEach(() => rmSync(folder, { recursive: true }));

const program = (name: string, text: string): void => {
  writeFileSync(join(folder, 'bin', name), `#!/bin/sh\n${text}\n`);
  chmodSync(join(folder, 'bin', name), 0o755);
};
const write = (name: string, text: string): void => writeFileSync(join(folder, name), text);
const read = (name: string): string => (existsSync(join(folder, name)) ? readFileSync(join(folder, name), 'utf8') : '');

function ran(text: string) {
  const { status, stdout, stderr } = spawnSync(
    'sh',
    ['-eu', '-c', text.replaceAll('/etc/kubernetes/pki', `${folder}/pki`)],
    {
      cwd: join(folder, 'job'),
      encoding: 'utf8',
      env: { PATH: `${folder}/bin:${process.env['PATH'] ?? ''}`, F: folder },
    },
  );
  return { status, stdout, stderr };
}

/** Keys of these tests are their ids. The API server serves what it read when it started last. */
function placed(signer: '' | 'new', trusted: readonly string[]) {
  program('install', 'while [ "$1" != -- ]; do shift; done; cp "$2" "$3"');
  program('sync', '');
  program('sleep', '');
  program(
    'kubectl',
    `case "$*" in
  *jwks*) sed 's/.*/{"kid":"&"}/' "$F/served.pub" ;;
  *readyz*) printf ok ;;
  *'create token'*) printf '%s.SECRET.SECRET' "$(printf '{"alg":"RS256","kid":"%s"}' "$(cat "$F/served.key")" | base64 -w 0 | tr -d = | tr '+/' '-_')" ;;
esac`,
  );
  const runtime = `
runtime_running() { cat "$F/$1"; }
runtime_signal() { for one in kube-apiserver kube-controller-manager; do
  if [ "$(cat "$F/$one")" = "$2" ]; then
    echo "$2+" >"$F/$one"; echo "$one" >>"$F/restarts"
    if [ $one = kube-apiserver ]; then cp "$F/pki/sa.pub" "$F/served.pub"; cp "$F/pki/sa.key" "$F/served.key"; fi
  fi
done; }`;
  const placed = script('certificates/place-service-account-key.sh', {
    SIGNER: signer,
    KUBECTL: ['kubectl'],
    TRUSTED: trusted,
    SIGNS: signer,
  });
  const { script: text } = placed;
  return { ...ran(`${runtime}\n${text}`), restarts: read('restarts').trim().split('\n') };
}

describe('a control plane with other keys of service accounts', () => {
  beforeEach(() => {
    for (const name of ['pki/sa.pub', 'pki/sa.key', 'served.pub', 'served.key']) write(name, 'old\n');
    write('kube-apiserver', 'a1\n');
    write('kube-controller-manager', 'c1\n');
    write('pki/sa-new.key', 'new\n');
  });

  test('restarts its API server alone to accept tokens of one key more', () => {
    write('job/sa.pub', 'old\nnew\n');
    expect(placed('', ['old', 'new'])).toMatchObject({ status: 0, restarts: ['kube-apiserver'] });
    expect([read('served.pub'), read('pki/sa.key'), read('pki/sa-signing.pub')]).toEqual(['old\nnew\n', 'old\n', '']);
  });

  test('signs with the new key, the API server before the controller manager, and notes it at the end', () => {
    write('job/sa.pub', 'new\nold\n');
    write('job/signs.pub', 'new\n');
    write('job/signed.pub', 'old\n');
    const made = placed('new', ['new', 'old']);
    expect(made).toMatchObject({ status: 0, restarts: ['kube-apiserver', 'kube-controller-manager'] });
    expect([read('served.key'), read('pki/sa-signing.pub')]).toEqual(['new\n', 'new\n']);
    expect(`${made.stdout}${made.stderr}`).not.toContain('SECRET');
  });

  test('whose API server uses other files is left as it is', () => {
    write('served.pub', 'elsewhere\n');
    write('job/sa.pub', 'old\nnew\n');
    const { status, stderr } = placed('', ['old', 'new']);
    expect([status, read('restarts'), read('pki/sa.pub')]).toEqual([1, '', 'old\n']);
    expect(stderr).toContain('its manifest names another file');
  });
});

describe('who holds tokens', () => {
  const asked = (secrets: string, always = 'yes') => {
    program(
      'kubectl',
      `case "$*" in *'get pods'*) printf 'pod\\ta\\tx\\t\\tDaemonSet\\td\\t\\t3607\\n' ;; *'get secrets'*) ${secrets} ;; esac`,
    );
    return ran(script('cluster/token-use.sh', { KUBECTL: ['kubectl'], ALWAYS: always }).script).stdout;
  };

  test('is told with nothing of a token but its header', () => {
    expect(
      asked(
        String.raw`printf 'secret\ta\tci.x\teyJraWQiOiJrIn0.SECRET.SECRET\nsecret\ta\topaque\tSECRET\nSECRET\nsecret\ta\tempty\t\n'`,
      ),
    ).toBe('pod\ta\tx\t\tDaemonSet\td\t\t3607\nsecret\ta\tci.x\teyJraWQiOiJrIn0\nsecret\ta\topaque\t-\nend\n');
  });

  test('has no end where the Secrets could not be read', () => {
    expect(asked('exit 1')).not.toContain('end');
  });

  test('is not asked unless their key is rotated', () => {
    expect(asked('', '')).toBe('end\n');
  });
});
