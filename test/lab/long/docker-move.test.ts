/**
 * `runtime.name` edited on a live cluster with Docker Engine: nodes change to CRI-O and back, beside a container and a volume of an operator,
 * which Docker goes on for.
 */
import { mkdtempSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dockerRuntime, namedRegistries, type NamedRegistries, withDocker } from '../docker.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { crioRuntime, type LabInventory } from '../inventory.ts';
import { eventsOf, kbuild, start, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, timed, unchanged } from '../ok.ts';
import { dial, kubectl, nodes, startEcho } from '../pods.ts';
import { reported } from '../reported.ts';
import { leftOnNodes } from '../upgraded.ts';
import { waitUntil } from '../wait-until.ts';
import { oneAfterAnother, spans, reportedRuntimes } from '../rolled.ts';

const [cp, w1] = ['dmcp1', 'dmw1'] as const;
const HOSTS = [cp, w1];
const HALF_AN_HOUR = 30 * 60_000;
const DAEMON = '/etc/docker/daemon.json';
const OWN_DAEMON = '{ "log-driver": "json-file",\n  "labels": ["rack=7"] }\n';
type Name = 'docker' | 'crio' | 'containerd';
let own: Fresh;
let plain: LabInventory;
let registries: NamedRegistries;
let runtimes: Readonly<Record<'docker' | 'crio', object>>;

const settings = (from: LabInventory, names: Readonly<Record<string, Name>>): object => {
  const { hosts, ...rest } = withDocker(from, [], {}, registries) as { readonly hosts: LabInventory['hosts'] };
  return {
    ...rest,
    hosts: hosts.map((host) => {
      const name = names[host.name]!;
      return name === 'containerd' ? host : { ...host, runtime: runtimes[name] };
    }),
  };
};
/** Names the runtimes of the hosts in the inventory. */
const name = (names: Readonly<Record<string, Name>>): void =>
  writeFileSync(
    own.file,
    stringify({ ...plain, name: 'docker-moves', ...settings(plain, names) }, { aliasDuplicateObjects: false }),
  );
const up = (): Promise<Ran> => kbuild(...own.up, '--json');
const on = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout.trim();
const unit = (host: string, of: string): Promise<string> =>
  on(host, `systemctl is-active ${of}; systemctl is-enabled ${of}; true`);

/** The API answers, nodes and pods are ready, and nothing ends any more: the lab's crun may end other containers too when it removes one. */
async function settled(): Promise<void> {
  const isSo = (): Promise<boolean> =>
    Promise.all([
      nodes(cp),
      kubectl(cp, "get pods -A -o jsonpath='{.items[*].metadata.deletionTimestamp}'"),
      kubectl(cp, "get pods -A -o jsonpath='{.items[*].status.containerStatuses[*].ready}'"),
    ]).then(
      ([ready, ending, pods]) => Object.values(ready).every(Boolean) && ending === '' && !pods.includes('false'),
      () => false,
    );
  await waitUntil('the cluster is at rest', 300_000, isSo);
  await new Promise((resolve) => setTimeout(resolve, 10_000));
  await waitUntil('the cluster is at rest', 300_000, isSo);
}

/**
 * Nodes are Ready, pods of all hosts reach each other, logs and exec work on both, and there is nothing to do. Exec is for the pods that
 * reach each other: the lab's crun enters no privileged one (`capset: Operation not permitted`).
 */
async function isWhole(): Promise<void> {
  await settled();
  const pods = await startEcho(cp, 'carry');
  expect(pods.map(({ node }) => node).toSorted()).toEqual(HOSTS);
  for (const from of pods)
    for (const to of pods) expect(await dial(cp, 'carry', from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
  for (const { name: pod } of pods)
    expect(await kubectl(cp, `-n carry exec ${pod} -- /agnhost --version`)).toContain('version');
  await settled();
  expect(await leftOnNodes(cp)).toEqual([]);
  for (const host of HOSTS) {
    const of = `-n kube-system get pods -l k8s-app=kube-proxy --field-selector spec.nodeName=${host} -o name`;
    const pod = (await kubectl(cp, of)).trim();
    expect(await kubectl(cp, `-n kube-system logs ${pod}`)).not.toBe('');
  }
  unchanged(await kbuild(...own.up));
}

/** Kills `up` in the middle of a step on the worker, and finishes by the same command, without a second drain. */
async function cutOffAt(step: string): Promise<void> {
  const running = start([...own.up, '--json']);
  await reported(
    running,
    `${step} of ${w1}`,
    HALF_AN_HOUR,
    (event) => event.kind === 'changing' && event.step === step && event.host === w1,
  );
  running.kill('SIGKILL');
  await running.ended;
  const ran = ok(timed(`the rest after ${step}`, await up()));
  expect(spans(ran, 'drained')).toEqual([]);
}

/** What kbuild and Kubernetes could leave of Docker Engine on a host. */
const LEFT = `apt-mark showhold | grep -E 'docker|containerd'
  ls -d /etc/apt/sources.list.d/*kbuild-docker* /etc/docker/*kbuild* /etc/docker/certs.d/* /etc/systemd/system/cri-docker* \\
    /etc/systemd/system/*.wants/cri-docker* /etc/systemd/system/docker.service.d/*kbuild* /usr/local/bin/cri-dockerd \\
    /var/lib/cri-dockerd /run/cri-dockerd.sock 2>/dev/null
  if systemctl -q is-active docker; then docker ps -aq --filter label=io.kubernetes.docker.type; fi
  grep -s ExtendWebSockets /var/lib/kubelet/config.yaml
  pgrep -a cri-dockerd; true`;

beforeAll(async () => {
  runtimes = { docker: await dockerRuntime(), crio: await crioRuntime() };
  registries = await namedRegistries(mkdtempSync(join(tmpdir(), 'kbuild-registries-')));
  own = await fresh('docker-moves', HOSTS, (from) => settings(from, { [cp]: 'docker', [w1]: 'docker' }));
  plain = await lab.inventory(HOSTS);
  for (const host of HOSTS) await registries.nameOn(host);
  await lab.inside(w1, `mkdir -p /etc/docker && cat >${DAEMON} && chmod 600 ${DAEMON}`, OWN_DAEMON);
  ok(await kbuild(...own.up));
  const image = await on(w1, "docker ps --format '{{.Image}}' | grep pause | head -n 1");
  await lab.inside(w1, `docker volume create data >/dev/null && docker run -d -v data:/data --name mine ${image}`);
}, 2 * HALF_AN_HOUR);
afterAll(async () => {
  registries.close();
  await lab.down(HOSTS);
});

describe('from Docker Engine to CRI-O', () => {
  test('containerd, which Docker Engine starts its containers by, is reached by way of CRI-O', async () => {
    name({ [cp]: 'docker', [w1]: 'containerd' });
    const ran = await kbuild(...own.up);
    expect(ran.code).toBe(7);
    expect(ran.stderr).toContain('go by way of CRI-O: set runtime.name to crio');
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['docker', 'docker']);
  });

  test('a run that is cut off while the pods move is finished by the same command', async () => {
    name({ [cp]: 'docker', [w1]: 'crio' });
    await cutOffAt('runtime-moved');
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['docker', 'cri-o']);
    expect(await on(w1, LEFT)).toBe('');
    await isWhole();
  });

  test('Docker goes on for what the operator has there, with the settings of the operator', async () => {
    expect(await unit(w1, 'docker')).toBe('active\nenabled');
    expect(await on(w1, "docker ps --format '{{.Names}}'; docker volume ls --format '{{.Name}}'")).toBe('mine\ndata');
    expect(await on(w1, `cat ${DAEMON}; stat -c %a ${DAEMON}`)).toBe(`${OWN_DAEMON}600`);
  });
});

describe('back to Docker Engine', () => {
  test('goes the same way, also cut off behind the move', async () => {
    name({ [cp]: 'docker', [w1]: 'docker' });
    await lab.inside(w1, 'docker stop mine');
    await cutOffAt('runtime-retired');
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['docker', 'docker']);
    expect(await unit(w1, 'crio')).toBe('inactive\ndisabled');
    expect(await on(w1, 'iptables -S FORWARD | head -n 1')).toBe('-P FORWARD ACCEPT');
    expect(await on(w1, "docker ps -a --filter name=mine --format '{{.Names}}'")).toBe('mine');
    await isWhole();
  });

  test('and away again, a stopped container of the operator keeps Docker as well', async () => {
    name({ [cp]: 'docker', [w1]: 'crio' });
    ok(timed('the worker away', await up()));
    expect(await unit(w1, 'docker')).toBe('active\nenabled');
    expect(await on(w1, 'docker start mine')).toBe('mine');
    await isWhole();
  });
});

describe('the whole cluster', () => {
  test('the only control plane follows in one run, and nothing of Docker runs there', async () => {
    name({ [cp]: 'crio', [w1]: 'crio' });
    const ran = ok(timed('the control plane', await up()));
    expect(spans(ran, 'runtime-moved')).toEqual(oneAfterAnother([cp]));
    expect(eventsOf(ran).filter(({ kind }) => kind === 'unplanned')).toEqual([]);
    expect(await reportedRuntimes(cp, HOSTS)).toEqual(['cri-o', 'cri-o']);
    expect(await on(cp, LEFT)).toBe('');
    for (const one of ['docker', 'docker.socket', 'containerd']) expect(await unit(cp, one)).toBe('inactive\ndisabled');
    expect(await on(cp, `ls ${DAEMON} 2>/dev/null; pgrep -a dockerd; pgrep -a containerd; true`)).toBe('');
    await isWhole();
  });
});
