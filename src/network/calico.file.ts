import { hasIpv6 } from '../inventory/addresses.ts';
import type { Calico } from '../inventory/network-plugins.ts';
import type { ManifestEntry } from '../inventory/schema/formats.ts';
import { problem, type Rule, type Violation, warning } from '../inventory/schema/rule.ts';
import type { InventoryFile } from '../inventory/schema/schema.ts';
import type { JsonObject } from '../shell/decode.ts';
import { minorNumber } from '../versions.ts';
import { hasWindows, kubeProxyImage, type PluginFile } from './plugin.file.ts';

const PATH = ['network', 'calico'];
const INSTALLATIONS = 'installations.operator.tigera.io';

/** The first minor whose settings of the operator kbuild writes. */
const OLDEST = 27;

/**
 * SHA-256 of the manifests of a version, by file: of those whose bytes were at hand, out of the module of the commit
 * that their project made the version from.
 */
const MANIFESTS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  '3.28.5': { 'tigera-operator.yaml': '69159fe3450ff0cf8b6db29e2b011a287ed5d8de341e81812c98aae69d3e51b5' },
};

/** Minors of Kubernetes that each minor of Calico is tested with, first and last: its page "System requirements". */
const TESTED: Readonly<Record<number, readonly [number, number]>> = { 31: [32, 35], 32: [34, 36], 33: [35, 37] };

/** The words of the operator for `encapsulation`. */
const ENCAPSULATIONS = {
  vxlan: 'VXLAN',
  'vxlan-cross-subnet': 'VXLANCrossSubnet',
  ipip: 'IPIP',
  'ipip-cross-subnet': 'IPIPCrossSubnet',
  none: 'None',
} as const satisfies Record<string, Calico['encapsulation']>;

const settingsOf = ({ network }: InventoryFile) => network.calico;

/** The routes of these come by BGP alone. */
const needsBgp = (file: InventoryFile): boolean => /^(?:ipip|none)/.test(settingsOf(file).encapsulation);

const hasBgp = (file: InventoryFile): boolean => settingsOf(file).bgp ?? needsBgp(file);

/** The manifests that Calico's project publishes for a version: the CRDs are in a file of their own since 3.30. */
function filesOf(version: string): readonly string[] {
  const minor = minorNumber(version);
  const crds = minor >= 32 ? ['v1_crd_projectcalico_org.yaml'] : minor >= 30 ? ['operator-crds.yaml'] : [];
  return [...crds, 'tigera-operator.yaml'];
}

const urlOf = (version: string, name: string): string =>
  `https://raw.githubusercontent.com/projectcalico/calico/v${version}/manifests/${name}`;

const checksumOf = (file: InventoryFile, version: string, name: string): string | undefined =>
  settingsOf(file).sha256[name] ?? MANIFESTS[version]?.[name];

/** The manifests of the version; or those that the inventory names. */
function entries(file: InventoryFile): readonly ManifestEntry[] {
  const { version, operator } = settingsOf(file);
  if (version === undefined || operator.length > 0) return operator;
  return filesOf(version).map((name) => {
    const source = urlOf(version, name);
    const sha256 = checksumOf(file, version, name);
    return sha256 === undefined ? source : { source, sha256 };
  });
}

/** Manifests are code that runs in the cluster: those of a version are pinned by their hashes. */
function manifestProblems(file: InventoryFile): readonly Violation[] {
  const { version, operator, sha256 } = settingsOf(file);
  if (version === undefined) {
    if (Object.keys(sha256).length > 0)
      return [problem([...PATH, 'sha256'], 'is for manifests of network.calico.version: name that too')];
    return operator.length > 0
      ? []
      : [
          problem(
            [...PATH, 'version'],
            "is required, e.g. 3.33.1; or network.calico.operator: the manifests of Calico's operator and its CRDs",
          ),
        ];
  }
  if (operator.length > 0)
    return [problem([...PATH, 'version'], 'is that of the manifests in network.calico.operator: remove one of both')];
  if (minorNumber(version) < OLDEST)
    return [problem([...PATH, 'version'], `must be 3.${String(OLDEST)}.0 or newer: kbuild knows no older operator`)];
  const names = filesOf(version);
  return [
    ...Object.keys(sha256)
      .filter((name) => !names.includes(name))
      .map((name) =>
        problem([...PATH, 'sha256', name], `is no manifest of Calico ${version}, which has ${names.join(' and ')}`),
      ),
    ...names
      .filter((name) => checksumOf(file, version, name) === undefined)
      .map((name) =>
        problem(
          [...PATH, 'sha256'],
          `must name ${name}: the SHA-256 of ${urlOf(version, name)} (\`curl -fsSL URL | sha256sum\`); kbuild knows ` +
            `those of ${Object.keys(MANIFESTS).join(', ')}`,
        ),
      ),
  ];
}

function untested(file: InventoryFile): readonly Violation[] {
  const { version } = settingsOf(file);
  if (version === undefined) return [];
  const tested = TESTED[minorNumber(version)];
  const minor = minorNumber(file.kubernetes.version);
  if (tested !== undefined && minor >= tested[0] && minor <= tested[1]) return [];
  const known = tested === undefined ? 'versions that kbuild does not know' : `1.${tested.join(' to 1.')}`;
  return [
    warning(
      [...PATH, 'version'],
      `Calico ${version} is tested by its project with Kubernetes ${known}, and this is ${file.kubernetes.version}`,
    ),
  ];
}

/** What the operator, or Calico on Windows hosts, does not take (docs.tigera.io, "Limitations"). */
function routingProblems(file: InventoryFile): readonly Violation[] {
  const { encapsulation, bgp, wireguard } = settingsOf(file);
  const ipip = encapsulation.startsWith('ipip');
  return [
    ...(needsBgp(file) && bgp === false
      ? [problem([...PATH, 'bgp'], `must be true with encapsulation ${encapsulation}: nodes learn routes by it`)]
      : []),
    ...(ipip && hasIpv6(file)
      ? [problem([...PATH, 'encapsulation'], 'ipip carries no IPv6, which network.podSubnet has: use vxlan')]
      : []),
    ...(ipip && file.firewall === 'open'
      ? [
          warning(
            [...PATH, 'encapsulation'],
            'ipip is protocol 4, which `firewall: open` does not open: allow it between the hosts yourself',
          ),
        ]
      : []),
    ...(hasWindows(file) && (encapsulation !== 'vxlan' || hasBgp(file) || wireguard)
      ? [problem(PATH, 'Windows hosts need encapsulation vxlan, without bgp and wireguard')]
      : []),
  ];
}

const rule: Rule = (file) => [
  ...(hasWindows(file)
    ? [warning(['network', 'plugin'], 'calico was never run with kbuild on Windows hosts: try it where it may fail')]
    : []),
  ...manifestProblems(file),
  ...untested(file),
  ...routingProblems(file),
];

const noSettings: Rule = (file) => {
  const { operator, sha256, encapsulation, wireguard, ...others } = settingsOf(file);
  const isSet = operator.length > 0 || Object.keys(sha256).length > 0 || encapsulation !== 'vxlan' || wireguard;
  return isSet || Object.keys(others).length > 0 ? [problem(PATH, 'is only for network.plugin calico')] : [];
};

/** Reads the settings of Calico. */
export const calico: PluginFile<'calico'> = {
  rule,
  otherwise: noSettings,
  manifests: {
    path: (file) => [...PATH, settingsOf(file).version === undefined ? 'operator' : 'version'],
    entries,
    // The API server rejects Calico's objects while this CRD is missing. Since 3.30 Calico's project publishes the CRDs
    // in a separate manifest.
    missing: (operator) => {
      if (operator.length === 0 || operator.some(({ objects }) => objects.length === 0)) return undefined;
      const names = operator.flatMap(({ objects }) => objects).map(({ metadata }) => (metadata as JsonObject)['name']);
      return names.includes(INSTALLATIONS)
        ? undefined
        : `none of these holds the CustomResourceDefinition ${INSTALLATIONS}: name the manifest with the CRDs of ` +
            'this version too';
    },
  },
  settings: (file) => {
    const { imageRepository, encapsulation, wireguard } = settingsOf(file);
    return {
      plugin: 'calico',
      calico: {
        ...(imageRepository === undefined ? {} : { imageRepository }),
        encapsulation: ENCAPSULATIONS[encapsulation],
        bgp: hasBgp(file),
        wireguard,
      },
      windows: hasWindows(file) ? { mode: 'calico', services: false, kubeProxyImage: kubeProxyImage(file) } : undefined,
    };
  },
};
