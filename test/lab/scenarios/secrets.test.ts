/**
 * Secrets in every place where one can be, from an inventory or minted on the way: a build that fails, a build that works,
 * a bundle, passwords typed on a terminal. None shows anywhere but in the one file that is made of it, which is 0600.
 */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { gunzipSync } from 'node:zlib';
import { stringify } from 'yaml';
import { afterAll, beforeAll, expect, test } from 'vitest';
import { inventoryFile, kbuild, PROGRAM, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { unchanged, well } from '../ok.ts';
import { nodes } from '../pods.ts';
import { onTerminal } from '../pseudo-terminal.ts';
import { foundBelow, foundIn, foundOn, watchProcesses, type Canaries, type Watched } from '../secret-search.ts';
import { balance, type Balancer } from '../tcp-balancer.ts';

const HOSTS = ['cncp1', 'cncp2', 'cnw1'];
const [cp1, cp2] = HOSTS as [string, string, string];
const USER = 'canary';
const MINUTE_MS = 60_000;
/** Beside the ordinary: quotes, blanks and what a shell would take for its own. */
const SUDO = "sudo 'canary' $(id) battery";
const PASSPHRASE = 'passphrase canary horse';
const APPLICATION = 'application-canary-d41d8cd98f';

let folder: string;
let file: string;
let state: string;
let balancer: Balancer;
let inventory: lab.LabInventory;
let watched: Watched;
const known = new Map<string, string>();
const ran: Ran[] = [];

const write = (changed: object): void => writeFileSync(file, stringify(changed, { aliasDuplicateObjects: false }));
const run = async (...args: readonly string[]): Promise<Ran> => {
  const one = await kbuild(...args);
  ran.push(one);
  return one;
};
const up = (...flags: readonly string[]): Promise<Ran> =>
  run('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'), ...flags);
const inside = async (host: string, command: string, input?: string): Promise<string> =>
  (await lab.inside(host, command, input)).stdout;

beforeAll(async () => {
  await lab.up(HOSTS);
  await lab.reset(HOSTS);
  balancer = await balance(7451, []);
  inventory = { ...(await lab.inventory(HOSTS)), name: 'canaries' };
  balancer.setBackends(inventory.hosts.slice(0, 2).map(({ address }) => address));
  ({ folder, file } = inventoryFile({}));
  state = join(folder, 'state');
  process.env['XDG_STATE_HOME'] = state;
  // Outside of the folder that is searched: what the user wrote there is the user's affair.
  const sources = `${folder}-secrets`;
  mkdirSync(sources, { mode: 0o700 });
  const source = (name: string, content: string): string => {
    const path = join(sources, name);
    writeFileSync(path, content, { mode: 0o600 });
    return path;
  };
  const key = join(sources, 'id');
  execFileSync('ssh-keygen', ['-q', '-t', 'ed25519', '-a', '1', '-N', PASSPHRASE, '-f', key]);
  for (const host of HOSTS) {
    await inside(
      host,
      `useradd -m -s /bin/bash ${USER}; echo '${USER} ALL=(ALL:ALL) ALL' >/etc/sudoers.d/${USER}
       mkdir -m 700 ~${USER}/.ssh; cat >~${USER}/.ssh/authorized_keys; chown -R ${USER}: ~${USER}/.ssh`,
      readFileSync(`${key}.pub`, 'utf8'),
    );
    await inside(host, 'chpasswd', `${USER}:${SUDO}\n`);
  }
  const { username, password, url } = lab.PRIVATE_REGISTRY;
  inventory = {
    ...inventory,
    kubernetes: { ...(inventory['kubernetes'] as object), endpoint: balancer.endpoint },
    loadBalancer: { kind: 'external' },
    ssh: {
      user: USER,
      identityFile: key,
      knownHostsFile: lab.paths.knownHostsFile,
      passphrase: `file:${source('passphrase', PASSPHRASE)}`,
      sudoPassword: `file:${source('sudo', SUDO)}`,
    },
    runtime: {
      ...(inventory['runtime'] as object),
      registries: [
        {
          host: 'registry.k8s.io',
          mirrors: [url],
          ca: lab.tls.ca,
          username,
          password: `command:cat ${source('registry', password)}`,
        },
        { host: 'ghcr.io', mirrors: [lab.REGISTRY_URL] },
      ],
    },
    files: [{ hosts: 'all', path: '/etc/application.key', secret: `file:${source('application', APPLICATION)}` }],
  };
  known.set('sudo password', SUDO);
  known.set('passphrase', PASSPHRASE);
  known.set('registry password', password);
  known.set('registry login', Buffer.from(`${username}:${password}`).toString('base64'));
  known.set('application secret', APPLICATION);
  watched = watchProcesses(HOSTS);
});

afterAll(async () => {
  await watched.stop();
  balancer.close();
  await lab.down(HOSTS);
});

/** The texts of a bundle's files, one after the other. */
const bundled = (path: string): string => gunzipSync(readFileSync(path)).toString();

test('when kubeadm fails, the cause, the last words of what failed and a bundle are there', async () => {
  const kubeadm = inventory['kubeadm'] as { readonly init: object };
  write({
    ...inventory,
    kubeadm: {
      ...kubeadm,
      init: { ...kubeadm.init, timeouts: { controlPlaneComponentHealthCheck: '20s' } },
      cluster: { apiServer: { extraArgs: [{ name: 'audit-policy-file', value: '/no/such/policy.yaml' }] } },
    },
  });
  const bundle = join(folder, 'failed.tar.gz');
  const { code, stderr, seconds } = await up('--bundle', bundle);
  console.log(`kubeadm init that fails: ${seconds.toFixed(1)} s`);
  expect(code, stderr).toBe(4);
  const report = stderr.slice(stderr.indexOf('✖'));
  expect(report).toContain(cp1);
  expect(report).toMatch(
    /the end of the log of kube-apiserver[^\n]*\n[\s\S]*open \/no\/such\/policy.yaml: no such file/,
  );
  expect(report).toContain('the end of the log of kubelet');
  expect(report).toContain('run the same command again');
  expect(report).toContain(`support bundle: ${bundle}`);
  expect(statSync(bundle).mode & 0o777).toBe(0o600);
  const all = bundled(bundle);
  for (const host of HOSTS) expect(all).toContain(`kbuild-bundle/hosts/${host}.txt`);
  expect(all).toContain('kbuild-bundle/run.log');
  expect(all).toMatch(/== kubelet-journal/);
  expect(all).toContain('open /no/such/policy.yaml: no such file');
});

test('what failed is undone, and the build goes on', async () => {
  write(inventory);
  const { code, stderr, seconds } = await up('--json');
  console.log(`two control planes and a worker, with canaries: ${seconds.toFixed(1)} s`);
  expect(code, stderr).toBe(0);
  expect(await nodes(cp1)).toEqual(Object.fromEntries(HOSTS.map((host) => [host, true])));
  unchanged(await up());
  await well(() => run('status', file, '--bundle', join(folder, 'status.tar.gz')));
  // All that hosts were found to be, and a file that a secret strayed into: searched with everything else that was said.
  expect((await run('facts', file)).code).toBe(0);
  const stray = { hosts: 'all', path: '/etc/stray', content: `key=${APPLICATION}` };
  write({ ...inventory, files: [...(inventory['files'] as object[]), stray] });
  const { stdout } = await run('plan', file, '--diff');
  expect(stdout).toContain('/etc/stray');
  expect(stdout).toContain('key=(secret)');
  write(inventory);
});

test('kbuild prompts for each password once on a terminal, and does not display it', async () => {
  const ssh = inventory['ssh'] as object;
  write({ ...inventory, ssh: { ...ssh, passphrase: undefined, sudoPassword: undefined } });
  const terminal = onTerminal([process.execPath, PROGRAM, 'plan', file], { HOME: homedir(), XDG_STATE_HOME: state });
  await terminal.shows('Passphrase of', MINUTE_MS);
  terminal.type(`${PASSPHRASE}\r`);
  await terminal.shows(`sudo password of ${USER}`, MINUTE_MS);
  terminal.type(`${SUDO}\r`);
  expect(await terminal.ended, terminal.shown()).toBe(0);
  expect(terminal.shown()).toContain('nothing to do');
  expect(terminal.shown().match(/Passphrase of|sudo password of/g)).toHaveLength(2);
  expect(foundIn('terminal', terminal.shown(), known)).toEqual([]);
  write(inventory);
});

/** The private keys of the cluster, a line of each: minted on the way, and at home in one place. */
async function keysOfCluster(): Promise<Canaries> {
  const files = ['pki/ca.key', 'pki/sa.key', 'pki/etcd/ca.key', 'pki/front-proxy-ca.key', 'pki/apiserver.key'];
  const lines = await Promise.all(
    files.map(async (name): Promise<[string, string]> => [
      name,
      (await inside(cp1, `sed -n 3p /etc/kubernetes/${name}`)).trim(),
    ]),
  );
  const admin = /client-key-data: (\S+)/.exec(await inside(cp1, 'cat /etc/kubernetes/admin.conf'))![1]!;
  return new Map([...lines, ['key of admin.conf', admin.slice(200, 300)]]);
}

test('no secret is found where none may be, and one that is put there is found', async () => {
  const tokens = [...watched.minted].filter((one) => one.includes('.'));
  const certificateKeys = [...watched.minted].filter((one) => /^[0-9a-f]{64}$/.test(one));
  expect(tokens.length).toBeGreaterThanOrEqual(2);
  expect(certificateKeys.length).toBeGreaterThanOrEqual(1);
  const canaries: Canaries = new Map([
    ...known,
    ...(await keysOfCluster()),
    ...[...watched.minted].map((one, i): [string, string] => [`minted ${String(i)}`, one]),
    ['planted', 'planted-canary-0001'],
  ]);

  await inside(
    cp2,
    'echo planted-canary-0001 | systemd-cat; echo planted-canary-0001 >/tmp/planted; journalctl --sync',
  );
  const before = watched.samples();
  await inside(cp2, 'planted-canary-0001() { :; }; A=planted-canary-0001 timeout 3 sleep 3');
  expect(watched.samples()).toBeGreaterThan(before);
  await watched.stop();
  writeFileSync(join(folder, 'planted'), 'planted-canary-0001');
  console.log(`processes were looked at ${String(watched.samples())} times; ${String(canaries.size)} secrets`);

  const atHome: Readonly<Record<string, RegExp>> = {
    'registry login': /:\/etc\/containerd\/certs\.d\/registry\.k8s\.io\/hosts\.toml$/,
    'application secret': /:\/etc\/application\.key$/,
    'key of admin.conf': /:\/etc\/kubernetes\/admin\.conf$|^admin\.conf$/,
  };
  const isAtHome = (found: string): boolean => {
    const [, place, name] = /^(.*): (.*)$/.exec(found)!;
    const home = atHome[name!] ?? (name!.startsWith('pki/') ? /:\/etc\/kubernetes\/pki\/.*\.key$/ : undefined);
    return home?.test(place!) === true;
  };
  const found = [
    ...(await Promise.all(HOSTS.map((host) => foundOn(host, canaries)))).flat(),
    ...foundBelow(folder, canaries),
    ...ran.flatMap(({ stdout, stderr }, i) => foundIn(`output ${String(i)}`, stdout + stderr, canaries)),
    ...foundIn('processes', [...watched.seen].join('\n'), canaries),
  ];
  expect(found.filter((one) => !isAtHome(one)).sort()).toEqual([
    `${cp2}:/tmp/planted: planted`,
    `${cp2}:journal: planted`,
    'planted: planted',
    'processes: planted',
  ]);

  const homes = found.filter(isAtHome);
  expect(homes.length).toBeGreaterThanOrEqual(HOSTS.length * 2 + 9);
  for (const home of homes) {
    const [, host, path] = /^([^:]+):(\/.*): /.exec(home) ?? [];
    if (host !== undefined) expect(await inside(host, `stat -c '%a %U' ${path!}`), home).toBe('600 root\n');
  }
});
