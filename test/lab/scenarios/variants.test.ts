/**
 * What an inventory can ask for beside the ordinary: one node for everything, the other Kubernetes minor, cgroupfs, a
 * private registry, a proxy, a certificate authority that signs elsewhere, the user's own settings and manifests, and no
 * network plugin at all.
 */
import { mkdtempSync, readFileSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stringify } from 'yaml';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import { httpProxy, type Proxy } from '../http-proxy.ts';
import { inventoryFile, kbuild, type Ran } from '../kbuild.ts';
import * as lab from '../lab.ts';
import { ok, unchanged, well } from '../ok.ts';
import { kubectl, nodes } from '../pods.ts';
import { makeSigner, type Signer } from '../signer.ts';
import { VERSIONS } from '../versions.ts';

const HOST = 'bcp1';

let folder: string;
let file: string;
let proxy: Proxy;
let base: lab.LabInventory;

const write = (inventory: object): void => writeFileSync(file, stringify(inventory, { aliasDuplicateObjects: false }));
const up = (): Promise<Ran> => kbuild('up', file, '--yes', '--kubeconfig', join(folder, 'admin.conf'));
const on = async (command: string): Promise<string> => (await lab.inside(HOST, command)).stdout;

beforeAll(async () => {
  await lab.up([HOST]);
  await lab.reset([HOST]);
  proxy = await httpProxy();
  base = { ...(await lab.inventory([HOST])), name: 'variants' };
  ({ folder, file } = inventoryFile(base));
});

afterAll(async () => {
  await proxy.stop();
  await lab.down([HOST]);
});

describe('one node for everything, with everything', () => {
  let inventory: lab.LabInventory;
  let signer: Signer;

  beforeAll(async () => {
    signer = await makeSigner(mkdtempSync(join(tmpdir(), 'kbuild-signer-')));
    process.env['LAB_REGISTRY_PASSWORD'] = lab.PRIVATE_REGISTRY.password;
    const kubernetes = base['kubernetes'] as { repository: object };
    const runtime = base['runtime'] as object;
    const kubeadm = base['kubeadm'] as Record<string, object>;
    writeFileSync(
      join(folder, 'hello.yaml'),
      stringify({
        apiVersion: 'apps/v1',
        kind: 'Deployment',
        metadata: { name: 'hello', namespace: 'default' },
        spec: {
          selector: { matchLabels: { app: 'hello' } },
          template: {
            metadata: { labels: { app: 'hello' } },
            spec: {
              containers: [
                {
                  name: 'hello',
                  image: `registry.k8s.io/e2e-test-images/agnhost:${VERSIONS.agnhost}`,
                  args: ['netexec'],
                },
              ],
            },
          },
        },
      }),
    );
    inventory = {
      ...base,
      kubernetes: { ...kubernetes, version: '1.37.1', endpoint: 'api.variants.test:6443', endpointInHosts: true },
      setHostname: true,
      runtime: {
        ...runtime,
        cgroupDriver: 'cgroupfs',
        registries: [
          {
            host: 'registry.k8s.io',
            mirrors: [lab.PRIVATE_REGISTRY.url],
            ca: lab.tls.ca,
            username: lab.PRIVATE_REGISTRY.username,
            password: 'env:LAB_REGISTRY_PASSWORD',
          },
          { host: 'ghcr.io', mirrors: [lab.REGISTRY_URL] },
        ],
      },
      proxy: { http: proxy.url },
      certificates: { ca: { cert: signer.authority.cert, sign: signer.command } },
      files: [
        {
          hosts: 'control-plane',
          content: 'apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{ level: Metadata }]\n',
          path: '/etc/kubernetes/audit-policy.yaml',
        },
      ],
      manifests: ['hello.yaml'],
      kubeadm: {
        ...kubeadm,
        cluster: {
          apiServer: {
            extraArgs: [
              { name: 'audit-policy-file', value: '/etc/kubernetes/audit-policy.yaml' },
              { name: 'audit-log-path', value: '-' },
            ],
            extraVolumes: [
              {
                name: 'audit',
                hostPath: '/etc/kubernetes/audit-policy.yaml',
                mountPath: '/etc/kubernetes/audit-policy.yaml',
                readOnly: true,
                pathType: 'File',
              },
            ],
          },
        },
      },
      hosts: base.hosts.map((host) => ({ ...host, taints: [], kubelet: { config: { maxPods: 55 } } })),
    };
    await lab.inside(
      HOST,
      `echo '/swapfile none swap sw 0 0' >> /etc/fstab
       printf '[Swap]\\nWhat=/dev/zero\\n' > /run/systemd/system/dev-zero.swap; systemctl daemon-reload
       echo net.ipv4.ip_forward=0 > /etc/sysctl.d/99-a-mine.conf
       hostnamectl set-hostname another; printf '192.0.2.1 mine\n' >> /etc/hosts`,
    );
    write(inventory);
  });

  test('up builds it', async () => {
    const ran = ok(await up());
    console.log(`one node, Kubernetes 1.37.1, by proxy and private registry: ${ran.seconds.toFixed(1)} s`);
    expect(await nodes(HOST)).toEqual({ [HOST]: true });
    expect(await kubectl(HOST, `get node ${HOST} -o jsonpath='{.status.nodeInfo.kubeletVersion}'`)).toBe('v1.37.1');
    expect(await kubectl(HOST, `get node ${HOST} -o jsonpath='{.spec.taints}'`)).toBe('');
  });

  test('every certificate of its authority was signed by the user, whose key is not there', async () => {
    expect(signer.asked()).toHaveLength(7);
    expect(await on('cat /etc/kubernetes/pki/ca.crt')).toBe(readFileSync(signer.authority.cert, 'utf8'));
    expect(await on('ls /etc/kubernetes/pki/ca.key /run/kbuild/signing 2>/dev/null')).toBe('');
    const leaves = 'apiserver.crt apiserver-kubelet-client.crt /var/lib/kubelet/pki/kubelet-client-current.pem';
    const issuers = await on(
      `cd /etc/kubernetes/pki && for leaf in ${leaves}; do openssl x509 -noout -issuer -in $leaf; done`,
    );
    expect(issuers).toBe('issuer=CN = vault\n'.repeat(3));
  });

  test("the host has its name, and the endpoint's name is known on it, beside what was in /etc/hosts", async () => {
    expect(await on('hostname; cat /etc/hostname')).toBe(`${HOST}\n${HOST}\n`);
    const address = base.hosts[0]!['internalAddress'] ?? base.hosts[0]!['address'];
    expect(await on('getent hosts api.variants.test')).toMatch(new RegExp(`^${address}\\s`));
    expect(await on('cat /etc/hosts')).toContain('192.0.2.1 mine\n');
    expect(await on('grep server: /etc/kubernetes/admin.conf')).toContain('https://api.variants.test:6443');
  });

  test('runtime and kubelet really use cgroupfs', async () => {
    const cgroups = await on('cat /proc/[0-9]*/cgroup 2>/dev/null | grep kubepods | head -3');
    expect(cgroups).toMatch(/\/kubepods\//);
    expect(cgroups).not.toContain('kubepods.slice');
  });

  test('etcd is observed through crictl where the repository of Kubernetes has cri-tools', async () => {
    expect(await on('dpkg -s cri-tools | grep ^Status')).toBe('Status: install ok installed\n');
    expect(await on("crictl ps -q --name '^etcd$' --state Running")).toMatch(/^[0-9a-f]{64}\n$/);
    const status = await well(() => kbuild('status', file, '--json'));
    expect(JSON.parse(status.stdout)).toMatchObject({ etcd: { members: [{ name: HOST, healthy: true }] } });
  });

  test('swap stays off after a reboot: fstab is commented with a backup, units are masked', async () => {
    expect(await on('grep swap /etc/fstab')).toMatch(/^#/);
    expect(await on('ls /etc/fstab*')).toContain('kbuild');
    expect(await on('systemctl is-enabled dev-zero.swap')).toContain('masked');
  });

  test('sysctls hold against another file that says otherwise', async () => {
    expect(await on('sysctl --system >/dev/null 2>&1; sysctl -n net.ipv4.ip_forward')).toBe('1\n');
  });

  test('packages and images came through the proxy, whose URL arrives to the byte; the cluster itself does not', async () => {
    expect(proxy.asked.some((url) => url.includes('/kubernetes/v1.37/deb'))).toBe(true);
    expect(proxy.asked.some((url) => url.includes(':5000/v2/flannel-io'))).toBe(true);
    expect(proxy.asked.filter((url) => url.includes(':6443'))).toEqual([]);
    const variables = await on("tr '\\0' '\\n' </proc/$(systemctl show -P MainPID containerd)/environ");
    expect(variables.split('\n')).toContain(`HTTP_PROXY=${proxy.url}`);
  });

  test('the password of the registry is in no readable file and no log', async () => {
    const secret = lab.PRIVATE_REGISTRY.password;
    expect(await on('stat -c %a /etc/containerd/certs.d/registry.k8s.io/hosts.toml')).toBe('600\n');
    expect(await on(`grep -rl '${secret}' /etc /var/log /run/kbuild 2>/dev/null || true`)).toBe('');
    expect(await on(`journalctl --no-pager | grep -c '${secret}' || true`)).toBe('0\n');
  });

  test("the user's own settings arrive: kubelet of the host, arguments and volumes of the API server, manifests", async () => {
    expect(await on('grep maxPods /var/lib/kubelet/config.yaml')).toContain('55');
    expect(await on('cat /etc/kubernetes/manifests/kube-apiserver.yaml')).toContain('--audit-policy-file');
    await kubectl(HOST, '-n default rollout status deployment/hello --timeout=90s');
  });

  test('a second run has nothing to do', async () => {
    unchanged(await up());
  });

  test('what is taken out of the inventory is taken back', async () => {
    write({ ...inventory, proxy: undefined, manifests: [] });
    ok(await up());
    expect(await on('ls /etc/apt/apt.conf.d /etc/systemd/system/*.service.d')).not.toContain('kbuild-proxy');
    expect(await kubectl(HOST, 'get deployments -A')).not.toContain('hello');
    unchanged(await up());
  });
});

describe('no network plugin', () => {
  test('without a network plugin, kbuild waits only until nodes are registered and kubelets healthy', async () => {
    ok(await kbuild('reset', file, '--yes-destroy', 'variants'));
    expect(await on('cat /etc/hosts')).not.toContain('api.variants.test');
    expect(await on('cat /etc/hosts')).toContain('192.0.2.1 mine\n');
    write({ ...base, network: { plugin: 'none' } });
    const ran = ok(await up());
    console.log(`one node without a network plugin: ${ran.seconds.toFixed(1)} s`);
    expect(Object.keys(await nodes(HOST))).toEqual([HOST]);
    unchanged(await up());
  });
});

describe('a runtime that hangs', () => {
  test('reset restarts it and takes the host down all the same', async () => {
    await lab.inside(HOST, 'systemctl kill -s STOP containerd');
    const ran = ok(await kbuild('reset', file, '--yes-destroy', 'variants'));
    console.log(`reset with a hanging runtime: ${ran.seconds.toFixed(1)} s`);
    expect(await on('ls /etc/kubernetes/*.conf /var/lib/etcd/member 2>/dev/null; ctr -n k8s.io tasks ls -q')).toBe('');
    expect(ok(await kbuild('reset', file, '--yes-destroy', 'variants')).stdout).toContain('nothing to do');
  });
});
