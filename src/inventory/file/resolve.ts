import { signsAnyByCommand } from '../../certificates/authorities.value.ts';
import { RENEWED_BEFORE_MS } from '../../certificates/validity.value.ts';
import { withKubeletAuthority } from '../../kubeadm/kubelet-serving.value.ts';
import { pluginFile } from '../../network/plugins.file.ts';
import { minorFacts, minorOf, supportedMinors } from '../../versions.ts';
import { addressesOf, eachOf, endpointHost, hasIpv6, hostPort, isIP, lastByte } from '../addresses.ts';
import type { Certificates, LoadBalancer } from '../control-plane.ts';
import type { Host, Inventory } from '../inventory.ts';
import { renewBeforeOf } from '../schema/cluster.ts';
import { rolloutOf } from '../schema/rollout.ts';
import type { HostEntry, InventoryFile } from '../schema/schema.ts';
import type { Gathered } from './gather.ts';
import { hooksOf, installFromOf, selinuxPatches, timeSyncOfHost } from './host-settings.ts';
import { asList, kubeletOf, levelsOf, selected } from './levels.ts';
import { balancerPort, endpointOf } from './rules/endpoint.ts';
import { internalAddressesOf } from './rules/addresses.ts';
import { balancersOfServices } from './rules/network-services.ts';
import { runtimeOf, upperHex, withHandlerLabels, withRuntimes } from './runtimes.ts';
import { type Locate, sshOf, type SshSecrets } from './ssh.ts';
import { windowsOf } from './windows.ts';

/** Lists of all levels as one. */
const united = (lists: readonly (readonly string[])[]): readonly string[] => [...new Set(lists.flat())];

function hostOf(
  file: InventoryFile,
  host: HostEntry,
  { secrets, authorities }: { readonly secrets: SshSecrets; readonly authorities: ReadonlyMap<string, string> },
  locate: Locate,
): Host {
  const levels = levelsOf(file, host);
  const [internalAddress = host.address, secondAddress] = internalAddressesOf(host);
  const common = {
    name: host.name,
    address: host.address,
    internalAddress,
    ...(secondAddress === undefined ? {} : { secondAddress }),
    groups: host.groups,
    kubelet: kubeletOf(file, host),
    labels: Object.assign({}, ...levels.map(({ labels }) => labels)) as HostEntry['labels'],
    taints: levels.findLast(({ taints }) => taints !== undefined)?.taints,
  };
  if (host.os === 'windows')
    return {
      ...common,
      os: 'windows',
      role: 'worker',
      ssh: sshOf(file.ssh, host.ssh, secrets, locate, 'Administrator'),
      setHostname: false,
      windows: windowsOf(file, host.windows),
    };
  const timeSync = timeSyncOfHost(file, host);
  return {
    ...common,
    os: 'linux',
    role: host.role,
    sysctls: Object.fromEntries(
      [file, ...levels].flatMap(({ sysctls }) => Object.entries(sysctls).map(([name, value]) => [name, String(value)])),
    ),
    installFrom: installFromOf(file, host),
    packages: united([file, ...levels].map((level) => level.packages)),
    trustedCas: united([file, ...levels].map((level) => level.trustedCAs)).map((name) => authorities.get(name) ?? ''),
    ...(timeSync === undefined ? {} : { timeSync }),
    ssh: sshOf(file.ssh, host.ssh, secrets, locate),
    setHostname: host.setHostname ?? file.setHostname,
  };
}

function loadBalancerOf(file: InventoryFile): LoadBalancer {
  const { kind, address, healthPort, image, routerId } = file.loadBalancer;
  if (kind === 'local') return { kind, port: balancerPort(file), healthPort };
  if (kind === 'none' || kind === 'external' || address === undefined)
    return { kind: kind === 'none' ? kind : 'external' };
  const port = balancerPort(file);
  return kind === 'kube-vip'
    ? { kind, address, port, image }
    : { kind, address, port, healthPort, routerId: routerId ?? (lastByte(address) || 255) };
}

/** The hosts and networks that are reached without the proxy, then the inventory's own entries. */
function noProxyOf(file: InventoryFile, hosts: readonly Host[], endpoint: string): readonly string[] {
  const { network, kubernetes, proxy } = file;
  return [
    ...new Set([
      'localhost',
      '127.0.0.1',
      ...(hasIpv6(file) ? ['::1'] : []),
      ...hosts.flatMap((host) => [...addressesOf(host), host.address, host.name]),
      endpointHost(endpoint),
      file.loadBalancer.address ?? '',
      ...eachOf(network.podSubnet),
      ...eachOf(network.serviceSubnet),
      ...network.moreServiceSubnets,
      '.svc',
      `.${kubernetes.dnsDomain}`,
      ...(proxy?.noProxy ?? []),
    ]),
  ].filter((entry) => entry !== '');
}

/** agnhost has a variant for Server 2025 since 2.62 (kubernetes/k8s.io 9057). */
const testImageFor = ({ hosts }: InventoryFile): string =>
  `registry.k8s.io/e2e-test-images/agnhost:${hosts.some(({ os }) => os === 'windows') ? '2.62' : '2.53'}`;

function networkOf(file: InventoryFile, { pluginManifests, balancerManifests }: Gathered): Inventory['network'] {
  const { podSubnet, serviceSubnet, moreServiceSubnets, mtu } = file.network;
  const testImage = file.network.testImage ?? testImageFor(file);
  const subnets = { podSubnet, serviceSubnet, moreServiceSubnets, ...(mtu === undefined ? {} : { mtu }) };
  const { loadBalancers: asked, nodeLocalDNS: nodeLocalDns } = file.network;
  const loadBalancers = asked === undefined ? undefined : balancersOfServices(file, asked, balancerManifests);
  return {
    ...pluginFile(file).settings(file),
    ...subnets,
    ...(loadBalancers === undefined ? {} : { loadBalancers }),
    ...(nodeLocalDns === undefined ? {} : { nodeLocalDns }),
    manifests: pluginManifests,
    testImage,
  };
}

function etcdOf(file: InventoryFile, { etcd }: Gathered, hosts: readonly Host[]): Inventory['etcd'] {
  if (etcd !== undefined) return { topology: 'external', ...etcd };
  if (file.etcd.topology === 'stacked') return { topology: 'stacked' };
  const members = hosts.filter(({ role }) => role === 'etcd');
  return {
    topology: 'built',
    endpoints: members.map(({ internalAddress }) => `https://${hostPort(internalAddress, 2379)}`),
  };
}

function certificatesOf({ certificates }: InventoryFile, { authorities }: Gathered): Certificates {
  if (typeof certificates === 'string') return { distribution: certificates, renewBeforeMs: RENEWED_BEFORE_MS };
  const { distribution = 'upload', renewBefore } = certificates;
  const renewBeforeMs = renewBefore === undefined ? RENEWED_BEFORE_MS : renewBeforeOf(renewBefore);
  // kubeadm does not upload certificates without the keys of their authorities.
  const copied = signsAnyByCommand({ certificates: { distribution, renewBeforeMs, ...authorities } });
  return { distribution: copied ? 'copy' : distribution, renewBeforeMs, ...authorities };
}

function proxyOf(file: InventoryFile, hosts: readonly Host[], endpoint: string): Inventory['proxy'] {
  if (file.proxy === undefined) return undefined;
  const { http } = file.proxy;
  const https = file.proxy.https ?? http;
  return {
    ...(http === undefined ? {} : { http }),
    ...(https === undefined ? {} : { https }),
    noProxy: noProxyOf(file, hosts, endpoint),
  };
}

const filesOf = (file: InventoryFile, { files }: Gathered, hosts: readonly Host[]): Inventory['files'] =>
  file.files.map(({ hosts: selectors, path, mode, secret }, i) => ({
    hosts: hosts
      .filter(
        (host) => host.os === 'linux' && asList(selectors).some((selector) => selected([host], selector).length > 0),
      )
      .map(({ name }) => name),
    path,
    content: files[i]!,
    mode: Number.parseInt(mode ?? (secret === undefined ? '0644' : '0600'), 8),
  }));

function kubernetesRepository(
  { kubernetes: { repository } }: InventoryFile,
  { kubernetesKey }: Gathered,
  minor: string,
): Inventory['kubernetes']['repository'] {
  const placeOf = ({ url, fingerprint }: { readonly url: string; readonly fingerprint: string }) => ({
    url: url.replaceAll('{minor}', minor),
    urlOfMinor: url,
    fingerprint: upperHex(fingerprint),
  });
  return {
    ...placeOf(repository),
    key: kubernetesKey.deb,
    rpm: { ...placeOf(repository.rpm), key: kubernetesKey.rpm },
  };
}

/**
 * The inventory with everything filled in. Pure. Of a file that broke a rule the result has no meaning.
 * `file` in the result is `path`.
 */
export function resolved(file: InventoryFile, gathered: Gathered, path: string, locate: Locate): Inventory {
  const { kubernetes } = file;
  const minor = minorOf(kubernetes.version);
  const known = minorFacts(minor) === undefined ? supportedMinors.at(-1)! : minor;
  const runtime = runtimeOf(file, file.runtime, gathered, known);
  const hosts = withHandlerLabels(
    withRuntimes(
      file,
      file.hosts.map((host, i) =>
        hostOf(file, host, { secrets: gathered.ssh[i]!, authorities: gathered.trustedCas }, locate),
      ),
      (own) => runtimeOf(file, own, gathered, known),
    ),
    runtime,
  );
  const endpoint = endpointOf(file);
  return {
    name: file.name,
    file: path,
    kubernetes: {
      version: kubernetes.version,
      minor,
      repository: kubernetesRepository(file, gathered, minor),
      via: kubernetes.via,
      imageRepository: kubernetes.imageRepository,
      dnsDomain: kubernetes.dnsDomain,
      ...(kubernetes.adopt === undefined ? {} : { adopt: kubernetes.adopt }),
    },
    endpoint,
    endpointInHosts: kubernetes.endpointInHosts && isIP(endpointHost(endpoint)) === 0,
    network: networkOf(file, gathered),
    dns: file.dns,
    runtime,
    etcd: etcdOf(file, gathered, hosts),
    certificates: certificatesOf(file, gathered),
    loadBalancer: loadBalancerOf(file),
    proxy: proxyOf(file, hosts, endpoint),
    files: filesOf(file, gathered, hosts),
    rollout: rolloutOf(file.rollout),
    hooks: hooksOf(file, hosts, gathered.runHere),
    manifests: gathered.manifests,
    kubeadm: {
      init: file.kubeadm.init,
      cluster: withKubeletAuthority(file.kubeadm.cluster, hosts),
      join: file.kubeadm.join,
      kubeProxy: file.kubeadm.kubeProxy,
      reset: file.kubeadm.reset,
      patches: { ...gathered.patches, ...selinuxPatches(file) },
    },
    hosts,
    firewall: file.firewall,
    ignoreChecks: file.ignoreChecks,
    downloads: file.downloads,
    backup: file.backup,
  };
}
