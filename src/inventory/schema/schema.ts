import * as z from 'zod';
import { charts } from './charts.ts';
import { certificates, dns, files, hooks } from './cluster.ts';
import { downloads } from './downloads.ts';
import { freeObject, image, ipAddress, label, localPath, manifestEntry, port, text, url } from './formats.ts';
import { kubernetes } from './kubernetes.ts';
import { network } from './network.ts';
import { groups, hosts, kubeletOfAll, roles, ssh, sysctls } from './node.ts';
import { rollout } from './rollout.ts';
import { runtime } from './runtime.ts';
import { installFrom, packages, timeSync, trustedCAs } from './system.ts';
import { windows } from './windows.ts';

const PROXY = 'Proxy for outbound HTTP and HTTPS, e.g. http://proxy.example.com:3128.';

const overrides = (kind: string, example: Readonly<Record<string, unknown>>) =>
  freeObject()
    .default({})
    .meta({
      examples: [example],
      description: `Fields of ${kind}, merged into kbuild's. Lists are replaced, extraArgs merged by name.`,
    });

/** The inventory as users write it: the source of validation, of the JSON Schema and of the reference in docs/. */
export const inventorySchema = z
  .strictObject({
    name: label().meta({ description: 'Name of the cluster. It cannot change later.' }),
    kubernetes,
    network,
    dns,
    runtime,
    etcd: z
      .strictObject({
        topology: z
          .enum(['stacked', 'external'])
          .default('stacked')
          .meta({
            description:
              'stacked: on the control planes. external: on the hosts of role etcd, where kbuild builds it, or ' +
              'your own at endpoints.',
          }),
        endpoints: z
          .array(
            text(
              /^https:\/\/(?:[a-z0-9.-]+|\[[0-9a-f:]+\]):\d{1,5}$/,
              'https://host:port, e.g. "https://10.0.0.41:2379"',
            ),
          )
          .default([])
          .meta({ description: 'external: client URLs of every member of your own etcd.' }),
        ca: localPath().exactOptional().meta({ description: 'external: PEM file of the CA of its servers.' }),
        cert: localPath()
          .exactOptional()
          .meta({ description: "external: PEM file of the API servers' client certificate." }),
        key: localPath().exactOptional().meta({ description: 'external: PEM file of its key.' }),
      })
      .prefault({})
      .meta({ description: 'Where etcd runs.' }),
    certificates,
    loadBalancer: z
      .strictObject({
        kind: z
          .enum(['none', 'external', 'keepalived', 'kube-vip', 'local'])
          .default('none')
          .meta({
            description:
              'none: kubernetes.endpoint is a name that you keep, or there is one control plane. external: you run ' +
              'one at kubernetes.endpoint. keepalived: kbuild builds haproxy and keepalived, on the hosts of role ' +
              'load-balancer or else on the control planes. kube-vip: a static pod on every control plane. local: ' +
              'haproxy on every node, at a port of 127.0.0.1 that is the endpoint; no virtual address.',
          }),
        address: ipAddress()
          .exactOptional()
          .meta({
            description:
              'keepalived, kube-vip: the virtual address, free and in the network of the hosts that hold it. Of the ' +
              'primary family.',
          }),
        port: port()
          .exactOptional()
          .meta({
            description:
              'keepalived: where haproxy listens. Default: 6443 on hosts of role load-balancer, 8443 on control ' +
              'planes. local: the port on 127.0.0.1 of every node. Default: 7443.',
          }),
        healthPort: port()
          .default(8404)
          .meta({ description: 'keepalived: port on 127.0.0.1 where haproxy tells keepalived that it has a backend.' }),
        routerId: z
          .number()
          .int()
          .min(1)
          .max(255)
          .exactOptional()
          .meta({
            description:
              "keepalived: VRRP's virtual router id, of which a network has each only once. Default: the last " +
              'number of address (of IPv6: its lowest byte).',
          }),
        image: image().default('ghcr.io/kube-vip/kube-vip:v1.0.1').meta({ description: 'kube-vip: its image.' }),
      })
      .prefault({})
      .meta({ description: 'What stands before the API servers.' }),
    proxy: z
      .strictObject({
        http: url().exactOptional().meta({ description: PROXY }),
        https: url()
          .exactOptional()
          .meta({ description: `${PROXY} Default: http.` }),
        noProxy: z
          .array(text(/^[A-Za-z0-9.*:/_-]+$/, 'a name, address or network without blanks and commas'))
          .default([])
          .meta({
            examples: [['.example.com', '192.0.2.0/24']],
            description: 'What is reached directly, besides hosts, endpoint, pods and Services, which kbuild adds.',
          }),
      })
      .exactOptional()
      .meta({ description: 'Outbound proxy for the package manager, the runtime and kubeadm.' }),
    backup: z
      .strictObject({
        recipients: z
          .array(
            text(
              /^(?:age1[a-z0-9]{20,4000}|ssh-ed25519 [A-Za-z0-9+/]{68}(?: [^\p{Cc}]*)?)$/u,
              'a public key that age knows: "age1…" (age-keygen), or "ssh-ed25519 AAAA…"',
            ),
          )
          .default([])
          .meta({
            // From the README of age.
            examples: [['age1ql3z7hjy54pw3hyww5ayyfg7zqgvc7w3j2elw8zmrj2kg5sfn9aqmcac8p']],
            description:
              'Public keys for whose holders `kbuild backup` encrypts: age1…, or ssh-ed25519 … as in ' +
              'authorized_keys. Any one of their private keys opens a backup. Without any, the backup asks for a ' +
              'passphrase.',
          }),
      })
      .prefault({})
      .meta({ description: 'Backups of `kbuild backup`, which are always encrypted.' }),
    firewall: z
      .enum(['report', 'open'])
      .default('report')
      .meta({
        description:
          'open: `up` opens in ufw, firewalld or nftables what hosts and pods of this inventory need, and `reset` ' +
          'takes it back. report: `check` lists what is missing.',
      }),
    files,
    installFrom: installFrom.default('distribution'),
    downloads,
    packages: packages(),
    trustedCAs: trustedCAs(),
    timeSync: timeSync.exactOptional(),
    hooks,
    rollout,
    charts,
    manifests: z
      .array(manifestEntry())
      .default([])
      .meta({
        description:
          'YAML files, or https:// URLs, of at most 8 MiB, with objects for the cluster, applied after the ' +
          'network; or mappings of source and sha256, which its bytes must have.',
      }),
    kubelet: kubeletOfAll,
    sysctls,
    roles,
    groups,
    kubeadm: z
      .strictObject({
        init: overrides('InitConfiguration', { timeouts: { kubeletHealthCheck: '5m0s' } }),
        cluster: overrides('ClusterConfiguration', {
          apiServer: { extraArgs: [{ name: 'profiling', value: 'false' }] },
        }),
        join: overrides('JoinConfiguration', { timeouts: { tlsBootstrap: '10m0s' } }),
        kubeProxy: overrides('KubeProxyConfiguration', { mode: 'nftables' }),
        reset: overrides('ResetConfiguration', { unmountFlags: ['MNT_DETACH'] }),
        patches: localPath()
          .exactOptional()
          .meta({ description: "Folder with patches for kubeadm's `patches.directory`." }),
      })
      .prefault({})
      .meta({ description: "Overrides of kubeadm's configuration (v1beta4)." }),
    ssh,
    windows,
    setHostname: z
      .boolean()
      .default(false)
      .meta({ description: 'True: `up` gives every host the name that it has here.' }),
    ignoreChecks: z
      .array(text(/^[A-Za-z][A-Za-z0-9-]*$/, 'the name of a check'))
      .default([])
      .meta({
        examples: [['pending-reboot']],
        description: 'Checks whose findings become warnings. There is no way to ignore all.',
      }),
    hosts,
  })
  .meta({ title: 'kbuild inventory' });

/** The inventory as written, with defaults filled in, before files, secrets and hosts' settings are resolved. */
export type InventoryFile = z.output<typeof inventorySchema>;

/** One host as written. */
export type HostEntry = InventoryFile['hosts'][number];

/** The JSON Schema of what users write: what editors complete by, and `kbuild schema` prints. */
export const inventoryJsonSchema = (draft: '7' | '2020-12' = '2020-12'): Record<string, unknown> =>
  z.toJSONSchema(inventorySchema, { io: 'input', target: `draft-${draft}` });
