/**
 * Docker Engine with cri-dockerd, as the lab builds them: a control plane, a worker on which an operator has settings and a container
 * of their own, and a worker with containerd; from bare hosts to bare hosts.
 */
import { mkdtempSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { dockerRuntime, namedRegistries, type NamedRegistries, withDocker } from '../docker.ts';
import { fresh, type Fresh } from '../fresh.ts';
import { kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged } from '../ok.ts';
import { dial, kubectl, nodes, startEcho, stopEcho } from '../pods.ts';
import { VERSIONS } from '../versions.ts';
import { waitUntil } from '../wait-until.ts';

const [cp, w1, w2] = ['dkcp1', 'dkw1', 'dkw2'] as const;
const HOSTS = [cp, w1, w2];
const WITH_DOCKER = [cp, w1];
const QUARTER = 15 * 60_000;
const DAEMON = '/etc/docker/daemon.json';
/** What the operator of the worker has there, in their own form. */
const OWN_DAEMON =
  '{ "log-driver": "json-file", "log-opts": {"max-size": "10m", "max-file": "3"},\n  "labels": ["rack=7"] }\n';
/** What Docker says of its version there. */
const OF_DEBIAN = `${VERSIONS.docker}+dfsg1`;
let own: Fresh;
let registries: NamedRegistries;

const up = (): Promise<Ran> => kbuild(...own.up);
const on = async (host: string, command: string): Promise<string> => (await lab.inside(host, command)).stdout.trim();
const daemonOf = async (host: string): Promise<unknown> => JSON.parse(await on(host, `cat ${DAEMON}`));
/** Running containers of a host by their IDs: restarted ones have others. */
const containers = (host: string): Promise<string> =>
  on(host, "docker ps --no-trunc --filter label=io.kubernetes.docker.type --format '{{.ID}} {{.Names}}' | sort");

async function expectPodsToReach(namespace: string, expected: readonly string[]): Promise<void> {
  const pods = await startEcho(cp, namespace);
  expect(pods.map(({ node }) => node).toSorted()).toEqual([...expected].toSorted());
  for (const from of pods) {
    for (const to of pods) expect(await dial(cp, namespace, from, to.ip), `${from.node} → ${to.node}`).toBe(to.name);
    expect(await dial(cp, namespace, from, `echo.${namespace}.svc.cluster.local`, 80), from.node).toBeDefined();
  }
  await stopEcho(cp, namespace);
}

beforeAll(async () => {
  const runtime = await dockerRuntime();
  registries = await namedRegistries(mkdtempSync(join(tmpdir(), 'kbuild-registries-')));
  own = await fresh('docker', HOSTS, (plain) => withDocker(plain, WITH_DOCKER, runtime, registries));
  for (const host of HOSTS) await registries.nameOn(host);
  await lab.inside(w1, `mkdir -p /etc/docker && cat >${DAEMON} && chmod 600 ${DAEMON}`, OWN_DAEMON);
}, QUARTER);
afterAll(async () => {
  registries.close();
  await lab.down(HOSTS);
});

test('up builds a cluster of both runtimes', { timeout: QUARTER }, async () => {
  const ran = ok(await up());
  console.log(`up, Docker Engine on ${WITH_DOCKER.join(' and ')}: ${ran.seconds.toFixed(1)} s`);
  expect(await nodes(cp)).toEqual({ [cp]: true, [w1]: true, [w2]: true });
  const shown = await kubectl(
    cp,
    `get nodes -o jsonpath='{range .items[*]}{.metadata.name} {.status.nodeInfo.containerRuntimeVersion}{"\\n"}{end}'`,
  );
  expect(shown.trim().split('\n').toSorted()).toEqual([
    `${cp} docker://${OF_DEBIAN}`,
    `${w1} docker://${OF_DEBIAN}`,
    `${w2} containerd://${VERSIONS.containerd}`,
  ]);
});

test("the operator's settings of Docker stay beside kbuild's", { timeout: QUARTER }, async () => {
  expect(await daemonOf(w1)).toEqual({
    ...(JSON.parse(OWN_DAEMON) as object),
    ...((await daemonOf(cp)) as object),
  });
  expect(await daemonOf(cp)).toMatchObject({
    'exec-opts': ['native.cgroupdriver=systemd'],
    'live-restore': true,
    'default-runtime': 'lab-runc',
  });
  expect(await on(w1, `stat -c %a ${DAEMON}`)).toBe('600');
  const info = `docker info --format '{{.CgroupDriver}} {{.LiveRestoreEnabled}} {{.DefaultRuntime}} {{.Labels}}'`;
  expect(await on(w1, info)).toBe('systemd true lab-runc [rack=7]');
});

test(
  'packages are held, units are enabled, and kubelets use the socket of cri-dockerd',
  { timeout: QUARTER },
  async () => {
    for (const host of WITH_DOCKER) {
      expect(await on(host, 'apt-mark showhold')).toMatch(/containerd.io\ndocker-ce\ndocker-ce-cli/);
      expect(await on(host, 'systemctl is-enabled docker cri-docker.socket cri-docker')).toBe(
        'enabled\nenabled\nenabled',
      );
      expect(await on(host, 'cri-dockerd --version 2>&1')).toContain(VERSIONS.criDockerd);
      expect(await on(host, 'iptables -S FORWARD | head -n 1')).toBe('-P FORWARD ACCEPT');
      expect(await on(host, `grep -hso 'unix://.*cri-dockerd.sock' /var/lib/kubelet/*.yaml | uniq`)).toBe(
        'unix:///run/cri-dockerd.sock',
      );
      // Commands in containers are for the kubelet alone.
      expect(await on(host, `ss -Hltnp | grep cri-dockerd | awk '{ sub(/:[0-9]+$/, "", $4); print $4 }'`)).toBe(
        '127.0.0.1',
      );
    }
  },
);

test('pods are containers of Docker', { timeout: QUARTER }, async () => {
  expect(await containers(cp)).toMatch(/k8s_kube-apiserver_/);
  expect(await containers(cp)).toMatch(/k8s_etcd_/);
  expect(await containers(w1)).toMatch(/k8s_kube-proxy_/);
  expect(await on(w1, "docker ps --format '{{.Image}} {{.Names}}' | grep k8s_POD | head -n 1")).toMatch(/pause/);
});

test('pods of both runtimes reach each other, by address and by name', { timeout: QUARTER }, async () => {
  await expectPodsToReach('carry', HOSTS);
});

test('logs and exec go through cri-dockerd', { timeout: QUARTER }, async () => {
  const pod = (
    await kubectl(cp, `-n kube-system get pods -l k8s-app=kube-proxy --field-selector spec.nodeName=${w1} -o name`)
  ).trim();
  expect(await kubectl(cp, `-n kube-system logs ${pod}`)).not.toBe('');
  expect(await kubectl(cp, `-n kube-system exec ${pod} -- /usr/local/bin/kube-proxy --version`)).toContain(
    'Kubernetes v',
  );
});

describe('a second run', () => {
  test('has nothing to do, beside a container of the operator', { timeout: QUARTER }, async () => {
    const image = await on(w1, "docker ps --format '{{.Image}}' | grep pause | head -n 1");
    expect(await on(w1, `docker run -d --name mine ${image} >/dev/null && docker ps -q --filter name=mine`)).not.toBe(
      '',
    );
    unchanged(await up());
  });

  test('restarts Docker for a new setting, and no container with it', { timeout: QUARTER }, async () => {
    const before = await containers(w1);
    const started = await on(w1, 'systemctl show docker -p ActiveEnterTimestampMonotonic');
    await lab.inside(w1, `sed -i 's/"rack=7"/"rack=8"/' ${DAEMON}`);
    ok(await up());
    expect(await on(w1, 'systemctl show docker -p ActiveEnterTimestampMonotonic')).not.toBe(started);
    expect(await on(w1, "docker info --format '{{.Labels}}'")).toBe('[rack=8]');
    expect(await containers(w1)).toBe(before);
    expect(await on(w1, 'docker ps -q --filter name=mine')).not.toBe('');
    unchanged(await up());
  });
});

test('hosts with Docker come back from a reboot', { timeout: QUARTER }, async () => {
  await lab.reboot(WITH_DOCKER);
  await waitUntil('all nodes are ready', 300_000, () =>
    nodes(cp).then(
      (ready) => Object.values(ready).every(Boolean),
      () => false,
    ),
  );
  unchanged(await up());
  await expectPodsToReach('again', HOSTS);
});

/** What kbuild and Kubernetes could leave on a host with Docker. */
const LEFT = `apt-mark showhold
  ls -d /etc/apt/sources.list.d/*kbuild* /etc/apt/keyrings/*kbuild* /etc/apt/preferences.d/*kbuild* /etc/docker/*kbuild* \\
    /etc/docker/certs.d/* /etc/systemd/system/cri-docker* /etc/systemd/system/*.wants/cri-docker* \\
    /etc/systemd/system/docker.service.d/*kbuild* /usr/local/bin/cri-dockerd /var/lib/cri-dockerd /run/cri-dockerd.sock /var/lib/kbuild/* \\
    /etc/kubernetes/*.conf /etc/cni/net.d/* /etc/{sysctl.d,modules-load.d}/*kbuild* /var/lib/etcd/member 2>/dev/null
  docker ps -aq --filter label=io.kubernetes.docker.type
  iptables-save | grep -E 'KUBE-|CNI-|FLANNEL-'
  grep /var/lib/kubelet/ /proc/mounts
  pgrep -a cri-dockerd`;

test("remove leaves the worker clean, with the operator's settings and container", { timeout: QUARTER }, async () => {
  await lab.inside(w1, 'docker start mine');
  ok(await kbuild('remove', w1, '-i', own.file, '--yes'));
  expect(await on(w1, LEFT)).toBe('');
  expect(await daemonOf(w1)).toEqual(JSON.parse(OWN_DAEMON.replace('rack=7', 'rack=8')));
  expect(await on(w1, `stat -c %a ${DAEMON}`)).toBe('600');
  expect(await on(w1, 'systemctl is-active docker')).toBe('active');
  expect(await on(w1, "docker ps --format '{{.Names}}'")).toBe('mine');
  expect(await nodes(cp)).toEqual({ [cp]: true, [w2]: true });
});

test('reset leaves the control plane clean', { timeout: QUARTER }, async () => {
  ok(await kbuild('reset', own.file, '--yes-destroy', 'docker'));
  expect(await on(cp, `${LEFT}; ls ${DAEMON} 2>/dev/null`)).toBe('');
});
