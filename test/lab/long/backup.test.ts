/**
 * Backups of a cluster that encrypts its Secrets: by a passphrase, to a command, killed in the middle; age and tar read them; and the only
 * control plane comes back from one, but not without the key that encrypted the Secrets. The tests build on each other.
 */
import { randomBytes } from 'node:crypto';
import { existsSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { expectJoins, expectSettled } from '../lives-on.ts';
import { ok, timed } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { run } from '../run.ts';
import { etcdctl, inEtcd, stacked, type Stacked } from '../stacked.ts';
import { waitUntil } from '../wait-until.ts';

const HOSTS = ['l2bcp1', 'l2bw1'];
const [cp] = HOSTS as [string, string];
const LATER = ['l2bcp2', 'l2bw2'];
const ENCRYPTION = '/etc/kubernetes/pki/encryption.yaml';
let cluster: Stacked;
let at: (name: string) => string;
let settings: object;
let secret: string;

const configuration = (secret: string): string =>
  JSON.stringify({
    apiVersion: 'apiserver.config.k8s.io/v1',
    kind: 'EncryptionConfiguration',
    resources: [
      { resources: ['secrets'], providers: [{ aescbc: { keys: [{ name: 'key1', secret }] } }, { identity: {} }] },
    ],
  });
const left = (): readonly string[] =>
  readdirSync(at('state/kbuild/backed')).filter((name) => name.startsWith('unencrypted'));
const backup = (...args: readonly string[]): Promise<Ran> =>
  cluster.run('backup', '--passphrase-file', at('phrase'), ...args);

beforeAll(async () => {
  cluster = await stacked('backed', 7932, HOSTS);
  at = (name) => join(cluster.file, '..', name);
  writeFileSync(at('phrase'), 'correct horse battery staple\n', { mode: 0o600 });
  secret = randomBytes(32).toString('base64');
  writeFileSync(at('encryption'), configuration(secret), { mode: 0o600 });
  settings = {
    files: [{ hosts: 'control-plane', path: ENCRYPTION, secret: `file:${at('encryption')}` }],
    kubeadm: {
      ...((await lab.inventory(HOSTS))['kubeadm'] as object),
      cluster: { apiServer: { extraArgs: [{ name: 'encryption-provider-config', value: ENCRYPTION }] } },
    },
  };
  await cluster.name(HOSTS, settings);
  ok(await cluster.up());
  await kubectl(cp, 'create secret generic kept --from-literal=word=before');
  expect(await etcdctl(cp, 'get /registry/secrets/default/kept')).toContain('k8s:enc:aescbc:v1:key1');
});
afterAll(async () => {
  cluster.balancer.close();
  await lab.down([...HOSTS, ...LATER]);
});

test('a backup that is killed leaves nothing under its name, and the next one deletes what lay unencrypted', async () => {
  const cut = start(['backup', at('cut.age'), '-i', cluster.file, '--passphrase-file', at('phrase')]);
  await waitUntil('the snapshot lies here', 120_000, () => existsSync(at('state/kbuild/backed')) && left().length > 0);
  cut.kill('SIGKILL');
  await cut.ended;
  expect(existsSync(at('cut.age'))).toBe(false);
  timed('backup', await backup(at('whole.age')));
  expect(left()).toEqual([]);
  expect(statSync(at('whole.age')).mode & 0o777).toBe(0o600);
  expect(readdirSync(at('')).filter((name) => name.endsWith('.part'))).toEqual([]);
});

test('it names the key of the Secrets and does not hold it, nor what references lead to', async () => {
  const { stdout } = ok(await kbuild('backup', 'verify', at('whole.age'), '--passphrase-file', at('phrase')));
  expect(stdout).toContain(`aescbc key1, not in this backup: keep ${ENCRYPTION} elsewhere`);
  expect(stdout).not.toContain(at('encryption'));
  const wrong = await kbuild('backup', 'verify', at('whole.age'), '--passphrase-file', at('encryption'));
  expect(wrong.code, wrong.stderr).toBe(2);
  const again = await backup(at('whole.age'));
  expect(again.code, again.stderr).toBe(2);
  expect(again.stderr).toContain('is there already');
});

test('a command gets it, and age and tar open it without kbuild', async () => {
  const folder = at('opened');
  await run('bash', [
    '-c',
    `mkdir '${folder}'; cd '${folder}'; age-keygen -o ../key 2>/dev/null; age-keygen -y ../key >../recipient`,
  ]);
  const recipient = readFileSync(at('recipient'), 'utf8').trim();
  const to = `command:age -d -i '${at('key')}' | tar -x -C '${folder}'`;
  ok(await cluster.run('backup', '--recipient', recipient, '--to', to));
  expect(readdirSync(folder).sort()).toEqual(['inventory.yaml', 'manifest.json', 'pki', 'snapshot.db']);
  const { stdout } = await lab.inside(cp, 'cat /etc/kubernetes/pki/ca.key');
  expect(readFileSync(join(folder, 'pki/ca.key'), 'utf8')).toBe(stdout);
  expect(readFileSync(join(folder, 'manifest.json'), 'utf8')).not.toContain(secret);
  const failed = await cluster.run('backup', '--recipient', recipient, '--to', 'command:cat >/dev/null; exit 7');
  expect(failed.code, failed.stderr).toBe(2);
  expect(failed.stderr).toContain('status 7');
});

test('a file is opened by hand with age and tar, as the docs say, and etcdutl restores its snapshot', async () => {
  const recipient = readFileSync(at('recipient'), 'utf8').trim();
  ok(await cluster.run('backup', at('prod.age'), '--recipient', recipient));
  const page = readFileSync(new URL('../../../docs/operations.md', import.meta.url), 'utf8');
  for (const [command, expected] of [
    ['age -d -i KEY prod.age | tar -x', ['inventory.yaml', 'manifest.json', 'pki', 'snapshot.db']],
    ['age -d -i KEY prod.age | tar -x pki', ['pki']],
  ] as const) {
    expect(page).toContain(`\`${command}\``);
    const folder = at(`by-hand-${String(expected.length)}`);
    await run('bash', [
      '-c',
      `mkdir '${folder}'; cd '${folder}'; ln -s ../key KEY; ln -s ../prod.age .; ${command}; rm KEY prod.age`,
    ]);
    expect(readdirSync(folder).sort()).toEqual(expected);
    const there = await lab.inside(cp, 'cat /etc/kubernetes/pki/ca.key /etc/kubernetes/pki/sa.key');
    const opened = ['ca.key', 'sa.key'].map((name) => readFileSync(join(folder, 'pki', name), 'utf8'));
    expect(opened.join('')).toBe(there.stdout);
    expect(statSync(join(folder, 'pki/ca.key')).mode & 0o777).toBe(0o600);
  }
  // etcd's own pod sees its data's folder alone.
  await run('bash', [
    '-c',
    `ssh ${lab
      .sshArguments(cp)
      .map((word) => `'${word}'`)
      .join(' ')} 'cat >/var/lib/etcd/by-hand.db' <'${at('by-hand-4')}/snapshot.db'`,
  ]);
  await inEtcd(cp, 'etcdutl snapshot restore /var/lib/etcd/by-hand.db --data-dir /var/lib/etcd/by-hand');
  const restored = await lab.inside(
    cp,
    'ls /var/lib/etcd/by-hand/member; grep -c /registry/secrets/default/kept /var/lib/etcd/by-hand/member/snap/db; rm -r /var/lib/etcd/by-hand*',
  );
  expect(restored.stdout).toMatch(/^snap\nwal\n[1-9]/);
});

test('the only control plane is lost: without the key of the Secrets nothing begins, with it they can be read', async () => {
  await lab.kill([cp]);
  await lab.reset([cp]);
  const restore = (...flags: readonly string[]) =>
    cluster.run(
      'restore',
      at('whole.age'),
      '--passphrase-file',
      at('phrase'),
      '--kubeconfig',
      cluster.kubeconfig,
      ...flags,
    );
  writeFileSync(at('encryption'), configuration(randomBytes(32).toString('base64')));
  const without = await restore('--yes');
  expect(without.code, without.stderr).toBe(7);
  expect(without.stderr).toContain('Secrets in the backup are encrypted with aescbc "key1"');
  writeFileSync(at('encryption'), configuration(secret));
  const unasked = await restore();
  expect(unasked.code, unasked.stderr).toBe(2);
  expect(unasked.stderr).toContain('every change since then is lost');
  timed('restored', await restore('--yes'));
  expect(await nodes(cp)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  expect(await kubectl(cp, 'get secret kept -o jsonpath={.data.word}')).toBe(Buffer.from('before').toString('base64'));
  expect(left()).toEqual([]);
  await expectSettled(cluster, HOSTS);
});

test('afterwards a control plane and a worker can join, and the new API server reads the Secrets, too', async () => {
  await expectJoins(cluster, HOSTS, LATER, settings);
  expect(await kubectl(LATER[0]!, 'get secret kept -o jsonpath={.data.word}')).toBe(
    Buffer.from('before').toString('base64'),
  );
});
